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
  Maker(std::uint32_t seed, bool square) : random_(seed), square_(square) {}

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
    if (square_ && kind == 0) {
      const std::string first = fresh();
      view(a, first);
      view(first, made);
    } else if (kind == 0) {
      text_ += made + " = stablehlo.reverse " + a + ", dims = [0] : #T\n";
    } else if (square_ && kind == 1) {
      // Read by what has more elements, which a view may have to be dense for.
      const std::string wide = fresh(), sum = fresh(), half = fresh();
      // A piece that only the run knows, so that the whole sum is made.
      text_ += wide + " = stablehlo.broadcast_in_dim " + b + ", dims = [1, 2] : (#T) -> #W\n" +
               sum + " = stablehlo.add " + wide + ", " + wide + " : #W\n" + half +
               " = stablehlo.dynamic_slice " + sum +
               ", %n, %zero, %zero, sizes = [1, 48, 48] : (#W, tensor<i32>, tensor<i32>, "
               "tensor<i32>) -> tensor<1x48x48xi32>\n" +
               made + " = stablehlo.reshape " + half + " : (tensor<1x48x48xi32>) -> #T\n";
    } else if (square_ && kind == 2) {
      const std::string piece = fresh();
      text_ += piece + " = stablehlo.slice " + b + " [1:3, 0:48] : (#T) -> tensor<2x48xi32>\n" +
               made + " = stablehlo.dynamic_update_slice " + a + ", " + piece +
               ", %n, %zero : (#T, tensor<2x48xi32>, tensor<i32>, tensor<i32>) -> #T\n";
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

  void view(const std::string& a, const std::string& made) {
    const char* const views[] = {"transpose", "reverse", "transpose"};
    const int which = below(3);
    text_ += made + " = stablehlo." + views[which] + " " + a +
             (which == 1 ? ", dims = [0] : #T\n" : ", dims = [1, 0] : (#T) -> #T\n");
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
  const bool square_;  // #T has two dimensions; of #W alone a loop is so long that views are copied
  std::string text_;
  int next_ = 0;
};

std::string with_type(std::string text, const std::string& name, const std::string& type) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at))
    text.replace(at, name.size(), type);
  return text;
}

std::size_t expect_definitions(std::uint32_t seeds, bool square) {
  std::size_t aliases = 0;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string text =
        with_type(with_type(Maker(seed, square).program(), "#W", "tensor<2x48x48xi32>"), "#T",
                  square ? "tensor<48x48xi32>" : "tensor<64xi32>");
    testing::expect_definition(text, {0, 1, 2});
    if (::testing::Test::HasFatalFailure()) return 0;
    aliases += testing::TestProgram(text).plan().aliases().size();
  }
  return aliases;
}

TEST(PlanControlRandom, BranchesAndLoopsMakeWhatTheyAreDefinedToMake) {
  EXPECT_GT(expect_definitions(400, false), 100U);
}

TEST(PlanControlRandom, ViewsAreReadFromBranchesAndLoopsAsTheyAreDefined) {
  EXPECT_GT(expect_definitions(60, true), 10U);
}

// A view between what a branch captures and what it is a view of is made dense by a long loop: by
// each branch for itself, and before anything else may overwrite it.
TEST(PlanControlViews, BranchMakesItsOwnDenseView) {
  const std::string wide = "tensor<4x32x64xi32>";
  const auto branch = [&](const char* op) {
    return "%w = stablehlo.broadcast_in_dim %v, dims = [1, 2] : (tensor<32x64xi32>) -> " + wide +
           "\n%x = stablehlo." + op + " %w, %w : " + wide + "\nstablehlo.return %x : " + wide +
           "\n";
  };
  const std::string views =
      "%t = stablehlo.transpose %u, dims = [1, 0] : (tensor<64x32xi32>) -> tensor<32x64xi32>\n"
      "%v = stablehlo.reverse %t, dims = [0] : tensor<32x64xi32>\n";
  testing::expect_definition(
      "func.func @main(%n: tensor<i32>, %u: tensor<64x32xi32>) -> " + wide + " {\n" + views +
          "%r = \"stablehlo.case\"(%n) ({\n" + branch("add") + "}, {\n" + branch("multiply") +
          "}) : (tensor<i32>) -> " + wide + "\nreturn %r : " + wide + "\n}\n",
      {0, 1});
  testing::expect_definition(
      "func.func @main(%n: tensor<i32>, %u: tensor<64x32xi32>) -> (tensor<32x64xi32>, " + wide +
          ") {\n%zero = stablehlo.constant dense<0> : tensor<i32>\n"
          "%p = stablehlo.constant dense<7> : tensor<2x64xi32>\n" +
          views +
          "%d = stablehlo.dynamic_update_slice %t, %p, %n, %zero : (tensor<32x64xi32>, "
          "tensor<2x64xi32>, tensor<i32>, tensor<i32>) -> tensor<32x64xi32>\n"
          "%r = \"stablehlo.case\"(%n) ({\n" +
          branch("add") + "}) : (tensor<i32>) -> " + wide +
          "\nreturn %d, %r : tensor<32x64xi32>, " + wide + "\n}\n",
      {0, 5});
}

}  // namespace
}  // namespace millrace::devices::cpu
