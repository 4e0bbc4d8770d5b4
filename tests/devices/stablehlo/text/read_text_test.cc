#include "millrace/devices/stablehlo/text/read_text.h"

#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/ir/print.h"
#include "tests/support/equal_modules.h"

namespace millrace::devices::stablehlo::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ir::Module read_or_fail(std::string_view text) {
  auto module = read_text(text);
  if (!module) {
    ADD_FAILURE() << module.error().message();
    return {};
  }
  return std::move(*module);
}

std::string error_of(std::string_view text) {
  const auto module = read_text(text);
  return module ? "no error" : module.error().message();
}

// The elements of "dense<...> : type" as T.
template <class T>
std::vector<T> elements_of(const std::string& literal) {
  const ir::Module m =
      read_or_fail("func.func @f() {\n %0 = stablehlo.constant " + literal + "\n return\n}");
  if (m.functions().empty()) return {};
  const auto* dense = m.find("f")->body().block().front()->attr<ir::DenseAttr>("value");
  std::vector<T> out(dense->bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), dense->bytes.data(), out.size() * sizeof(T));
  return out;
}

TEST(ReadText, FunctionKeepsSignatureAndArgumentAttributes) {
  const ir::Module m = read_or_fail(R"(
module @jit_f attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32> {jax.buffer_donor = true} loc("x"), %arg1: tensor<ui8> {tf.aliasing_output = 1 : i32}) -> (tensor<2xf32> {jax.result_info = "r"}) {
    return %arg0 : tensor<2xf32> loc(#loc3)
  } loc(#loc1)
  func.func private @g(tensor<f32>, i32) -> f32
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("f.py":1:2)
#loc3 = loc(callsite("a"("f.py":1:2 to :3) at fused<"x">[#loc, #loc1]))
)");
  EXPECT_EQ(m.name(), "jit_f");
  ASSERT_EQ(m.functions().size(), 2u);
  const ir::Function& f = *m.find("main");
  EXPECT_EQ(f.visibility(), "public");
  EXPECT_TRUE(f.arg_attribute(0, "jax.buffer_donor").as<ir::BoolAttr>()->value);
  EXPECT_EQ(f.arg_attribute(1, "tf.aliasing_output").as<ir::IntegerAttr>()->value, 1);
  EXPECT_EQ(f.result_attributes(0).front().name, "jax.result_info");
  EXPECT_EQ(f.inputs()[1].to_string(), "tensor<ui8>");
  EXPECT_EQ(f.body().block().front()->location().line, 4u);
  EXPECT_EQ(f.body().block().front()->location().column, 5u);
  EXPECT_TRUE(m.find("g")->is_declaration());
}

TEST(ReadText, GenericModuleAndFunctionsReadAsTheShortOnes) {
  const ir::Module generic = read_or_fail(R"("builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{arg_attrs = [{a.b = 1 : i32}], function_type = (tensor<f32>) -> tensor<f32>, sym_name = "f", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<f32>):
    "func.return"(%arg0) : (tensor<f32>) -> ()
  }) : () -> ()
}) {x.y} : () -> ())");
  const ir::Module pretty = read_or_fail(
      "module @m attributes {x.y} { func.func private @f(%a: tensor<f32> {a.b = 1 : i32}) -> "
      "tensor<f32> {\n"
      "return %a : tensor<f32> } }");
  std::string why;
  EXPECT_TRUE(ir::equal(generic, pretty, &why)) << why;
}

TEST(ReadText, VisibilitiesAreKeptAsTheyAreWritten) {
  const ir::Module m = read_or_fail(R"(
func.func @none() { return }
func.func public @exported() { return }
func.func private @hidden() { return }
func.func nested @relatives() { return }
"func.func"() <{function_type = () -> (), sym_name = "generic", sym_visibility = "public"}> ({
  "func.return"() : () -> ()
}) : () -> ()
"func.func"() <{function_type = () -> (), sym_name = "generic_none"}> ({
  "func.return"() : () -> ()
}) : () -> ()
)");
  std::vector<std::string> seen;
  for (const ir::Function& f : m.functions()) seen.emplace_back(f.visibility());
  EXPECT_THAT(seen, ElementsAre("", "public", "private", "nested", "public", ""));
  const std::string text = ir::print(m);
  EXPECT_THAT(text, HasSubstr("func.func @none("));
  EXPECT_THAT(text, HasSubstr("func.func public @exported("));
  const ir::Module again = read_or_fail(text);
  std::string why;
  EXPECT_TRUE(ir::equal(m, again, &why)) << why;
  EXPECT_EQ(ir::print(again), text);
}

TEST(ReadText, VisibilitiesThatThereAreNotAreErrors) {
  for (const std::string value : {"\"open\"", "\"\"", "1 : i32"}) {
    const auto m = read_text(
        "\"func.func\"() <{function_type = () -> (), sym_name = \"f\", sym_visibility = " + value +
        "}> ({ \"func.return\"() : () -> () }) : () -> ()");
    ASSERT_FALSE(m) << value;
    EXPECT_THAT(m.error().message(), HasSubstr("1:1: func.func: a visibility"));
  }
  const auto twice =
      read_text("func.func public @f() attributes {sym_visibility = \"private\"} { return }");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message(), HasSubstr("sym_visibility"));
}

TEST(ReadText, AliasesStandForTypesAndAttributes) {
  const ir::Module m = read_or_fail(R"(
#d = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>
!t = tensor<4xf32>
func.func @f(%a: !t) -> !t {
  %0 = "stablehlo.dot_general"(%a, %a) {dot_dimension_numbers = #d} : (!t, tensor<4xf32>) -> tensor<f32>
  return %a : !t
})");
  const auto* dims =
      m.find("f")->body().block().front()->attr<ir::DotDimsAttr>("dot_dimension_numbers");
  ASSERT_NE(dims, nullptr);
  EXPECT_THAT(dims->lhs_contracting, ElementsAre(0));
}

TEST(ReadText, PackedResultsAreNamedByNumber) {
  const ir::Module m = read_or_fail(R"(
func.func @f() -> tensor<i32> {
  %p:2, %q = "x.y"() : () -> (tensor<f32>, tensor<i32>, tensor<i1>)
  return %p#1 : tensor<i32>
})");
  const ir::Op* made = m.find("f")->body().block().front();
  EXPECT_EQ(made->next()->operand(0), made->result(1));
}

// Reader and printer walk one table of fields: neither would miss a field that it lacks.
TEST(ReadText, EveryFieldOfARecordIsReadAndPrinted) {
  for (const std::string record :
       {"dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [2], "
        "lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [4]>",
        "dot_algorithm<lhs_precision_type = f32, rhs_precision_type = bf16, accumulation_type = "
        "f64, lhs_component_count = 1, rhs_component_count = 2, num_primitive_operations = 3, "
        "allow_imprecise_accumulation = true>",
        "conv<raw input_batch_dimension = 9, input_feature_dimension = 1, "
        "input_spatial_dimensions = [2], kernel_input_feature_dimension = 3, "
        "kernel_output_feature_dimension = 4, kernel_spatial_dimensions = [5], "
        "output_batch_dimension = 6, output_feature_dimension = 7, output_spatial_dimensions = "
        "[8]>",
        "gather<offset_dims = [1], collapsed_slice_dims = [2], operand_batching_dims = [3], "
        "start_indices_batching_dims = [4], start_index_map = [5], index_vector_dim = 6>",
        "scatter<update_window_dims = [1], inserted_window_dims = [2], input_batching_dims = [3], "
        "scatter_indices_batching_dims = [4], scatter_dims_to_operand_dims = [5], "
        "index_vector_dim = 6>",
        "channel_handle<handle = 1, type = 2>",
        "output_operand_alias<output_tuple_indices = [1], operand_index = 2, "
        "operand_tuple_indices = [3]>",
        "result_accuracy<atol = 1.0, rtol = 2.0, ulps = 3, mode = "
        "#stablehlo.result_accuracy_mode<TOLERANCE>>"}) {
    const ir::Module m = read_or_fail("func.func @main() attributes {a = #stablehlo." + record +
                                      "} {\n  return\n}\n");
    EXPECT_THAT(ir::print(m), HasSubstr("#stablehlo." + record));
  }
}

TEST(ReadText, MultipleBlocksAndSuccessorsSurvive) {
  const ir::Module m = read_or_fail(R"(
func.func @f(%c: i1) {
  "cf.cond_br"(%c)[^bb1, ^bb2] : (i1) -> ()
^bb1:
  "cf.br"()[^bb2] : () -> ()
^bb2:
  return
})");
  const auto again = read_text(ir::print(m));
  ASSERT_TRUE(again) << again.error().message() << ir::print(m);
  std::string why;
  EXPECT_TRUE(ir::equal(m, *again, &why)) << why;
  EXPECT_EQ(m.find("f")->body().blocks().size(), 3u);
}

// They are of no use in a module, but may stand there.
TEST(ReadText, NamesOutsideOfFunctionsAreNotSeenInside) {
  const std::string outside = "%0 = stablehlo.constant dense<3> : tensor<i64>\n";
  for (const char* function :
       {"func.func @f() -> tensor<i64> {\n  %0 = stablehlo.constant dense<4> : tensor<i64>\n  "
        "return %0 : tensor<i64>\n}",
        "\"func.func\"() <{function_type = () -> tensor<i64>, sym_name = \"f\"}> ({\n  %0 = "
        "stablehlo.constant dense<4> : tensor<i64>\n  func.return %0 : tensor<i64>\n}) : () -> "
        "()"}) {
    const ir::Module m = read_or_fail(outside + function);
    EXPECT_THAT(*m.find("f")->body().block().front()->ints("value"), ElementsAre(4));
    EXPECT_TRUE(read_text(ir::print(m)));
  }
}

TEST(ReadText, ResourcesAtTheEndFillTheConstants) {
  const ir::Module m = read_or_fail(R"(
func.func @f() {
  %0 = stablehlo.constant dense_resource<key_1> : tensor<2xi16>
  return
}
{-#
  dialect_resources: {
    builtin: {
      key_1: "0x040000000100FEFF"
    }
  }
#-}
)");
  const ir::Op* op = m.find("f")->body().block().front();
  EXPECT_THAT(*op->ints("value"), ElementsAre(1, -2));
}

TEST(ReadText, MeshOfShardyIsKeptAtTheTop) {
  const ir::Module m =
      read_or_fail("module { sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]> loc(unknown)\n }");
  EXPECT_EQ(m.top_level().front()->name(), "sdy.mesh");
  EXPECT_TRUE(read_text(ir::print(m)));
}

TEST(ReadText, AttributesOfEveryKindSurvivePrinting) {
  const ir::Module m = read_or_fail(R"(
func.func @f() attributes {
  a = unit, b = true, c = -5 : i8, d = 18446744073709551615 : ui64, e = 0x7FC00001 : f32, f = 1.5 : bf16, g = 1.0e5,
  h = "a\22\0A\\", i = @x::@"y z", j = tensor<?xf32>, k = [1, "s", [] ], l = {"odd name" = 1 : index, m},
  n = array<i1: true, false>, o = array<f32: 0.1, 0x7F800000>, p = array<i8>, q = (i32) -> (),
  r = #stablehlo.channel_handle<handle = 1, type = 2>, s = affine_map<(d0) -> (d0)>, t = #other.thing<"<", [1]>,
  u = #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [1]>,
  v = #stablehlo.bounds<3, ?>, w = dense<[(1.0, -2.0), (0.5, 0xFF800000)]> : tensor<2xcomplex<f32>>,
  x = dense<true> : tensor<4xi1>, y = 255 : i8, z = dense<> : tensor<0x3xf32>, ab = !quant.uniform<i8:f32:1, {0.1:3, 2.0}>,
  ac = dense<["a", "b"]> : tensor<2x!tf.string>, ad = dense<[-8, 7]> : tensor<2xi4>, ae = 12 : si32, af = none,
  ag = dense<[1.5, 0x7F]> : tensor<2xf8E4M3FN>, ah = dense<7> : tensor<2xindex>, ai = memref<2x3xf32, strided<[3, 1]>>
} {
  return
})");
  ASSERT_EQ(m.functions().size(), 1u);
  const std::string text = ir::print(m);
  const auto again = read_text(text);
  ASSERT_TRUE(again) << again.error().message() << text;
  std::string why;
  EXPECT_TRUE(ir::equal(m, *again, &why)) << why << text;
  EXPECT_EQ(ir::find(m.find("f")->attributes(), "y").as<ir::IntegerAttr>()->value, -1);
  EXPECT_EQ(ir::find(m.find("f")->attributes(), "h").as<ir::StringAttr>()->value, "a\"\n\\");
}

// What reads it back here is not what others read it with.
TEST(ReadText, IsPrintedInTheWordsOfItsDialect) {
  const std::string text = ir::print(read_or_fail(
      "func.func @f(%x: tensor<2xf32>) -> tensor<2xi1> {\n"
      "  %0 = stablehlo.custom_call @g(%x) {output_operand_aliases = "
      "[#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, "
      "operand_tuple_indices = []>]} : (tensor<2xf32>) -> tensor<2xf32>\n"
      "  %1 = chlo.broadcast_compare %0, %x {compare_type = #chlo<comparison_type TOTALORDER>, "
      "comparison_direction = #chlo<comparison_direction LE>} : (tensor<2xf32>, tensor<2xf32>) -> "
      "tensor<2xi1>\n"
      "  return %1 : tensor<2xi1>\n}\n"));
  EXPECT_THAT(text, HasSubstr("#stablehlo.output_operand_alias<output_tuple_indices = [], "
                              "operand_index = 0, operand_tuple_indices = []>"));
  EXPECT_THAT(text, HasSubstr("#chlo<comparison_type TOTALORDER>"));
  EXPECT_THAT(text, HasSubstr("#chlo<comparison_direction LE>"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("#stablehlo<comparison")));
}

TEST(ReadText, DenseLiteralsOfEveryForm) {
  EXPECT_THAT(elements_of<std::int32_t>("dense<[[1, 2], [-3, 0x10]]> : tensor<2x2xi32>"),
              ElementsAre(1, 2, -3, 16));
  EXPECT_THAT(elements_of<std::int64_t>("dense<7> : tensor<100x100xi64>"), ElementsAre(7));
  EXPECT_THAT(elements_of<float>("dense<[1.5, -2.0e-1, 0xFF800000]> : tensor<3xf32>"),
              ElementsAre(1.5f, -0.2f, -std::numeric_limits<float>::infinity()));
  EXPECT_THAT(elements_of<std::uint16_t>("dense<[1.0, 0x7F80]> : tensor<2xbf16>"),
              ElementsAre(0x3F80, 0x7F80));
  EXPECT_THAT(elements_of<double>("dense<(1.0, 2.0)> : tensor<complex<f64>>"),
              ElementsAre(1.0, 2.0));
  EXPECT_THAT(elements_of<std::uint8_t>("dense<[true, false]> : tensor<2xi1>"), ElementsAre(1, 0));
  EXPECT_THAT(elements_of<std::int16_t>("dense<\"0x0100FFFF\"> : tensor<2xi16>"),
              ElementsAre(1, -1));
  EXPECT_THAT(elements_of<std::int8_t>("dense<[-8, 15]> : tensor<2xi4>"), ElementsAre(-8, -1));
  EXPECT_THAT(elements_of<std::uint64_t>("dense<18446744073709551615> : tensor<ui64>"),
              ElementsAre(~0ull));
  EXPECT_THAT(elements_of<float>("dense<[]> : tensor<0xf32>"), ElementsAre());
}

TEST(ReadText, HexStringsOfBoolsAreBytesOrBits) {
  EXPECT_THAT(elements_of<std::uint8_t>("dense<\"0x000100\"> : tensor<3xi1>"),
              ElementsAre(0, 1, 0));
  EXPECT_THAT(elements_of<std::uint8_t>("dense<\"0x0502\"> : tensor<10xi1>"),
              ElementsAre(1, 0, 1, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(elements_of<std::uint8_t>("dense<\"0xFF\"> : tensor<20xi1>"), ElementsAre(1));
}

TEST(ReadText, HexStringsOfLessThanAByteKeepTheirBitsOnly) {
  EXPECT_THAT(elements_of<std::int8_t>("dense<\"0x0EF1\"> : tensor<2xi4>"), ElementsAre(-2, 1));
  EXPECT_THAT(elements_of<std::uint8_t>("dense<\"0x0EF1\"> : tensor<2xui4>"), ElementsAre(14, 1));
  // Floats too, as bytecode's are.
  EXPECT_THAT(elements_of<std::uint8_t>("dense<\"0x0EF1\"> : tensor<2xf4E2M1FN>"),
              ElementsAre(14, 1));
}

struct BadText {
  const char* name;
  const char* text;
  const char* error;
};

void PrintTo(const BadText& bad, std::ostream* out) { *out << bad.name; }

class ReadTextError : public ::testing::TestWithParam<BadText> {};

TEST_P(ReadTextError, NamesPlaceAndReason) {
  EXPECT_THAT(error_of(GetParam().text), HasSubstr(GetParam().error));
}

const BadText kBad[] = {
    {"UnknownShortForm", "func.func @f() {\n  stablehlo.frobnicate : i32\n}",
     "2:3: the operation stablehlo.frobnicate has no short form"},
    {"UndefinedValue", "func.func @f() {\n  return %x : i32\n}",
     "2:10: func.return: %x is used but not defined"},
    {"WrongOperandType",
     "func.func @f(%a: tensor<2xf32>) {\n  %0 = stablehlo.abs %a : tensor<3xf32>\n}",
     "2:8: stablehlo.abs: operand 0 is tensor<2xf32>, but the text says tensor<3xf32>"},
    {"DefinedOutsideOfTheFunction",
     "%a = \"x.y\"() : () -> i32\nfunc.func @f() {\n  return %a : i32\n}",
     "3:10: func.return: %a is used but not defined"},
    {"CommaWithoutAnEncoding", "func.func @f(%a: tensor<2xi64, >)",
     "1:32: func.func: found '>', expected what the comma announces"},
    {"DefinedTwice", "func.func @f(%a: i32) {\n  %a = \"x.y\"() : () -> i32\n}",
     "2:3: x.y: %a is defined twice"},
    {"TooFewNames", "func.func @f() {\n  %a = \"x.y\"() : () -> (i32, i32)\n}",
     "names for 1 results"},
    {"TooManyNames", "func.func @f() {\n  %a:3 = \"x.y\"() : () -> i32\n}", "more names than"},
    {"NoSuchPart",
     "func.func @f() {\n  %a:2 = \"x.y\"() : () -> (i32, i32)\n  return %a#2 : i32\n}",
     "3:10: func.return: %a stands for 2 results"},
    {"SymbolBeforeAnArrow", "module @->", "1:8: module: found a mark (% ^ @ # !) without a name"},
    {"ValueBeforeAnArrow", "func.func @f() {\n  return %-> : i32\n}",
     "2:10: found a mark (% ^ @ # !) without a name"},
    {"MeshInBraces", "module {\n  sdy.mesh @m = {a}\n}", "2:17: module: found '{', expected '<'"},
    {"ShardingInBrackets",
     "func.func @f(%a: tensor<2xf32>) {\n  %0 = sdy.sharding_constraint %a [@m] : tensor<2xf32>\n}",
     "2:35: sdy.sharding_constraint: found '[', expected '<'"},
    {"UnterminatedString", "module @\"abc", "a string without its closing quote"},
    {"UnterminatedModule", "module {\n", "2:1: module: found the end of the text"},
    {"UnterminatedDense", "func.func @f() {\n %0 = stablehlo.constant dense<[1, 2",
     "without its closing '>'"},
    {"UnterminatedHex", "func.func @f() {\n %0 = stablehlo.constant dense<\"0x00",
     "without its closing '>'"},
    {"OddHex", "func.func @f() {\n %0 = stablehlo.constant dense<\"0x0\"> : tensor<i8>",
     "odd number of hex digits"},
    {"BadHex", "func.func @f() {\n %0 = stablehlo.constant dense<\"0xZZ\"> : tensor<i8>",
     "no hex digit"},
    {"ShortHex", "func.func @f() {\n %0 = stablehlo.constant dense<\"0x000000\"> : tensor<2xi32>",
     "found 3 bytes"},
    {"ShortList", "func.func @f() {\n %0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>",
     "2:38: stablehlo.constant: in a dense literal: found 2 entries, expected 3"},
    {"LongList", "func.func @f() {\n %0 = stablehlo.constant dense<[1, 2]> : tensor<1xi32>",
     "more entries than the dimension of 1"},
    {"RaggedList",
     "func.func @f() {\n %0 = stablehlo.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>",
     "found 1 entries, expected 2"},
    {"TooWideElement", "func.func @f() {\n %0 = stablehlo.constant dense<300> : tensor<i8>",
     "does not fit in i8"},
    {"NegativeUnsigned", "func.func @f() {\n %0 = stablehlo.constant dense<-1> : tensor<ui8>",
     "does not fit in ui8"},
    {"HugeShapeOfFewElements",
     "func.func @f() {\n %0 = stablehlo.constant dense<[1]> : tensor<999999999x999999999xi32>",
     "fewer elements than the 999999998000000001"},
    {"OverflowingShape",
     "func.func @f() {\n %0 = stablehlo.constant dense<1> : "
     "tensor<9999999999x9999999999x9999999999xi32>",
     "not known or too large"},
    {"OverflowingDimension", "func.func @f(%a: tensor<99999999999999999999xi32>) {}",
     "does not fit in 64 bits"},
    {"OverflowingInteger", "module attributes {a = 99999999999999999999 : i64} {}",
     "does not fit in 64 bits"},
    {"TooWideInteger", "module attributes {a = 256 : i8} {}",
     "1:24: module: the integer 256 does not fit in i8"},
    {"BadEscape", R"(module attributes {a = "\q"} {})", "unknown escape"},
    {"ScalesOfBlocks",
     "func.func @f(%a: tensor<4x4x!quant.uniform<i8:f32:{0:2,1:2}, {{1.0, 2.0}, {3.0, 4.0}}>>) {}",
     "along one axis, not of blocks"},
    {"UndefinedAlias", "func.func @f(%a: !t) {}", "this alias is not defined"},
    {"MissingResource",
     "func.func @f() {\n %0 = stablehlo.constant dense_resource<k> : tensor<i8>\n return }",
     "the resource k is not in the text's end"},
    {"ResourceOfOneElement",
     "func.func @f() {\n %0 = stablehlo.constant dense_resource<k> : tensor<4xf32>\n return }\n"
     "{-# dialect_resources: { builtin: { k: \"0x040000000000803F\" } } #-}",
     "the resource k has one element, expected 4"},
    {"UnknownBlock", "func.func @f() {\n \"cf.br\"()[^bb7] : () -> ()\n}",
     "^bb7 is used but not defined"},
    {"SecondModule", "module {} module {}", "1:11: a second module"},
    {"FunctionTwice", "func.func private @f()\nfunc.func private @f()",
     "2:1: func.func: the function @f is defined twice"},
    {"BadPrecision",
     "func.func @f(%a: tensor<2xf32>) {\n %0 = stablehlo.dot %a, %a, precision = [LOW] : "
     "(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>\n}",
     "2:42: stablehlo.dot: found 'LOW', expected a value of precision"},
    {"ConvWithoutBatch",
     "func.func @f(%a: tensor<2x2xf32>) {\n %0 = stablehlo.convolution(%a, %a) dim_numbers = [0, "
     "f]x[i, o]->[b, f] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n}",
     "dimension numbers without b or f"},
    {"StrayCharacter", "module { ; }", "1:10: found a character that starts no token"},
};

INSTANTIATE_TEST_SUITE_P(Bad, ReadTextError, ::testing::ValuesIn(kBad),
                         [](const auto& info) { return std::string(info.param.name); });

std::string repeated(std::string_view part, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += part;
  return out;
}

TEST(ReadTextHostile, DeepNestingIsAnErrorNotAnOverflow) {
  constexpr int kDeep = 200'000;
  EXPECT_THAT(error_of("func.func @f(%a: " + repeated("tuple<", kDeep)),
              HasSubstr("nesting deeper than"));
  EXPECT_THAT(error_of("module attributes {a = " + repeated("[", kDeep)),
              HasSubstr("nesting deeper than"));
  EXPECT_THAT(error_of("func.func @f() {" + repeated("\"x.y\"() ({", kDeep)),
              HasSubstr("nesting deeper than"));
  EXPECT_THAT(error_of("func.func @f() {\n %0 = stablehlo.constant dense<" + repeated("[", kDeep) +
                       "> : tensor<" + repeated("1x", kDeep) + "i8>"),
              HasSubstr("nesting deeper than"));
  EXPECT_THAT(error_of("func.func @f() { return loc(" + repeated("(", kDeep)),
              HasSubstr("never closed"));
  EXPECT_THAT(error_of("{-# a: " + repeated("{a: ", kDeep)), HasSubstr("nesting deeper than"));
}

TEST(ReadTextHostile, EveryPrefixOfAProgramIsReadOrRefused) {
  const std::string text = R"(#a = dense<[1, 2]> : tensor<2xi32>
module @m attributes {x.y = "s\22"} {
  func.func @f(%a: tensor<2xi32> {b = #a}, %c: tensor<i32>) -> (tensor<2xi32>) {
    %0 = stablehlo.constant dense<"0x0100000002000000"> : tensor<2xi32>
    %1:2 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, tensor<2xi32>
     cond {
      %p = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      stablehlo.return %i, %x : tensor<i32>, tensor<2xi32>
    }
    %2 = stablehlo.reduce(%1#1 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
    return %1#1 : tensor<2xi32>
  }
}
)";
  ASSERT_TRUE(read_text(text)) << error_of(text);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto module = read_text(std::string_view(text).substr(0, size));
    if (!module) {
      EXPECT_EQ(module.error().code(), ErrorCode::kInvalidArgument);
    }
  }
}

TEST(ReadTextHostile, AliasesOfAliasesStayWithinAMultipleOfTheText) {
  std::string types = "!t0 = tuple<i1, i1>\n";
  std::string attributes = "#a0 = [1, 2]\n";
  for (int i = 1; i < 64; ++i) {
    const std::string last = std::to_string(i - 1);
    types += "!t" + std::to_string(i) + " = tuple<!t" + last + ", !t" + last + ">\n";
    attributes += "#a" + std::to_string(i) + " = [#a" + last + ", #a" + last + "]\n";
  }
  EXPECT_THAT(error_of(types), HasSubstr("too large a text"));
  EXPECT_THAT(error_of(attributes), HasSubstr("too large a text"));
  std::string chain = "!t0 = i1\n";
  for (int i = 1; i < 300; ++i) {
    chain += "!t" + std::to_string(i) + " = tuple<!t" + std::to_string(i - 1) + ">\n";
  }
  EXPECT_THAT(error_of(chain), HasSubstr("too deep"));
}

TEST(ReadText, TypesBehindAliasesAreWrittenOutInKeptText) {
  const ir::Module m = read_or_fail(
      "!s = si32\n!k = !other.string\nmodule attributes {a = 1 : !s, b = \"x\" : !k, "
      "c = dense<[\"y\"]> : tensor<1x!k>, d = complex<!s>} {}");
  const auto again = read_text(ir::print(m));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(ir::equal(m, *again));
}

TEST(ReadText, ReturnInTheMiddleOfABlockSurvivesPrinting) {
  const ir::Module m = read_or_fail(
      "func.func @f() {\n return stablehlo.constant dense<1> : tensor<i1>\n return\n}");
  EXPECT_TRUE(read_text(ir::print(m)));
}

TEST(ReadTextHostile, HugeCountsAllocateNothing) {
  EXPECT_THAT(error_of("func.func @f() {\n %0:9000000000000000000 = \"x.y\"() : () -> i32\n}"),
              HasSubstr("more names than"));
  EXPECT_THAT(error_of("func.func @f() {\n %0:99999999999999999999 = \"x.y\"() : () -> i32\n}"),
              HasSubstr("does not fit"));
}

}  // namespace
}  // namespace millrace::devices::stablehlo::text
