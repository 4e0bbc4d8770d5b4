// chlo operations in portable artifacts: each is read back as a composite, whose decomposition
// gives what the operation gives.
#include "millrace/devices/stablehlo/expand/chlo_expansion.h"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/cpu/compile/native_ops.h"
#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "millrace/devices/stablehlo/bytecode/write_bytecode.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::stablehlo::expand {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Arrays = std::vector<cpu::testing::Array>;

// The function main of a program without arguments.
Arrays run_main(const ir::Module& module) {
  auto made = cpu::testing::interpret(module, *module.find("main"), {});
  EXPECT_TRUE(made.has_value()) << made.error().to_string();
  return made ? *std::move(made) : Arrays();
}

// By their distance, infinite and missing parts by themselves.
void expect_close_complex(const cpu::testing::Array& got, const cpu::testing::Array& want) {
  const DType type = want.shape.dtype();
  const double unit = type == DType::kC128 ? 0x1p-46 : 0x1p-20;
  for (std::size_t at = 0; at < got.bytes.size(); at += byte_width(type)) {
    const auto g = cpu::definition::load(type, &got.bytes[at]),
               w = cpu::definition::load(type, &want.bytes[at]);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    const std::string words = "element " + std::to_string(at / byte_width(type)) + ": (" +
                              std::to_string(g.re) + ", " + std::to_string(g.im) + "), not (" +
                              std::to_string(w.re) + ", " + std::to_string(w.im) + ")";
    if (!std::isfinite(w.re) || !std::isfinite(w.im)) {
      EXPECT_TRUE(same(g.re, w.re) && (same(g.im, w.im) || std::fabs(g.im - w.im) < 1e-5)) << words;
    } else {
      EXPECT_LE(std::hypot(g.re - w.re, g.im - w.im), unit * std::hypot(w.re, w.im) + 1e-30)
          << words;
      // On a cut the sign of a zero tells the side.
      EXPECT_EQ(std::signbit(g.im), std::signbit(w.im)) << words;
    }
  }
}

// Elements as numbers, to the accuracy of their type: 16 units in the last place.
void expect_close(const Arrays& got, const Arrays& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t r = 0; r < got.size(); ++r) {
    const DType type = want[r].shape.dtype();
    ASSERT_EQ(got[r].shape, want[r].shape);
    if (is_complex(type)) {
      expect_close_complex(got[r], want[r]);
      continue;
    }
    if (!is_floating(type)) {
      EXPECT_EQ(got[r].bytes, want[r].bytes);
      continue;
    }
    const double unit = type == DType::kF64 ? 0x1p-48 : type == DType::kF32 ? 0x1p-19 : 0x1p-9;
    for (std::size_t at = 0; at < got[r].bytes.size(); at += byte_width(type)) {
      const double g = cpu::definition::load(type, &got[r].bytes[at]).re,
                   w = cpu::definition::load(type, &want[r].bytes[at]).re;
      if (g == w || (std::isnan(g) && std::isnan(w))) continue;
      ASSERT_TRUE(std::isfinite(w)) << "byte " << at << ": " << g << ", not " << w;
      EXPECT_LE(std::fabs(g - w), unit * std::fabs(w) + 1e-30)
          << "byte " << at << ": " << g << ", not " << w;
    }
  }
}

// A main function with this op on constants, whose values %0 it returns.
void check(const std::string& op, const std::string& constants, const std::string& returned) {
  SCOPED_TRACE(op);
  const auto module = text::read_text("func.func @main() -> (" + returned + ") {\n" + constants +
                                      "\n" + op + "\n}\n");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const auto artifact = bytecode::write_bytecode(*module);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  auto again = bytecode::read_bytecode(*artifact);
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  const std::string text = ir::print(*again);
  EXPECT_THAT(text, HasSubstr("\"stablehlo.composite\"("));
  EXPECT_THAT(text, Not(HasSubstr(" = chlo.")));
  EXPECT_TRUE(verify::verify(*again).has_value()) << text;
  const Arrays want = run_main(*module);
  expect_close(run_main(*again), want);
  // Composites of known names become the operation again.
  cpu::use_native_ops(*again);
  expect_close(run_main(*again), want);
}

const std::string kNumbers =
    "[-0.95, -0.5, -1.0e-3, -0.0, 0.0, 1.0e-4, 0.25, 0.75, 0.999, 1.0, -1.0, 1.5, -2.5, 6.0, 9.0, "
    "-40.0]";

TEST(ChloExpansion, FunctionsOfRealNumbersGiveTheSame) {
  for (const std::string name : {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf",
                                 "erfc", "erf_inv", "sinh", "square", "tan"}) {
    for (const std::string element : {"f64", "f32", "bf16"}) {
      const std::string type = "tensor<16x" + element + ">";
      check("%0 = chlo." + name + " %x : " + type + " -> " + type + "\nreturn %0 : " + type,
            "%x = stablehlo.constant dense<" + kNumbers + "> : " + type, type);
    }
  }
}

// Not near the zeros of either, where nothing but an absolute error is bounded.
TEST(ChloExpansion, GammaFunctionsGiveTheSame) {
  for (const std::string name : {"digamma", "lgamma"}) {
    for (const std::string element : {"f64", "f32", "f16"}) {
      const std::string type = "tensor<8x" + element + ">";
      check("%0 = chlo." + name + " %x : " + type + " -> " + type + "\nreturn %0 : " + type,
            "%x = stablehlo.constant dense<[0.1, 0.6, 3.5, 40.0, -0.25, -2.3, -0.8, 500.0]> : " +
                type,
            type);
    }
  }
  check("%0 = chlo.digamma %x : tensor<2xf32> -> tensor<2xf32>\nreturn %0 : tensor<2xf32>",
        "%x = stablehlo.constant dense<[-1.0, -2.0]> : tensor<2xf32>", "tensor<2xf32>");
  check("%0 = chlo.lgamma %x : tensor<3xf32> -> tensor<3xf32>\nreturn %0 : tensor<3xf32>",
        "%x = stablehlo.constant dense<[-1.0, 0.0, 0xFF800000]> : tensor<3xf32>", "tensor<3xf32>");
}

// In all quarters, on the axes and cuts from both sides, near one and far out.
TEST(ChloExpansion, FunctionsOfComplexNumbersGiveTheSame) {
  std::string numbers;
  for (const char* re :
       {"-3.0e+20", "-2.5", "-1.0", "-0.3", "1.0e-4", "0.75", "1.0", "1.5", "40.0"}) {
    for (const char* im : {"-1.0e+20", "-1.0", "-1.0e-3", "-0.0", "0.0", "0.5", "1.0", "7.0"})
      numbers += (numbers.empty() ? "(" : ", (") + std::string(re) + ", " + im + ")";
  }
  for (const std::string name : {"acos", "acosh", "asin", "asinh", "atan", "atanh"}) {
    for (const std::string element : {"complex<f32>", "complex<f64>"}) {
      const std::string type = "tensor<72x" + element + ">";
      check("%0 = chlo." + name + " %x : " + type + " -> " + type + "\nreturn %0 : " + type,
            "%x = stablehlo.constant dense<[" + numbers + "]> : " + type, type);
    }
  }
}

TEST(ChloExpansion, HyperbolicFunctionsOfComplexNumbersGiveTheSame) {
  for (const std::string name : {"cosh", "sinh"}) {
    for (const std::string element : {"complex<f32>", "complex<f64>"}) {
      const std::string type = "tensor<6x" + element + ">";
      check("%0 = chlo." + name + " %x : " + type + " -> " + type + "\nreturn %0 : " + type,
            "%x = stablehlo.constant dense<[(0.5, 1.0), (-0.1, -2.0), (1.0e-3, 4.0), (80.0, 0.3), "
            "(-20.0, 3.0), (2.0, -0.0)]> : " +
                type,
            type);
    }
  }
}

TEST(ChloExpansion, BesselFunctionsGiveTheSame) {
  for (const std::string element : {"f64", "f32", "bf16"}) {
    const std::string type = "tensor<10x" + element + ">";
    check("%0 = chlo.bessel_i1e %x : " + type + " -> " + type + "\nreturn %0 : " + type,
          "%x = stablehlo.constant dense<[0.0, -1.0e-3, 0.5, 3.0, -7.75, 8.0, 8.25, -40.0, 1.0e+3, "
          "1.0e+8]> : " +
              type,
          type);
  }
}

TEST(ChloExpansion, ZetaAndItsDerivativesGiveTheSame) {
  for (const std::string element : {"f64", "f32"}) {
    const std::string type = "tensor<12x" + element + ">";
    check("%0 = chlo.zeta %s, %q : " + type + ", " + type + " -> " + type + "\nreturn %0 : " + type,
          "%s = stablehlo.constant dense<[1.5, 2.0, 3.0, 30.0, 1.0, 0.5, 3.0, 2.0, 2.5, 2.0, 3.0, "
          "1.1]> : " +
              type +
              "\n%q = stablehlo.constant dense<[0.25, 1.0, 7.5, 0.5, 2.0, 2.0, -2.25, -3.0, -1.5, "
              "-30.25, -1.0, 500.0]> : " +
              type,
          type);
    const std::string eight = "tensor<8x" + element + ">";
    check("%0 = chlo.polygamma %n, %x : " + eight + ", " + eight + " -> " + eight +
              "\nreturn %0 : " + eight,
          "%n = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0, 5.0, -1.0, 1.5, 1.0]> : " + eight +
              "\n%x = stablehlo.constant dense<[3.5, 0.5, 7.0, 0.1, 40.0, 1.0, 1.0, -2.5]> : " +
              eight,
          eight);
  }
}

TEST(ChloExpansion, NeighboursOfNumbersAreTheSame) {
  for (const std::string element : {"f64", "f32", "f16", "bf16"}) {
    const std::string type = "tensor<9x" + element + ">";
    check("%n = stablehlo.sqrt %m : " + type + "\n%0 = chlo.next_after %x, %y : " + type + ", " +
              type + " -> " + type + "\n%1 = chlo.next_after %n, %x : " + type + ", " + type +
              " -> " + type + "\nreturn %0, %1 : " + type + ", " + type,
          "%x = stablehlo.constant dense<[1.0, 1.0, -1.0, -1.0, 0.0, -0.0, 0.0, 2.0, -3.0]> : " +
              type +
              "\n%y = stablehlo.constant dense<[2.0, -2.0, 0.0, -9.0, 1.0, -1.0, -0.0, 2.0, " +
              "-3.0]> : " + type + "\n%m = stablehlo.constant dense<-1.0> : " + type,
          type + ", " + type);
  }
}

TEST(ChloExpansion, QuestionsAboutInfinityGiveTheSame) {
  for (const std::string name : {"is_inf", "is_pos_inf", "is_neg_inf"}) {
    check("%0 = chlo." + name + " %x : tensor<4xf32> -> tensor<4xi1>\nreturn %0 : tensor<4xi1>",
          "%x = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : "
          "tensor<4xf32>",
          "tensor<4xi1>");
  }
}

TEST(ChloExpansion, TheLargestElementsAreTheSame) {
  for (const std::string element : {"f32", "i32", "ui8"}) {
    const std::string from = "tensor<2x4x" + element + ">", to = "tensor<2x3x" + element + ">";
    check("%0, %1 = chlo.top_k(%x, k = 3) : " + from + " -> (" + to +
              ", tensor<2x3xi32>)\nreturn %0, %1 : " + to + ", tensor<2x3xi32>",
          "%c = stablehlo.constant dense<[[3, 200, 3, 7], [0, 0, 1, 0]]> : tensor<2x4xi64>\n"
          "%x = stablehlo.convert %c : (tensor<2x4xi64>) -> " +
              from,
          to + ", tensor<2x3xi32>");
  }
}

TEST(ChloExpansion, HighHalvesOfProductsAreTheSame) {
  for (const std::string element : {"i8", "ui8", "i32", "ui32"}) {
    const std::string type = "tensor<4x" + element + ">";
    check(
        "%0 = chlo.mulhi %x, %x : " + type + ", " + type + " -> " + type + "\nreturn %0 : " + type,
        "%c = stablehlo.constant dense<[-1, 100, -128, 2000000000]> : tensor<4xi64>\n"
        "%x = stablehlo.convert %c : (tensor<4xi64>) -> " +
            type,
        type);
  }
}

TEST(ChloExpansion, HighHalvesOfProductsOf64BitsAreTheSame) {
  for (const std::string element : {"i64", "ui64"}) {
    const std::string type = "tensor<5x" + element + ">";
    check(
        "%0 = chlo.mulhi %x, %y : " + type + ", " + type + " -> " + type + "\nreturn %0 : " + type,
        "%c = stablehlo.constant dense<[-1, 9223372036854775807, -9223372036854775808, "
        "1234567890123456789, -5]> : tensor<5xi64>\n"
        "%d = stablehlo.constant dense<[-1, 9223372036854775807, 3, -8765432109876543210, "
        "7777777777777777777]> : tensor<5xi64>\n"
        "%x = stablehlo.convert %c : (tensor<5xi64>) -> " +
            type + "\n%y = stablehlo.convert %d : (tensor<5xi64>) -> " + type,
        type);
  }
}

// One of each mode; of the last row or term no group is left. Sizes for all batches and for each.
TEST(ChloExpansion, RaggedDotsAreTheSame) {
  const auto ragged = [](const std::string& numbers, const std::string& lhs, const std::string& rhs,
                         const std::string& sizes, const std::string& values,
                         const std::string& result) {
    check(
        "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
        "#chlo.ragged_dot<" +
            numbers + ">}> : (" + lhs + ", " + rhs + ", " + sizes + ") -> " + result +
            "\nreturn %r : " + result,
        "%i = stablehlo.iota dim = 1 : " + lhs + "\n%j = stablehlo.iota dim = 0 : " + lhs +
            "\n%m = stablehlo.multiply %j, %j : " + lhs + "\n%a = stablehlo.add %i, %m : " + lhs +
            "\n%k = stablehlo.iota dim = 2 : " + rhs + "\n%l = stablehlo.iota dim = 0 : " + rhs +
            "\n%n = stablehlo.add %l, %k : " + rhs + "\n%b = stablehlo.multiply %n, %n : " + rhs +
            "\n%g = stablehlo.constant dense<" + values + "> : " + sizes,
        result);
  };
  ragged(
      "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
      "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]",
      "tensor<5x2xf32>", "tensor<3x2x4xf32>", "tensor<3xi32>", "[2, 0, 2]", "tensor<5x4xf32>");
  ragged(
      "lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions "
      "= [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], "
      "rhs_group_dimensions = [0]",
      "tensor<2x3x2xf32>", "tensor<2x2x2x3xf32>", "tensor<2x2xi64>", "[[1, 2], [2, 0]]",
      "tensor<2x3x3xf32>");
  ragged(
      "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions "
      "= [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]",
      "tensor<2x3x4xi32>", "tensor<2x4x2xi32>", "tensor<3xi32>", "[1, 2, 0]",
      "tensor<3x2x3x2xi32>");
  ragged(
      "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions "
      "= [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]",
      "tensor<2x3x4xf32>", "tensor<2x4x2xf32>", "tensor<2xi32>", "[1, 1]", "tensor<2x3x2xf32>");
}

// What is not finite stays in its group, and what is in none of them is lost.
TEST(ChloExpansion, RaggedDotsKeepInfinitiesInTheirGroups) {
  check(
      "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
      "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
      "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<5x2xf32>, "
      "tensor<3x2x2xf32>, tensor<3xi32>) -> tensor<5x2xf32>\nreturn %r : tensor<5x2xf32>",
      "%a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 0.0], [4.0, 5.0], [0xFF800000, 1.0], "
      "[0x7FC00000, 1.0]]> : tensor<5x2xf32>\n"
      "%b = stablehlo.constant dense<[[[1.0, 2.0], [0x7F800000, 3.0]], [[0x7FC00000, 1.0], [1.0, "
      "1.0]], [[1.0, 2.0], [3.0, 0xFF800000]]]> : tensor<3x2x2xf32>\n"
      "%g = stablehlo.constant dense<[2, 0, 2]> : tensor<3xi32>",
      "tensor<5x2xf32>");
  check(
      "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
      "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], "
      "lhs_ragged_dimensions = [1]>}> : (tensor<2x4xf32>, tensor<4x2xf32>, tensor<3xi32>) -> "
      "tensor<3x2x2xf32>\nreturn %r : tensor<3x2x2xf32>",
      "%a = stablehlo.constant dense<[[1.0, 2.0, 0x7F800000, 4.0], [0.0, 6.0, 7.0, 8.0]]> : "
      "tensor<2x4xf32>\n"
      "%b = stablehlo.constant dense<[[0x7F800000, 2.0], [3.0, 0xFF800000], [5.0, 6.0], "
      "[0x7FC00000, 8.0]]> : tensor<4x2xf32>\n"
      "%g = stablehlo.constant dense<[1, 1, 1]> : tensor<3xi32>",
      "tensor<3x2x2xf32>");
}

// Terms whose groups differ for each batch and for each of the terms before them.
TEST(ChloExpansion, RaggedDotsOfSeveralTermsAreTheSame) {
  check(
      "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
      "#chlo.ragged_dot<lhs_batching_dimensions = [3], rhs_batching_dimensions = [0], "
      "lhs_contracting_dimensions = [0, 2], rhs_contracting_dimensions = [3, 1], "
      "lhs_ragged_dimensions = [2]>}> : (tensor<2x3x4x2xi32>, tensor<2x4x5x2xi32>, "
      "tensor<2x2x2xi32>) -> tensor<2x2x3x5xi32>\nreturn %r : tensor<2x2x3x5xi32>",
      "%i = stablehlo.iota dim = 0 : tensor<48xi32>\n%a = stablehlo.reshape %i : (tensor<48xi32>) "
      "-> tensor<2x3x4x2xi32>\n%j = stablehlo.iota dim = 0 : tensor<80xi32>\n%b = "
      "stablehlo.reshape %j : (tensor<80xi32>) -> tensor<2x4x5x2xi32>\n"
      "%g = stablehlo.constant dense<[[[1, 2], [0, 4]], [[3, 1], [2, 1]]]> : tensor<2x2x2xi32>",
      "tensor<2x2x3x5xi32>");
}

// A running sum of products; with a function of its own inside, from the end, and twice.
TEST(ChloExpansion, ScansAreTheSame) {
  const auto scan = [](const std::string& reverse, const std::string& x, const std::string& y) {
    return "\"chlo.scan\"(" + x + ", " + y + ") <{dimension = 1 : i64, is_reverse = " + reverse +
           ", operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({\n"
           "^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):\n%s = stablehlo.add %x, %y : "
           "tensor<2xf32>\n%e = chlo.erf %s : tensor<2xf32> -> tensor<2xf32>\n"
           "%m = stablehlo.multiply %e, %x : tensor<2xf32>\n"
           "stablehlo.return %m, %s : tensor<2xf32>, tensor<2xf32>}) : (tensor<2x3xf32>, "
           "tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)\n";
  };
  check("%0:2 = " + scan("false", "%a", "%z") + "%1:2 = " + scan("true", "%0#0", "%0#1") +
            "return %0#0, %1#0, %1#1 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>",
        "%a = stablehlo.constant dense<[[0.1, 0.2, 0.3], [-0.4, 0.5, 0.6]]> : tensor<2x3xf32>\n"
        "%z = stablehlo.constant dense<0.25> : tensor<2xf32>",
        "tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>");
}

// A scan in a scan and in a while, which read values of all that is around them.
TEST(ChloExpansion, ScansThatReadTheirSurroundingsAreTheSame) {
  const std::string scan =
      "\"chlo.scan\"(%a, %z) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, "
      "resultSegmentSizes = array<i32: 1, 1>}> ({\n^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):\n"
      "%s = stablehlo.add %x, %far : tensor<2xf32>\n"
      "%in:2 = \"chlo.scan\"(%s, %one) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, "
      "1>, resultSegmentSizes = array<i32: 1, 1>}> ({\n^bb0(%u: tensor<f32>, %v: tensor<f32>):\n"
      "%f = stablehlo.reshape %scale : (tensor<1xf32>) -> tensor<f32>\n"
      "%w = stablehlo.multiply %u, %f : tensor<f32>\n"
      "%all = stablehlo.reduce(%y init: %w) applies stablehlo.add across dimensions = [0] : "
      "(tensor<2xf32>, tensor<f32>) -> tensor<f32>\n"
      "%t = stablehlo.add %all, %v : tensor<f32>\n"
      "stablehlo.return %t, %t : tensor<f32>, tensor<f32>}) : (tensor<2xf32>, tensor<f32>) -> "
      "(tensor<2xf32>, tensor<f32>)\n"
      "stablehlo.return %in#0, %in#0 : tensor<2xf32>, tensor<2xf32>}) : (tensor<3x2xf32>, "
      "tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)\n";
  const std::string constants =
      "%a = stablehlo.constant dense<[[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]]> : tensor<3x2xf32>\n"
      "%z = stablehlo.constant dense<0.25> : tensor<2xf32>\n"
      "%far = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>\n"
      "%scale = stablehlo.constant dense<0.5> : tensor<1xf32>\n"
      "%one = stablehlo.constant dense<1.0> : tensor<f32>\n";
  check("%0:2 = " + scan + "return %0#0, %0#1 : tensor<3x2xf32>, tensor<2xf32>", constants,
        "tensor<3x2xf32>, tensor<2xf32>");
  std::string inside = scan;
  inside.replace(inside.find("%far"), 4, "%k");
  check(
      "%0:2 = stablehlo.while(%k = %far, %r = %z) : tensor<2xf32>, tensor<2xf32> cond {\n"
      "%most = stablehlo.constant dense<40.0> : tensor<f32>\n"
      "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%sum = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0] : "
      "(tensor<2xf32>, tensor<f32>) -> tensor<f32>\n"
      "%p = stablehlo.compare LT, %sum, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "stablehlo.return %p : tensor<i1>\n} do {\n%q:2 = " +
          inside +
          "%more = stablehlo.add %k, %q#1 : tensor<2xf32>\n"
          "stablehlo.return %more, %q#1 : tensor<2xf32>, tensor<2xf32>\n}\n"
          "return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>",
      constants, "tensor<2xf32>, tensor<2xf32>");
}

TEST(ChloExpansion, ConstantsOfTheShapeOfOthersAreTheSame) {
  check(
      "%0 = \"chlo.constant_like\"(%x) <{value = 1.5 : f32}> : (tensor<2xf32>) -> tensor<2xf32>\n"
      "return %0 : tensor<2xf32>",
      "%x = stablehlo.constant dense<0.0> : tensor<2xf32>", "tensor<2xf32>");
}

TEST(ChloExpansion, OperandsOfOtherShapesAreBroadcast) {
  const std::string constants =
      "%x = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>\n"
      "%y = stablehlo.constant dense<[3.0, -1.0, 2.0]> : tensor<3xf32>";
  for (const std::string name :
       {"add", "subtract", "maximum", "atan2", "power", "next_after", "zeta", "polygamma"}) {
    check("%0 = chlo.broadcast_" + name +
              " %x, %y : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>\n"
              "return %0 : tensor<2x3xf32>",
          constants, "tensor<2x3xf32>");
  }
  check(
      "%0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction "
      "LT>} : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xi1>\nreturn %0 : tensor<2x3xi1>",
      constants, "tensor<2x3xi1>");
  check(
      "%p = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>\n"
      "%0 = chlo.broadcast_select %p, %x, %y : (tensor<3xi1>, tensor<2x1xf32>, tensor<3xf32>) -> "
      "tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32>",
      constants, "tensor<2x3xf32>");
}

// Two equal ones share a function; a name that the program has is left alone.
TEST(ChloExpansion, FunctionsHaveNamesOfTheirOwn) {
  const auto module = text::read_text(
      "func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) {\n"
      "%0 = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>\n"
      "%1 = chlo.erf %0 : tensor<2xf32> -> tensor<2xf32>\n"
      "%2 = chlo.erf %y : tensor<3xf32> -> tensor<3xf32>\nreturn\n}\n"
      "func.func private @chlo.erf.impl(%x: tensor<i1>) -> tensor<i1> {\nreturn %x : "
      "tensor<i1>\n}\n");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const auto again = bytecode::read_bytecode(*bytecode::write_bytecode(*module));
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(again->functions().size(), 4U);
  EXPECT_NE(again->find("chlo.erf.impl_0"), nullptr);
  EXPECT_NE(again->find("chlo.erf.impl_1"), nullptr);
  EXPECT_TRUE(verify::verify(*again).has_value());
}

TEST(ChloExpansion, WhatHasNoneIsNotExpanded) {
  const auto module = text::read_text(
      "func.func @main(%x: tensor<2xf32>, %y: tensor<?xf32>) {\n"
      "%0 = chlo.erf %y : tensor<?xf32> -> tensor<?xf32>\n"
      "%1 = \"chlo.constant_like\"(%x) <{value = 0x7F800000 : f32}> : (tensor<2xf32>) -> "
      "tensor<2xf32>\nreturn\n}\n");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  ir::Module made = ir::Module::over(*module);
  for (const ir::Op& op : module->find("main")->body().block())
    EXPECT_EQ(expand_chlo(made, op), nullptr) << op.name();
}

}  // namespace
}  // namespace millrace::devices::stablehlo::expand
