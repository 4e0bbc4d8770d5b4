// Random nests of branches and loops over arrays that are updated, read backwards, in pieces and
// once more: the planner makes values over others that die, and donated inputs into outputs, and
// the results must be those of the definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/devices/cpu/donation_support.h"

namespace millrace::devices::cpu {
namespace {

using Names = std::vector<std::string>;

class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {}

  std::string program() {
    const Names values = block({"%x", "%y"}, 3, 2 + below(4));
    const std::string results = pick(values) + ", " + pick(values);
    return "func.func @main(%n: tensor<i32>, %x: #T {tf.aliasing_output = 0 : i32}, %y: #T "
           "{tf.aliasing_output = 1 : i32}) -> (#T, #T) {\n"
           "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
           "%one = stablehlo.constant dense<1> : tensor<i32>\n"
           "%two = stablehlo.constant dense<2> : tensor<i32>\n" +
           text_ + "return " + results + " : #T, #T\n}\n";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  // The last ones more often.
  const std::string& pick(const Names& from) {
    const auto size = static_cast<int>(from.size());
    const int back = std::min(below(size), below(size));
    return from[static_cast<std::size_t>(size - 1 - back)];
  }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  std::string picks(const Names& from, int count, std::string* types) {
    std::string list;
    types->clear();
    for (int i = 0; i < count; ++i) {
      list += (i == 0 ? "" : ", ") + pick(from);
      *types += i == 0 ? "#T" : ", #T";
    }
    return list;
  }

  // Adds operations on the values; gives all that there are then.
  Names block(Names values, int depth, int operations) {
    for (int i = 0; i < operations; ++i) {
      const int kind = below(depth > 0 ? 10 : 6);
      if (kind >= 8) {
        loop(values, depth - 1);
      } else if (kind >= 6) {
        branches(values, depth - 1);
      } else {
        operation(values, kind);
      }
    }
    return values;
  }

  void operation(Names& values, int kind) {
    const std::string a = pick(values), b = pick(values), made = fresh();
    if (kind == 0) {
      text_ += made + " = stablehlo.reverse " + a + ", dims = [0] : #T\n";
    } else if (kind <= 2) {
      const std::string piece = fresh();
      text_ += piece + " = stablehlo.slice " + b + " [8:16] : (#T) -> tensor<8xi32>\n" + made +
               " = stablehlo.dynamic_update_slice " + a + ", " + piece +
               ", %n : (#T, tensor<8xi32>, tensor<i32>) -> #T\n";
    } else {
      const char* const names[] = {"add", "subtract", "multiply"};
      text_ += made + " = stablehlo." + names[kind - 3] + " " + a + ", " + b + " : #T\n";
    }
    values.push_back(made);
  }

  void branches(Names& values, int depth) {
    const int results = 1 + below(2), count = 1 + below(3);
    const std::string made = fresh();
    text_ += made + ":" + std::to_string(results) + " = \"stablehlo.case\"(%n) (";
    std::string types;
    for (int i = 0; i < count; ++i) {
      text_ += i == 0 ? "{\n" : ", {\n";
      const Names inner = block(values, depth, below(4));
      const std::string list = picks(inner, results, &types);
      text_ += "stablehlo.return " + list + " : " + types + "\n}";
    }
    text_ += ") : (tensor<i32>) -> (" + types + ")\n";
    add_results(values, made, 0, results);
  }

  void loop(Names& values, int depth) {
    const int carried = 1 + below(2);
    const std::string made = fresh(), counter = fresh(), go = fresh(), less = fresh();
    Names inner = values;
    std::string head = counter + " = %two", types;
    for (int i = 0; i < carried; ++i) {
      inner.push_back(fresh());
      head += ", " + inner.back() + " = " + pick(values);
    }
    const std::string before = std::exchange(text_, "");
    const Names all = block(inner, depth, 1 + below(3));
    const std::string list = picks(all, carried, &types);
    text_ = before + made + ":" + std::to_string(carried + 1) + " = stablehlo.while(" + head +
            ") : tensor<i32>, " + types + " cond {\n" + go + " = stablehlo.compare GT, " + counter +
            ", %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return " + go +
            " : tensor<i1>\n} do {\n" + text_ + less + " = stablehlo.subtract " + counter +
            ", %one : tensor<i32>\nstablehlo.return " + less + ", " + list + " : tensor<i32>, " +
            types + "\n}\n";
    add_results(values, made, 1, carried);
  }

  void add_results(Names& values, const std::string& made, int first, int count) {
    for (int i = first; i < first + count; ++i) values.push_back(made + "#" + std::to_string(i));
  }

  std::mt19937 random_;
  std::string text_;
  int next_ = 0;
};

std::string with_types(std::string text) {
  for (std::size_t at = text.find("#T"); at != text.npos; at = text.find("#T", at))
    text.replace(at, 2, "tensor<64xi32>");
  return text;
}

TEST(PlanControlRandom, BranchesAndLoopsMakeWhatTheyAreDefinedToMake) {
  std::size_t aliases = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string text = with_types(Maker(seed).program());
    testing::expect_definition(text, {0, 1, 2});
    if (HasFatalFailure()) return;
    aliases += testing::TestProgram(text).plan().aliases().size();
  }
  EXPECT_GT(aliases, 100U);
}

}  // namespace
}  // namespace millrace::devices::cpu
