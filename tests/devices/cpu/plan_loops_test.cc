// Where loops and branches keep their values: how many arrays a run needs beside its inputs and
// outputs, and that the results are those of the definitions, with donated inputs and without.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/devices/cpu/run_support.h"
#include "tests/support/interpreter.h"

namespace millrace::devices::cpu {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::TestProgram;

constexpr std::size_t kArray = 4096;  // bytes of a T below; scalars are less than one in all

// Text with #T for the type of an array, #I for that of a number, and UNTIL (in a loop's body
// UNTIL2) for what loops that count down to zero have between their types and their bodies.
struct Case {
  const char* name;
  std::size_t arrays;   // in the arena
  std::size_t aliases;  // inputs that become outputs
  const char* arguments;
  const char* results;
  const char* body;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string text_of(const Case& c) {
  const std::string text = std::string("func.func @main(%n: #I, ") + c.arguments + ") -> (" +
                           c.results + R"() {
    %zero = stablehlo.constant dense<0> : #I
    %one = stablehlo.constant dense<1> : #I
    )" + c.body + "\n}";
  const std::string until = R"(
    cond {
      %go = stablehlo.compare GT, %i, %zero : (#I, #I) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %less = stablehlo.subtract %i, %one : #I
)";
  const std::string inner =
      replace_all(replace_all(replace_all(until, "%i,", "%j,"), "%less", "%lower"), "%go", "%on");
  return replace_all(replace_all(replace_all(replace_all(text, "UNTIL2", inner), "UNTIL", until),
                                 "#T", "tensor<1024xi32>"),
                     "#I", "tensor<i32>");
}

class PlanLoopsTest : public ::testing::TestWithParam<Case> {
 protected:
  // Of the program, with n rounds.
  std::vector<Bytes> inputs(const TestProgram& p, std::int32_t n) const {
    std::vector<Bytes> list = {bytes_of<std::int32_t>({n})};
    for (std::size_t i = 1; i < p.plan().inputs().size(); ++i) {
      std::vector<std::int32_t> v(1024);
      for (std::size_t k = 0; k < v.size(); ++k)
        v[k] = static_cast<std::int32_t>((k * 31 + i * 7) % 101);
      list.push_back(bytes_of(v));
    }
    return list;
  }
};

TEST_P(PlanLoopsTest, KeepsItsValuesInAsManyArrays) {
  TestProgram p(text_of(GetParam()));
  EXPECT_EQ(p.plan().arena_bytes() / kArray, GetParam().arrays) << p.plan().arena_bytes();
  EXPECT_EQ(p.plan().aliases().size(), GetParam().aliases);
}

TEST_P(PlanLoopsTest, MakesWhatItsOperationsAreDefinedToMake) {
  const std::string text = text_of(GetParam());
  TestProgram p(text);
  const auto module = read::read_text(text);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  for (const std::int32_t n : {0, 1, 2, 5}) {
    const std::vector<Bytes> given = inputs(p, n);
    std::vector<testing::Array> arrays;
    for (std::size_t i = 0; i < given.size(); ++i)
      arrays.push_back({p.plan().inputs()[i], given[i]});
    const auto want = testing::interpret(*module, module->functions().front(), std::move(arrays));
    ASSERT_TRUE(want.has_value()) << want.error().to_string();
    for (const bool donate : {false, true}) {
      std::vector<Bytes> in = given, out;
      std::vector<const void*> from;
      std::vector<void*> to;
      std::vector<bool> overwritten(in.size(), false);
      for (const Shape& s : p.plan().outputs()) out.emplace_back(s.size_bytes());
      for (const Bytes& b : in) from.push_back(b.data());
      for (Bytes& b : out) to.push_back(b.data());
      for (const PlanAlias& a : p.plan().aliases()) {
        if (!donate) break;
        to[static_cast<std::size_t>(a.output)] = in[static_cast<std::size_t>(a.input)].data();
        overwritten[static_cast<std::size_t>(a.input)] = true;
      }
      const auto serial = make_serial_parallel();
      const Status status = run(p.plan(), p.context(), from, to, *serial, [](int) {}, {});
      ASSERT_TRUE(status.has_value()) << status.error().to_string();
      for (std::size_t o = 0; o < to.size(); ++o) {
        EXPECT_EQ(std::memcmp(to[o], (*want)[o].bytes.data(), (*want)[o].bytes.size()), 0)
            << "output " << o << " after " << n << (donate ? ", donated" : "");
      }
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (overwritten[i]) continue;
        EXPECT_EQ(in[i], given[i]) << "input " << i << " was written";
      }
    }
  }
}

constexpr char kX[] = "%x: #T", kXY[] = "%x: #T, %y: #T";
constexpr char kDonated[] = "%x: #T {tf.aliasing_output = 0 : i32}";

const Case kCases[] = {
    {"Donated", 0, 1, kDonated, "#T", R"(
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         stablehlo.return %less, %s : #I, #T }
       return %r#1 : #T)"},
    {"NotDonated", 0, 0, kX, "#T", R"(
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         stablehlo.return %less, %s : #I, #T }
       return %r#1 : #T)"},
    {"DonatedAndUpdated", 0, 1, kDonated, "#T", R"(
       %u = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %s = stablehlo.dynamic_update_slice %a, %u, %i : (#T, tensor<2xi32>, #I) -> #T
         stablehlo.return %less, %s : #I, #T }
       return %r#1 : #T)"},
    // The bodies read the input itself: it must stay.
    {"DonatedAndReadInside", 0, 0, kDonated, "#T", R"(
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         %t = stablehlo.add %s, %x : #T
         stablehlo.return %less, %t : #I, #T }
       return %r#1 : #T)"},
    {"DonatedAndReadAfterwards", 0, 0, kDonated, "#T, #T", R"(
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         stablehlo.return %less, %s : #I, #T }
       %t = stablehlo.multiply %r#1, %x : #T
       return %r#1, %t : #T, #T)"},
    {"DonatedTheOtherWayRound", 0, 0,
     "%x: #T {tf.aliasing_output = 1 : i32}, %y: #T {tf.aliasing_output = 0 : i32}", "#T, #T", R"(
       %r:3 = stablehlo.while(%i = %n, %a = %x, %b = %y) : #I, #T, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         %t = stablehlo.multiply %b, %b : #T
         stablehlo.return %less, %s, %t : #I, #T, #T }
       return %r#1, %r#2 : #T, #T)"},
    {"DonatedTwice", 0, 1, kDonated, "#T, #T", R"(
       %r:3 = stablehlo.while(%i = %n, %a = %x, %b = %x) : #I, #T, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         %t = stablehlo.multiply %b, %b : #T
         stablehlo.return %less, %s, %t : #I, #T, #T }
       return %r#1, %r#2 : #T, #T)"},
    {"Unchanged", 0, 0, kXY, "#T", R"(
       %r:3 = stablehlo.while(%i = %n, %w = %x, %a = %y) : #I, #T, #T UNTIL
         %s = stablehlo.add %a, %w : #T
         stablehlo.return %less, %w, %s : #I, #T, #T }
       return %r#2 : #T)"},
    {"UnchangedAndReturned", 0, 0, kXY, "#T, #T", R"(
       %r:3 = stablehlo.while(%i = %n, %w = %x, %a = %y) : #I, #T, #T UNTIL
         %s = stablehlo.add %a, %w : #T
         stablehlo.return %less, %w, %s : #I, #T, #T }
       return %r#2, %r#1 : #T, #T)"},
    {"UnchangedOnceItsNeighbourIs", 0, 0, kXY, "#T, #T", R"(
       %r:4 = stablehlo.while(%i = %n, %v = %x, %w = %x, %a = %y) : #I, #T, #T, #T UNTIL
         %s = stablehlo.add %a, %w : #T
         stablehlo.return %less, %v, %v, %s : #I, #T, #T, #T }
       return %r#3, %r#2 : #T, #T)"},
    {"Swap", 2, 0, kXY, "#T, #T", R"(
       %r:3 = stablehlo.while(%i = %n, %a = %x, %b = %y) : #I, #T, #T UNTIL
         stablehlo.return %less, %b, %a : #I, #T, #T }
       return %r#1, %r#2 : #T, #T)"},
    {"SwapOfOne", 2, 0, kX, "#T, #T", R"(
       %r:3 = stablehlo.while(%i = %n, %a = %x, %b = %x) : #I, #T, #T UNTIL
         %s = stablehlo.add %a, %x : #T
         stablehlo.return %less, %b, %s : #I, #T, #T }
       return %r#1, %r#2 : #T, #T)"},
    {"OperandMadeForIt", 0, 0, kX, "#T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %r:2 = stablehlo.while(%i = %n, %a = %u) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         stablehlo.return %less, %s : #I, #T }
       return %r#1 : #T)"},
    {"OperandMadeForItAndResultRead", 1, 0, kX, "#T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %r:2 = stablehlo.while(%i = %n, %a = %u) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         stablehlo.return %less, %s : #I, #T }
       %t = stablehlo.reverse %r#1, dims = [0] : #T
       return %t : #T)"},
    {"OperandForTwo", 0, 0, kX, "#T, #T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %r:3 = stablehlo.while(%i = %n, %a = %u, %b = %u) : #I, #T, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         %t = stablehlo.multiply %b, %b : #T
         stablehlo.return %less, %s, %t : #I, #T, #T }
       return %r#1, %r#2 : #T, #T)"},
    {"OperandReadAfterwards", 1, 0, kX, "#T, #T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %r:2 = stablehlo.while(%i = %n, %a = %u) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         stablehlo.return %less, %s : #I, #T }
       %t = stablehlo.multiply %r#1, %u : #T
       return %r#1, %t : #T, #T)"},
    {"OperandReadInside", 1, 0, kX, "#T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %r:2 = stablehlo.while(%i = %n, %a = %u) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         %t = stablehlo.add %s, %u : #T
         stablehlo.return %less, %t : #I, #T }
       return %r#1 : #T)"},
    {"OperandAndAPieceOfIt", 0, 0, kX, "#T, tensor<8xi32>", R"(
       %u = stablehlo.multiply %x, %x : #T
       %p = stablehlo.slice %u [16:24] : (#T) -> tensor<8xi32>
       %r:3 = stablehlo.while(%i = %n, %a = %u, %b = %p) : #I, #T, tensor<8xi32> UNTIL
         %s = stablehlo.add %a, %a : #T
         %t = stablehlo.negate %b : tensor<8xi32>
         stablehlo.return %less, %s, %t : #I, #T, tensor<8xi32> }
       return %r#1, %r#2 : #T, tensor<8xi32>)"},
    {"OperandReadInsideThroughViews", 2, 0, kX, "#T, tensor<32x1xi32>", R"(
       %u = stablehlo.multiply %x, %x : #T
       %m = stablehlo.reshape %u : (#T) -> tensor<32x32xi32>
       %v = stablehlo.transpose %m, dims = [1, 0] : (tensor<32x32xi32>) -> tensor<32x32xi32>
       %e = stablehlo.constant dense<0> : tensor<32x1xi32>
       %r:3 = stablehlo.while(%i = %n, %a = %u, %b = %e) : #I, #T, tensor<32x1xi32> UNTIL
         %s = stablehlo.add %a, %a : #T
         %w = stablehlo.slice %v [0:32, 3:4] : (tensor<32x32xi32>) -> tensor<32x1xi32>
         %t = stablehlo.add %b, %w : tensor<32x1xi32>
         stablehlo.return %less, %s, %t : #I, #T, tensor<32x1xi32> }
       return %r#1, %r#2 : #T, tensor<32x1xi32>)"},
    {"LoopAfterLoop", 0, 0, kX, "#T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %r:2 = stablehlo.while(%i = %n, %a = %u) : #I, #T UNTIL
         %s = stablehlo.add %a, %a : #T
         stablehlo.return %less, %s : #I, #T }
       %q:2 = stablehlo.while(%i = %n, %a = %r#1) : #I, #T UNTIL
         %s = stablehlo.negate %a : #T
         stablehlo.return %less, %s : #I, #T }
       return %q#1 : #T)"},
    {"Constant", 0, 0, kX, "#T", R"(
       %u = stablehlo.constant dense<3> : #T
       %r:2 = stablehlo.while(%i = %n, %a = %u) : #I, #T UNTIL
         %s = stablehlo.add %a, %x : #T
         stablehlo.return %less, %s : #I, #T }
       return %r#1 : #T)"},
    {"Nested", 0, 1, kDonated, "#T", R"(
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %q:2 = stablehlo.while(%j = %n, %b = %a) : #I, #T UNTIL2
           %s = stablehlo.add %b, %b : #T
           stablehlo.return %lower, %s : #I, #T }
         %t = stablehlo.negate %q#1 : #T
         stablehlo.return %less, %t : #I, #T }
       return %r#1 : #T)"},
    {"NestedAndReadAfterwards", 1, 1, kDonated, "#T", R"(
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %q:2 = stablehlo.while(%j = %n, %b = %a) : #I, #T UNTIL2
           %s = stablehlo.add %b, %b : #T
           stablehlo.return %lower, %s : #I, #T }
         %t = stablehlo.add %q#1, %a : #T
         stablehlo.return %less, %t : #I, #T }
       return %r#1 : #T)"},
    {"OneBranch", 2, 0, kX, "#T", R"(
       %r = "stablehlo.case"(%n) ({
         %s = stablehlo.add %x, %x : #T
         stablehlo.return %s : #T
       }) : (#I) -> #T
       return %r : #T)"},
    {"BranchesThatReturnTheSame", 2, 0, kXY, "#T, #T", R"(
       %r:2 = "stablehlo.case"(%n) ({
         %s = stablehlo.add %x, %y : #T
         stablehlo.return %s, %y : #T, #T
       }, {
         stablehlo.return %x, %y : #T, #T
       }) : (#I) -> (#T, #T)
       return %r#0, %r#1 : #T, #T)"},
};

INSTANTIATE_TEST_SUITE_P(Programs, PlanLoopsTest, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace millrace::devices::cpu
