// Triangular systems of every form, small ones and those that the library solves: op(A) X = B, or
// X op(A) = B, holds for what comes out. The other triangle, and the diagonal where it is one, are
// NaN: nothing may read them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {
namespace {

using Number = std::complex<double>;
constexpr int kBatches = 2, kOthers = 7;

struct Form {
  bool left, lower, unit;
  std::string op;
};

Number at(const Array& a, std::size_t i) {
  const DType type = a.shape.dtype();
  const auto s = definition::load(type, &a.bytes[i * byte_width(type)]);
  return {s.re, is_complex(type) ? s.im : 0};
}

// Numbers around 1 / n, and 2 to 3 on the diagonal.
Array triangle(const Form& form, DType type, int n) {
  Array a{Shape(type, {kBatches, n, n}), {}};
  a.bytes.resize(a.shape.size_bytes());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int b = 0; b < kBatches; ++b) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const bool read = i == j ? !form.unit : (j < i) == form.lower;
        const double value =
            i == j ? 2 + (i % 5) / 5.0 : ((i * 7 + j * 3 + b) % 11 - 5) / (2.0 * n);
        const auto place = static_cast<std::size_t>((b * n + i) * n + j);
        definition::store(type,
                          is_complex(type) ? definition::from_complex(read ? value : nan, value / 2)
                                           : definition::from_real(read ? value : nan),
                          &a.bytes[place * byte_width(type)]);
      }
    }
  }
  return a;
}

Array right_side(DType type, int rows, int columns) {
  Array b{Shape(type, {kBatches, rows, columns}), {}};
  b.bytes.resize(b.shape.size_bytes());
  for (std::size_t i = 0; i < static_cast<std::size_t>(b.shape.elements()); ++i) {
    const double value = static_cast<double>(i * 5 % 13) - 6;
    definition::store(type,
                      is_complex(type) ? definition::from_complex(value, 1 - value)
                                       : definition::from_real(value),
                      &b.bytes[i * byte_width(type)]);
  }
  return b;
}

// The largest difference between op(A) X, or X op(A), and B.
double residual(const Form& form, int n, const Array& a, const Array& x, const Array& b) {
  const int rows = static_cast<int>(b.shape.dim(1)), columns = static_cast<int>(b.shape.dim(2));
  double worst = 0;
  for (int m = 0; m < kBatches; ++m) {
    const auto of_a = [&](int i, int j) -> Number {
      if (form.op != "NO_TRANSPOSE") std::swap(i, j);
      if (i == j && form.unit) return 1;
      if (i != j && (j < i) != form.lower) return 0;
      const Number v = at(a, static_cast<std::size_t>((m * n + i) * n + j));
      return form.op == "ADJOINT" ? std::conj(v) : v;
    };
    const auto of_x = [&](int i, int j) {
      return at(x, static_cast<std::size_t>((m * rows + i) * columns + j));
    };
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        Number sum = 0;
        for (int k = 0; k < n; ++k)
          sum += form.left ? of_a(i, k) * of_x(k, j) : of_x(i, k) * of_a(k, j);
        const Number want = at(b, static_cast<std::size_t>((m * rows + i) * columns + j));
        const double error = std::abs(sum - want);
        worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
      }
    }
  }
  return worst;
}

class TriangularSolveTest : public ::testing::TestWithParam<std::tuple<DType, int>> {};

TEST_P(TriangularSolveTest, EveryFormSolvesItsSystem) {
  const auto [type, n] = GetParam();
  const double tolerance = type == DType::kF64 || type == DType::kC128 ? 1e-12
                           : type == DType::kF16                       ? 2e-1
                                                                       : 1e-4;
  for (int bits = 0; bits < 8; ++bits) {
    for (const char* op : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
      const Form form{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, op};
      const Array a = triangle(form, type, n),
                  b = right_side(type, form.left ? n : kOthers, form.left ? kOthers : n);
      const auto text = [](bool value) { return std::string(value ? "true" : "false"); };
      const std::string program =
          "func.func @main(%a: " + a.shape.to_string() + ", %b: " + b.shape.to_string() + ") -> " +
          b.shape.to_string() +
          " {\n%0 = \"stablehlo.triangular_solve\"(%a, %b) {left_side = " + text(form.left) +
          ", lower = " + text(form.lower) + ", unit_diagonal = " + text(form.unit) +
          ", transpose_a = #stablehlo<transpose " + op + ">} : (" + a.shape.to_string() + ", " +
          b.shape.to_string() + ") -> " + b.shape.to_string() +
          "\nreturn %0 : " + b.shape.to_string() + "\n}";
      SCOPED_TRACE(program);
      const auto module = stablehlo::text::read_text(program);
      ASSERT_TRUE(module) << module.error().to_string();
      const auto x = planned(*module, "main", {a, b});
      ASSERT_TRUE(x) << x.error().to_string();
      EXPECT_LT(residual(form, n, a, (*x)[0], b), tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, TriangularSolveTest,
                         ::testing::Combine(::testing::Values(DType::kF32, DType::kF64, DType::kF16,
                                                              DType::kC64, DType::kC128),
                                            ::testing::Values(3, 40, 150)));

}  // namespace
}  // namespace millrace::devices::cpu::testing
