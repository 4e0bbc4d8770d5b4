// The rules of operations, as Shardy writes them: ([i, k], [k, j])->([i, j]) {i=8, j=4, k=2}.
#include "millrace/devices/stablehlo/propagate/op_rules.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/text/read_text.h"

namespace millrace::devices::stablehlo::propagate {
namespace {

using ::testing::HasSubstr;

std::string letter(int factor) {
  return factor <= 'z' - 'i' ? std::string(1, static_cast<char>('i' + factor))
                             : "z_" + std::to_string(factor - ('z' - 'i'));
}

std::string text_of(const std::vector<TensorFactors>& tensors) {
  std::string out = "(";
  for (const TensorFactors& tensor : tensors) {
    out += out.size() > 1 ? ", [" : "[";
    for (std::size_t d = 0; d < tensor.size(); ++d) {
      if (d != 0) out += ", ";
      for (const int factor : tensor[d]) out += letter(factor);
    }
    out += "]";
  }
  return out + ")";
}

// Factors that do not pass have a '-' behind their size, blocked ones a '!'.
std::string text_of(const Rule& rule) {
  std::string out = text_of(rule.operands) + "->" + text_of(rule.results) + " {";
  for (std::size_t f = 0; f < rule.factors.size(); ++f) {
    const FactorKind& kind = rule.factors[f];
    out += (f != 0 ? ", " : "") + letter(static_cast<int>(f)) + "=" + std::to_string(kind.size) +
           (kind.passes ? "" : "-") + (kind.blocked ? "!" : "");
  }
  return out + "}";
}

// The rule of the one operation in the text.
std::string rule_in(const std::string& arguments, const std::string& op) {
  const auto module =
      text::read_text("func.func @main(" + arguments + ") {\n" + op + "\n return\n}");
  if (!module) return "not read: " + module.error().message();
  const auto rule = rule_of(*module->find("main")->body().block().front());
  if (!rule) return rule.error().message();
  return *rule ? text_of(**rule) : "none";
}

struct Case {
  const char* name;
  const char* arguments;
  const char* op;
  const char* rule;
};

class OpRules : public ::testing::TestWithParam<Case> {};

TEST_P(OpRules, TieTheDimensionsThatGoTogether) {
  EXPECT_EQ(rule_in(GetParam().arguments, GetParam().op), GetParam().rule);
}

const Case kCases[] = {
    {"Add", "%a: tensor<4x6xf32>", "%0 = stablehlo.add %a, %a : tensor<4x6xf32>",
     "([i, j], [i, j])->([i, j]) {i=4, j=6}"},
    {"SelectByAScalar", "%p: tensor<i1>, %a: tensor<4xf32>",
     "%0 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<4xf32>", "([], [i], [i])->([i]) {i=4}"},
    {"DotGeneral", "%a: tensor<2x4x8xf32>, %b: tensor<2x8x6xf32>",
     "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
     "(tensor<2x4x8xf32>, tensor<2x8x6xf32>) -> tensor<2x4x6xf32>",
     "([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=4, k=6, l=8-}"},
    {"DotOfVectors", "%a: tensor<8xf32>",
     "%0 = stablehlo.dot %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>",
     "([i], [i])->([]) {i=8-}"},
    {"Broadcast", "%a: tensor<4x1xf32>",
     "%0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<4x1xf32>) -> tensor<3x4x5xf32>",
     "([j, k])->([i, j, l]) {i=3, j=4, k=1, l=5}"},
    {"Transpose", "%a: tensor<4x6xf32>",
     "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>",
     "([j, i])->([i, j]) {i=6, j=4}"},
    {"ReshapeThatSplits", "%a: tensor<8x3xf32>",
     "%0 = stablehlo.reshape %a : (tensor<8x3xf32>) -> tensor<2x4x3xf32>",
     "([ij, k])->([i, j, k]) {i=2, j=4, k=3}"},
    {"ReshapeThatMerges", "%a: tensor<2x4x1x3xf32>",
     "%0 = stablehlo.reshape %a : (tensor<2x4x1x3xf32>) -> tensor<24xf32>",
     "([i, j, k, l])->([ijl]) {i=2, j=4, k=1, l=3}"},
    {"ReshapeThatDoesNotMeet", "%a: tensor<6x10xf32>",
     "%0 = stablehlo.reshape %a : (tensor<6x10xf32>) -> tensor<10x6xf32>",
     "([ij, ln])->([ik, mn]) {i=2, j=3, k=5, l=5, m=3, n=2}"},
    {"ReshapeOfNothing", "%a: tensor<0x3xf32>",
     "%0 = stablehlo.reshape %a : (tensor<0x3xf32>) -> tensor<3x0xf32>", "none"},
    {"Reduce", "%a: tensor<4x6xf32>, %z: tensor<f32>",
     "%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : "
     "(tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>",
     "([i, j], [])->([j]) {i=4-, j=6}"},
    {"Slice", "%a: tensor<4x6xf32>",
     "%0 = stablehlo.slice %a [0:4, 1:3] : (tensor<4x6xf32>) -> tensor<4x2xf32>",
     "([i, j])->([i, j]) {i=4, j=6-}"},
    {"DynamicSlice", "%a: tensor<4x6xf32>, %i: tensor<i32>",
     "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 6] : (tensor<4x6xf32>, tensor<i32>, "
     "tensor<i32>) -> tensor<2x6xf32>",
     "([i, j], [], [])->([i, j]) {i=4-!, j=6}"},
    {"DynamicUpdateSlice", "%a: tensor<4x6xf32>, %u: tensor<2x6xf32>, %i: tensor<i32>",
     "%0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x6xf32>, tensor<2x6xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<4x6xf32>",
     "([i, k], [j, k], [], [])->([i, k]) {i=4, j=2-, k=6}"},
    {"Pad", "%a: tensor<4x6xf32>, %z: tensor<f32>",
     "%0 = stablehlo.pad %a, %z, low = [0, 1], high = [0, 1], interior = [0, 0] : "
     "(tensor<4x6xf32>, tensor<f32>) -> tensor<4x8xf32>",
     "([i, j], [])->([i, j]) {i=4, j=6-}"},
    {"Concatenate", "%a: tensor<4x6xf32>",
     "%0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> "
     "tensor<4x12xf32>",
     "([i, j], [i, j])->([i, j]) {i=4, j=12-}"},
    {"Reverse", "%a: tensor<4x6xf32>", "%0 = stablehlo.reverse %a, dims = [0] : tensor<4x6xf32>",
     "([i, j])->([i, j]) {i=4-, j=6}"},
    {"Gather", "%a: tensor<9x6xf32>, %i: tensor<4x1xi32>",
     "%0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 6>}> : (tensor<9x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>",
     "([k, j], [i, l])->([i, j]) {i=4, j=6, k=9-, l=1-}"},
    {"Scatter", "%a: tensor<9x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x6xf32>",
     "%0 = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n^bb0(%x: tensor<f32>, %y: "
     "tensor<f32>):\n %s = stablehlo.add %x, %y : tensor<f32>\n stablehlo.return %s : "
     "tensor<f32>\n}) : (tensor<9x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<9x6xf32>",
     "([k, j], [i, l], [i, j])->([k, j]) {i=4-, j=6, k=9, l=1-}"},
    {"Convolution", "%a: tensor<2x8x8x3xf32>, %k: tensor<3x3x3x4xf32>",
     "%0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
     "feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> "
     "tensor<2x8x8x4xf32>",
     "([i, j, k, l], [n, o, l, m])->([i, j, k, m]) {i=2, j=8-, k=8-, l=3-, m=4, n=1, o=1}"},
    {"Sort", "%a: tensor<4x6xf32>",
     "%0 = \"stablehlo.sort\"(%a) <{dimension = 1 : i64}> ({\n^bb0(%x: tensor<f32>, %y: "
     "tensor<f32>):\n %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> "
     "tensor<i1>\n stablehlo.return %c : tensor<i1>\n}) : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "([i, j])->([i, j]) {i=4, j=6-}"},
    {"SortOfAVector", "%a: tensor<6xf32>",
     "%0 = \"stablehlo.sort\"(%a) <{dimension = 0 : i64}> ({\n^bb0(%x: tensor<f32>, %y: "
     "tensor<f32>):\n %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> "
     "tensor<i1>\n stablehlo.return %c : tensor<i1>\n}) : (tensor<6xf32>) -> tensor<6xf32>",
     "([i])->([i]) {i=6-!}"},
    {"TriangularSolve", "%a: tensor<2x4x4xf32>, %b: tensor<2x4x3xf32>",
     "%0 = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = true, transpose_a = "
     "#stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x4x4xf32>, "
     "tensor<2x4x3xf32>) -> tensor<2x4x3xf32>",
     "([i, j, l], [i, j, k])->([i, l, k]) {i=2, j=4-, k=3-, l=4-}"},
    {"RngBitGenerator", "%s: tensor<2xui64>",
     "%0, %1 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<4x6xui32>)",
     "([i])->([i], [j, k]) {i=2-!, j=4, k=6}"},
    {"CallThatIsNotKnown", "%a: tensor<4xf32>",
     "%0 = stablehlo.custom_call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>", "none"},
    {"CallWithItsRule", "%a: tensor<4x6xf32>",
     "%0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, "
     "k])->([i, *]) {i=2, j=2, k=6} reduction={j} blocked_propagation={k}, custom>} : "
     "(tensor<4x6xf32>) -> tensor<2x1xf32>",
     "([ij, k])->([i, l]) {i=2, j=2-, k=6!, l=1}"},
    {"DynamicShapes", "%a: tensor<?xf32>", "%0 = stablehlo.abs %a : tensor<?xf32>", "none"},
};
INSTANTIATE_TEST_SUITE_P(Ops, OpRules, ::testing::ValuesIn(kCases),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(OpRules, ARuleThatDoesNotFitIsAnErrorWithItsPlace) {
  const auto error = [](const std::string& rule) {
    return rule_in("%a: tensor<4x6xf32>",
                   "%0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<" + rule +
                       ">} : tensor<4x6xf32>");
  };
  EXPECT_EQ(error("([i, j])->([i, j]) {i=4, j=6}"), "([i, j])->([i, j]) {i=4, j=6}");
  EXPECT_THAT(error("([i])->([i]) {i=4}"), HasSubstr("2:6: stablehlo.abs: its sharding rule"));
  EXPECT_THAT(error("([i])->([i]) {i=4}"), HasSubstr("of other ranks"));
  EXPECT_THAT(error("([i, j])->([i, j]) {i=4}"), HasSubstr("a factor without a size"));
  EXPECT_THAT(error("([i, i])->([i, j]) {i=4, j=6}"), HasSubstr("stands twice in a tensor"));
  EXPECT_THAT(error("([i, j])->([i, j]) {j=4, i=6}"), HasSubstr("there is no factor j"));
  EXPECT_THAT(error("([i, j])->([i, j]) {i=4, i=6}"), HasSubstr("the next factor"));
  EXPECT_THAT(error("([i, j])->([i, j]) {i=4, j=6} other={i}"), HasSubstr("a kind of factors"));
  EXPECT_THAT(error("([i, a])->([i, j]) {i=4, j=6}"), HasSubstr("there is no factor a"));
  EXPECT_THAT(error("([i, j])->([i, j]) {i=4, j=-6}"), HasSubstr("a factor of size -6"));
  EXPECT_THAT(error("([i, j])->([i, j]) {i=4, j=6} reduction={k}"), HasSubstr("no factor k"));
  EXPECT_THAT(error("([i, z_999999999999])->([i, j]) {i=4}"), HasSubstr("no factor z_"));
}

}  // namespace
}  // namespace millrace::devices::stablehlo::propagate
