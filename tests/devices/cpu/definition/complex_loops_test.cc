// Each loop against the function of single elements that it stands for, to the bit, over all pairs
// of the numbers that matter.
#include "millrace/devices/cpu/kernels/elementwise/complex_loops.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "millrace/devices/cpu/kernels/functions/scalar_op.h"

namespace millrace::devices::cpu::definition {
namespace {

using ir::OpKind;

template <class T>
std::vector<T> numbers() {
  using L = std::numeric_limits<T>;
  const T third = T(1) / 3;
  return {
      T(0),          -T(0),          T(1),           -third,   L::max(),        L::lowest(),
      L::infinity(), -L::infinity(), L::quiet_NaN(), L::min(), L::denorm_min(), -L::denorm_min(),
      L::max() / 3,  T(1e-20),       T(3),           T(-4)};
}

// Elements of `in`, as bytes: pairs of all numbers; the second operand goes through them otherwise.
template <class T>
std::vector<T> operand(DType in, bool second) {
  const std::vector<T> all = numbers<T>();
  std::vector<T> parts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      parts.push_back(all[second ? (5 * i + 3 * j + 1) % all.size() : i]);
      if (is_complex(in)) parts.push_back(all[second ? (7 * j + i) % all.size() : j]);
    }
  }
  return parts;
}

struct Case {
  OpKind kind;
  DType in, out;
};
constexpr DType kC64 = DType::kC64, kC128 = DType::kC128, kF32 = DType::kF32, kF64 = DType::kF64;

template <class T>
void expect_same(const Case& c) {
  SCOPED_TRACE(std::string(to_string(c.kind)) + " of " + std::string(to_string(c.in)));
  const ComplexLoop loop = find_complex_loop(c.kind, c.in, c.out);
  ASSERT_NE(loop, nullptr);
  const std::vector<T> a = operand<T>(c.in, false), b = operand<T>(c.in, true);
  const std::size_t n = a.size() / (is_complex(c.in) ? 2 : 1), width = byte_width(c.out);
  std::vector<std::byte> loops(n * width), functions(n * width);
  const auto bytes = [](const std::vector<T>& x) {
    return reinterpret_cast<const std::byte*>(x.data());
  };
  loop(bytes(a), bytes(b), loops.data(), static_cast<std::int64_t>(n));
  const bool wide = std::is_same_v<T, double>;
  const ScalarFunction function = c.kind == OpKind::kConvert
                                      ? convert_function(form_of(c.in), form_of(c.out))
                                  : is_complex(c.in) ? complex_function(c.kind, wide)
                                                     : real_function(c.kind, wide);
  ASSERT_NE(function, nullptr);
  for (std::size_t i = 0; i < n; ++i) {
    const Scalar operands[2] = {load(c.in, bytes(a) + i * byte_width(c.in)),
                                load(c.in, bytes(b) + i * byte_width(c.in))};
    const ScalarInfo info{.in = c.in, .out = c.out};
    store(c.out, function(operands, info), functions.data() + i * width);
    ASSERT_EQ(std::memcmp(loops.data() + i * width, functions.data() + i * width, width), 0)
        << "element " << i;
  }
}

TEST(ComplexLoopsTest, AreTheFunctionsOfSingleElements) {
  for (const Case& c : {Case{OpKind::kAdd, kC64, kC64}, Case{OpKind::kSubtract, kC64, kC64},
                        Case{OpKind::kNegate, kC64, kC64}, Case{OpKind::kChloConj, kC64, kC64},
                        Case{OpKind::kReal, kC64, kF32}, Case{OpKind::kImag, kC64, kF32},
                        Case{OpKind::kMultiply, kC64, kC64}, Case{OpKind::kAbs, kC64, kF32},
                        Case{OpKind::kComplex, kF32, kC64}, Case{OpKind::kConvert, kF32, kC64}}) {
    expect_same<float>(c);
  }
  for (const Case& c : {Case{OpKind::kAdd, kC128, kC128}, Case{OpKind::kSubtract, kC128, kC128},
                        Case{OpKind::kNegate, kC128, kC128}, Case{OpKind::kChloConj, kC128, kC128},
                        Case{OpKind::kReal, kC128, kF64}, Case{OpKind::kImag, kC128, kF64},
                        Case{OpKind::kComplex, kF64, kC128}, Case{OpKind::kConvert, kF64, kC128}}) {
    expect_same<double>(c);
  }
}

// What double cannot hold on the way has no loop.
TEST(ComplexLoopsTest, WiderNumbersHaveNone) {
  EXPECT_EQ(find_complex_loop(OpKind::kMultiply, kC128, kC128), nullptr);
  EXPECT_EQ(find_complex_loop(OpKind::kAbs, kC128, kF64), nullptr);
  EXPECT_EQ(find_complex_loop(OpKind::kAbs, kF32, kF32), nullptr);
}

}  // namespace
}  // namespace millrace::devices::cpu::definition
