// Products of sparse and dense matrices as JAX writes them, against the sum that defines them.
#include <algorithm>
#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {
namespace {

using ::testing::HasSubstr;

template <class T>
Array csr_array(DType type, std::vector<std::int64_t> dims, const std::vector<T>& values) {
  Array made{Shape(type, std::span<const std::int64_t>(dims)), {}};
  made.bytes.resize(made.shape.size_bytes());
  EXPECT_EQ(made.bytes.size(), values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}
template <class T>
std::vector<T> csr_values(const Array& a) {
  std::vector<T> values(a.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), a.bytes.data(), a.bytes.size());
  return values;
}

template <class T>
T csr_number(int value) {
  if constexpr (requires(T x) { x.imag(); }) {
    return T(static_cast<typename T::value_type>(value));
  } else {
    return static_cast<T>(value);
  }
}

std::string csr_program(const std::string& values, const std::string& starts,
                        const std::string& columns, const std::string& dense,
                        const std::string& result) {
  const std::string types = values + ", " + starts + ", " + columns + ", " + dense;
  return "func.func @main(%v: " + values + ", %s: " + starts + ", %c: " + columns +
         ", %d: " + dense + ") -> " + result +
         " {\n%r = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%v, %s, %c, %d) "
         "{api_version = 4 : i32} : (" +
         types + ") -> " + result + "\nreturn %r : " + result + "\n}\n";
}

Result<Arrays> run_csr(const std::string& text, const Arrays& inputs) {
  MILLRACE_TRY(const auto module, stablehlo::text::read_text(text));
  return planned(module, "main", inputs);
}

std::string tensor_text(std::vector<std::int64_t> dims, const std::string& element) {
  std::string text = "tensor<";
  for (const std::int64_t d : dims) text += std::to_string(d) + "x";
  return text + element + ">";
}

// A matrix of `rows` x 5 with some three elements a row, times one of 5 x `width` (0: a vector).
template <class T, class Index>
void check_csr(const std::string& element, DType type, const std::string& index, DType index_type,
               std::int64_t rows, std::int64_t width) {
  SCOPED_TRACE(element + " " + index + " " + std::to_string(rows) + " " + std::to_string(width));
  constexpr std::int64_t kInner = 5;
  std::mt19937 random(static_cast<unsigned>(rows * 31 + width));
  std::uniform_int_distribution<int> small(-4, 4), columns_of_a_row(0, kInner - 1);
  std::vector<T> values;
  std::vector<Index> starts = {0}, columns;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (int c = columns_of_a_row(random); c < kInner; c += 2) {
      values.push_back(csr_number<T>(small(random)));
      columns.push_back(static_cast<Index>(c));
    }
    starts.push_back(static_cast<Index>(values.size()));
  }
  const std::int64_t across = std::max<std::int64_t>(width, 1);
  std::vector<T> dense;
  for (std::int64_t i = 0; i < kInner * across; ++i) dense.push_back(csr_number<T>(small(random)));
  std::vector<T> wanted(static_cast<std::size_t>(rows * across), T(0));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (auto e = static_cast<std::size_t>(starts[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(starts[static_cast<std::size_t>(i) + 1]); ++e) {
      for (std::int64_t j = 0; j < across; ++j) {
        wanted[static_cast<std::size_t>(i * across + j)] +=
            values[e] * dense[static_cast<std::size_t>(columns[e] * across + j)];
      }
    }
  }
  const auto count = static_cast<std::int64_t>(values.size());
  const std::vector<std::int64_t> dense_dims =
      width == 0 ? std::vector<std::int64_t>{kInner} : std::vector<std::int64_t>{kInner, width};
  const std::vector<std::int64_t> result_dims =
      width == 0 ? std::vector<std::int64_t>{rows} : std::vector<std::int64_t>{rows, width};
  const auto got =
      run_csr(csr_program(tensor_text({count}, element), tensor_text({rows + 1}, index),
                          tensor_text({count}, index), tensor_text(dense_dims, element),
                          tensor_text(result_dims, element)),
              {csr_array(type, {count}, values), csr_array(index_type, {rows + 1}, starts),
               csr_array(index_type, {count}, columns), csr_array(type, dense_dims, dense)});
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  EXPECT_EQ(csr_values<T>((*got)[0]), wanted);  // small integers: every sum is exact
}

template <class T>
void check_all_csr(const std::string& element, DType type) {
  for (const std::int64_t rows : {0, 1, 7}) {
    for (const std::int64_t width : {0, 1, 3, 17}) {
      check_csr<T, std::int32_t>(element, type, "i32", DType::kI32, rows, width);
      check_csr<T, std::int64_t>(element, type, "i64", DType::kI64, rows, width);
    }
  }
}

TEST(CsrProductTest, EveryElementAndIndexTypeIsTheSumThatDefinesIt) {
  check_all_csr<std::int32_t>("i32", DType::kI32);
  check_all_csr<std::int64_t>("i64", DType::kI64);
  check_all_csr<float>("f32", DType::kF32);
  check_all_csr<double>("f64", DType::kF64);
  check_all_csr<std::complex<float>>("complex<f32>", DType::kC64);
  check_all_csr<std::complex<double>>("complex<f64>", DType::kC128);
}

TEST(CsrProductTest, ComplexNumbersAreMultipliedAsSuch) {
  using C = std::complex<float>;
  const auto got = run_csr(csr_program("tensor<1xcomplex<f32>>", "tensor<2xi32>", "tensor<1xi32>",
                                       "tensor<1xcomplex<f32>>", "tensor<1xcomplex<f32>>"),
                           {csr_array(DType::kC64, {1}, std::vector<C>{{1, 2}}),
                            csr_array(DType::kI32, {2}, std::vector<std::int32_t>{0, 1}),
                            csr_array(DType::kI32, {1}, std::vector<std::int32_t>{0}),
                            csr_array(DType::kC64, {1}, std::vector<C>{{3, 4}})});
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  EXPECT_EQ(csr_values<C>((*got)[0]), (std::vector<C>{{-5, 10}}));
}

// Padding of JAX's matrices has columns behind the last one; foreign numbers must read nothing
// else's memory.
TEST(CsrProductTest, WhatLiesOutsideCountsAsZero) {
  const auto got = run_csr(csr_program("tensor<4xf32>", "tensor<4xi32>", "tensor<4xi32>",
                                       "tensor<2xf32>", "tensor<3xf32>"),
                           {csr_array(DType::kF32, {4}, std::vector<float>{1, 2, 4, 8}),
                            csr_array(DType::kI32, {4}, std::vector<std::int32_t>{-3, 2, 1, 1000}),
                            csr_array(DType::kI32, {4}, std::vector<std::int32_t>{0, 2, -1, 1}),
                            csr_array(DType::kF32, {2}, std::vector<float>{10, 100})});
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  EXPECT_EQ(csr_values<float>((*got)[0]), (std::vector<float>{10, 0, 800}));
}

TEST(CsrProductTest, ACallThatDoesNotFitIsRefusedByWhatItHas) {
  const auto bf16 = run_csr(csr_program("tensor<1xbf16>", "tensor<2xi32>", "tensor<1xi32>",
                                        "tensor<1xbf16>", "tensor<1xbf16>"),
                            {});
  ASSERT_FALSE(bf16.has_value());
  EXPECT_THAT(bf16.error().to_string(), HasSubstr("found tensor<1xbf16>"));
  const auto rows = run_csr(csr_program("tensor<1xf32>", "tensor<3xi32>", "tensor<1xi32>",
                                        "tensor<1xf32>", "tensor<1xf32>"),
                            {});
  ASSERT_FALSE(rows.has_value());
  EXPECT_THAT(rows.error().to_string(), HasSubstr("I[m + 1]"));
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
