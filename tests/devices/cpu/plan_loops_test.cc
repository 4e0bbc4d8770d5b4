// Where loops and branches keep their values: how many arrays a run needs beside its inputs and
// outputs, and that the results are those of the definitions, with donated inputs and without.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

#include "tests/devices/cpu/donation_support.h"

namespace millrace::devices::cpu {
namespace {

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

class PlanLoopsTest : public ::testing::TestWithParam<Case> {};

TEST_P(PlanLoopsTest, KeepsItsValuesInAsManyArrays) {
  testing::TestProgram p(text_of(GetParam()));
  EXPECT_EQ(p.plan().temporary_bytes() / kArray, GetParam().arrays) << p.plan().temporary_bytes();
  EXPECT_EQ(p.plan().aliases().size(), GetParam().aliases);
}

TEST_P(PlanLoopsTest, MakesWhatItsOperationsAreDefinedToMake) {
  testing::expect_definition(text_of(GetParam()), {0, 1, 2, 5});
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
    {"OneBranch", 0, 0, kX, "#T", R"(
       %r = "stablehlo.case"(%n) ({
         %s = stablehlo.add %x, %x : #T
         stablehlo.return %s : #T
       }) : (#I) -> #T
       return %r : #T)"},
    {"BranchesThatReturnTheSame", 0, 0, kXY, "#T, #T", R"(
       %r:2 = "stablehlo.case"(%n) ({
         %s = stablehlo.add %x, %y : #T
         stablehlo.return %s, %y : #T, #T
       }, {
         stablehlo.return %x, %y : #T, #T
       }) : (#I) -> (#T, #T)
       return %r#0, %r#1 : #T, #T)"},
    {"BranchesThatReturnOneValueTwice", 0, 0, kXY, "#T, #T", R"(
       %r:2 = "stablehlo.case"(%n) ({
         %s = stablehlo.add %x, %y : #T
         stablehlo.return %s, %s : #T, #T
       }, {
         %c = stablehlo.constant dense<3> : #T
         stablehlo.return %c, %x : #T, #T
       }) : (#I) -> (#T, #T)
       return %r#0, %r#1 : #T, #T)"},
    {"BranchesOfDonated", 0, 1, kDonated, "#T", R"(
       %u = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %r = "stablehlo.case"(%n) ({
         %s = stablehlo.add %x, %x : #T
         stablehlo.return %s : #T
       }, {
         %s = stablehlo.dynamic_update_slice %x, %u, %n : (#T, tensor<2xi32>, #I) -> #T
         stablehlo.return %s : #T
       }, {
         stablehlo.return %x : #T
       }) : (#I) -> #T
       return %r : #T)"},
    {"IfOfDonated", 0, 1, kDonated, "#T", R"(
       %u = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %p = stablehlo.compare GT, %n, %one : (#I, #I) -> tensor<i1>
       %r = "stablehlo.if"(%p) ({
         %s = stablehlo.dynamic_update_slice %x, %u, %n : (#T, tensor<2xi32>, #I) -> #T
         stablehlo.return %s : #T
       }, {
         stablehlo.return %x : #T
       }) : (tensor<i1>) -> #T
       return %r : #T)"},
    {"BranchesOfDonatedReadAfterwards", 0, 0, kDonated, "#T, #T", R"(
       %r = "stablehlo.case"(%n) ({
         %s = stablehlo.add %x, %x : #T
         stablehlo.return %s : #T
       }, {
         stablehlo.return %x : #T
       }) : (#I) -> #T
       %t = stablehlo.multiply %r, %x : #T
       return %r, %t : #T, #T)"},
    // One branch can only read what is donated once the other result is there.
    {"BranchesOfDonatedReadLate", 0, 0, "%x: #T {tf.aliasing_output = 0 : i32}, %y: #T", "#T, #T",
     R"(
       %r:2 = "stablehlo.case"(%n) ({
         %s = stablehlo.add %y, %y : #T
         stablehlo.return %s, %x : #T, #T
       }, {
         stablehlo.return %x, %y : #T, #T
       }) : (#I) -> (#T, #T)
       return %r#0, %r#1 : #T, #T)"},
    // In place in one branch, not so in the other, at whose times nothing else is told apart.
    {"BranchesOfDonatedReadBackwards", 0, 0, kDonated, "#T", R"(
       %r = "stablehlo.case"(%n) ({
         %s = stablehlo.add %x, %x : #T
         stablehlo.return %s : #T
       }, {
         %b = stablehlo.reverse %x, dims = [0] : #T
         %s = stablehlo.subtract %b, %x : #T
         stablehlo.return %s : #T
       }) : (#I) -> #T
       return %r : #T)"},
    {"OperandMadeForBranches", 0, 0, kX, "#T", R"(
       %c = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %u = stablehlo.multiply %x, %x : #T
       %r = "stablehlo.case"(%n) ({
         %s = stablehlo.dynamic_update_slice %u, %c, %n : (#T, tensor<2xi32>, #I) -> #T
         stablehlo.return %s : #T
       }, {
         stablehlo.return %u : #T
       }) : (#I) -> #T
       return %r : #T)"},
    {"OperandMadeForBranchesAndResultRead", 1, 0, kX, "#T", R"(
       %c = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %u = stablehlo.multiply %x, %x : #T
       %r = "stablehlo.case"(%n) ({
         %s = stablehlo.dynamic_update_slice %u, %c, %n : (#T, tensor<2xi32>, #I) -> #T
         %t = stablehlo.negate %s : #T
         stablehlo.return %t : #T
       }, {
         stablehlo.return %u : #T
       }) : (#I) -> #T
       %t = stablehlo.reverse %r, dims = [0] : #T
       return %t : #T)"},
    {"OperandOfBranchesReadAfterwards", 1, 0, kX, "#T, #T", R"(
       %c = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %u = stablehlo.multiply %x, %x : #T
       %r = "stablehlo.case"(%n) ({
         %s = stablehlo.dynamic_update_slice %u, %c, %n : (#T, tensor<2xi32>, #I) -> #T
         stablehlo.return %s : #T
       }, {
         stablehlo.return %u : #T
       }) : (#I) -> #T
       %t = stablehlo.multiply %r, %u : #T
       return %r, %t : #T, #T)"},
    // The first branch reads the operand once more after it has made the other result.
    {"OperandOfBranchesReadTwice", 1, 0, kX, "#T, #T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %r:2 = "stablehlo.case"(%n) ({
         %s = stablehlo.add %u, %x : #T
         %b = stablehlo.reverse %u, dims = [0] : #T
         stablehlo.return %s, %b : #T, #T
       }, {
         stablehlo.return %u, %x : #T, #T
       }) : (#I) -> (#T, #T)
       return %r#0, %r#1 : #T, #T)"},
    {"OperandOfBranchesAndAPieceOfIt", 1, 0, kX, "#T, tensor<8xi32>", R"(
       %u = stablehlo.multiply %x, %x : #T
       %p = stablehlo.slice %u [16:24] : (#T) -> tensor<8xi32>
       %r:2 = "stablehlo.case"(%n) ({
         %s = stablehlo.add %u, %u : #T
         stablehlo.return %s, %p : #T, tensor<8xi32>
       }, {
         %t = stablehlo.negate %p : tensor<8xi32>
         stablehlo.return %u, %t : #T, tensor<8xi32>
       }) : (#I) -> (#T, tensor<8xi32>)
       return %r#0, %r#1 : #T, tensor<8xi32>)"},
    {"BranchesSwap", 2, 0, kXY, "#T, #T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %v = stablehlo.multiply %x, %y : #T
       %r:2 = "stablehlo.case"(%n) ({
         stablehlo.return %u, %v : #T, #T
       }, {
         stablehlo.return %v, %u : #T, #T
       }) : (#I) -> (#T, #T)
       return %r#0, %r#1 : #T, #T)"},
    {"BranchesInALoop", 0, 1, kDonated, "#T", R"(
       %u = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %q = "stablehlo.case"(%less) ({
           %s = stablehlo.add %a, %a : #T
           stablehlo.return %s : #T
         }, {
           %s = stablehlo.dynamic_update_slice %a, %u, %i : (#T, tensor<2xi32>, #I) -> #T
           stablehlo.return %s : #T
         }, {
           stablehlo.return %a : #T
         }) : (#I) -> #T
         stablehlo.return %less, %q : #I, #T }
       return %r#1 : #T)"},
    // What was made before the loop is read in each round.
    {"BranchesInALoopOfWhatIsOutside", 2, 0, kX, "#T", R"(
       %c = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %u = stablehlo.multiply %x, %x : #T
       %r:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
         %q = "stablehlo.case"(%less) ({
           %s = stablehlo.dynamic_update_slice %u, %c, %i : (#T, tensor<2xi32>, #I) -> #T
           stablehlo.return %s : #T
         }, {
           stablehlo.return %u : #T
         }) : (#I) -> #T
         %t = stablehlo.add %q, %a : #T
         stablehlo.return %less, %t : #I, #T }
       return %r#1 : #T)"},
    {"LoopInABranch", 0, 1, kDonated, "#T", R"(
       %r = "stablehlo.case"(%n) ({
         stablehlo.return %x : #T
       }, {
         %q:2 = stablehlo.while(%i = %n, %a = %x) : #I, #T UNTIL
           %s = stablehlo.add %a, %a : #T
           stablehlo.return %less, %s : #I, #T }
         stablehlo.return %q#1 : #T
       }) : (#I) -> #T
       return %r : #T)"},
    {"BranchesInABranch", 0, 1, kDonated, "#T", R"(
       %u = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
       %m = stablehlo.subtract %n, %one : #I
       %r = "stablehlo.case"(%n) ({
         stablehlo.return %x : #T
       }, {
         %s = stablehlo.multiply %x, %x : #T
         %q = "stablehlo.case"(%m) ({
           %t = stablehlo.dynamic_update_slice %s, %u, %n : (#T, tensor<2xi32>, #I) -> #T
           stablehlo.return %t : #T
         }, {
           %t = stablehlo.add %s, %s : #T
           stablehlo.return %t : #T
         }) : (#I) -> #T
         stablehlo.return %q : #T
       }, {
         %q = "stablehlo.case"(%m) ({
           stablehlo.return %x : #T
         }, {
           %t = stablehlo.add %x, %x : #T
           stablehlo.return %t : #T
         }) : (#I) -> #T
         stablehlo.return %q : #T
       }) : (#I) -> #T
       return %r : #T)"},
    // The loop reads one array whole and a piece of it: no output may be made over it.
    {"APieceOfWhatIsReadBeside", 2, 0, kX, "#T", R"(
       %u = stablehlo.multiply %x, %x : #T
       %w = stablehlo.reshape %u : (#T) -> tensor<16x8x8xi32>
       %p = stablehlo.slice %u [64:128] : (#T) -> tensor<64xi32>
       %q = stablehlo.reshape %p : (tensor<64xi32>) -> tensor<8x8xi32>
       %b = stablehlo.broadcast_in_dim %q, dims = [1, 2] : (tensor<8x8xi32>) -> tensor<16x8x8xi32>
       %s = stablehlo.add %w, %b : tensor<16x8x8xi32>
       %v = stablehlo.reshape %s : (tensor<16x8x8xi32>) -> #T
       %t = stablehlo.reverse %v, dims = [0] : #T
       return %t : #T)"},
};

INSTANTIATE_TEST_SUITE_P(Programs, PlanLoopsTest, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace millrace::devices::cpu
