// Programs of more arrays, results and values at a time than one fused loop, or one step, holds.
// Small whole numbers, so that sums are exact in any order.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/devices/cpu/kernels/elementwise/loop_kernel.h"
#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu {
namespace {

using testing::bytes_of;
using testing::TestProgram;
using testing::values_of;

constexpr int kElements = 100;
const std::string kArray = "tensor<100xf32>";

// "TEXT0, TEXT1, ...", with each $ as the number.
std::string list(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    if (i > 0) all += ", ";
    for (const char c : text) all += c == '$' ? std::to_string(i) : std::string(1, c);
  }
  return all;
}

float element(int array, int i) { return static_cast<float>((array * 7 + i * 3) % 11 - 5); }

std::vector<testing::Bytes> arrays(int count) {
  std::vector<testing::Bytes> all;
  for (int a = 0; a < count; ++a) {
    std::vector<float> values(kElements);
    for (int i = 0; i < kElements; ++i) values[static_cast<std::size_t>(i)] = element(a, i);
    all.push_back(bytes_of(values));
  }
  return all;
}

class WideProgramTest : public ::testing::TestWithParam<int> {};

TEST_P(WideProgramTest, SumOfManyArrays) {
  const int n = GetParam();
  std::string text = "func.func @main(" + list(n, "%x$: " + kArray) + ") -> " + kArray + " {\n";
  std::string sum = "%x0";
  for (int i = 1; i < n; ++i) {
    const std::string next = "%s" + std::to_string(i);
    text += next + " = stablehlo.add " + sum + ", %x" + std::to_string(i) + " : " + kArray + "\n";
    sum = next;
  }
  TestProgram p(text + "return " + sum + " : " + kArray + "\n}");
  const auto y = values_of<float>(p.run(arrays(n))[0]);
  for (int i = 0; i < kElements; ++i) {
    float wanted = 0;
    for (int a = 0; a < n; ++a) wanted += element(a, i);
    ASSERT_EQ(y[static_cast<std::size_t>(i)], wanted) << "element " << i;
  }
}

TEST_P(WideProgramTest, ManyResultsOfOneChain) {
  const int n = GetParam();
  std::string text = "func.func @main(%x: " + kArray + ") -> (" + list(n, kArray) +
                     ") {\n%s0 = stablehlo.add %x, %x : " + kArray + "\n";
  for (int i = 1; i < n; ++i) {
    text += "%s" + std::to_string(i) + " = stablehlo.add %s" + std::to_string(i - 1) +
            ", %x : " + kArray + "\n";
  }
  TestProgram p(text + "return " + list(n, "%s$") + " : " + list(n, kArray) + "\n}");
  const auto results = p.run(arrays(1));
  for (int r = 0; r < n; ++r) {
    const auto y = values_of<float>(results[static_cast<std::size_t>(r)]);
    for (int i = 0; i < kElements; ++i)
      ASSERT_EQ(y[static_cast<std::size_t>(i)], static_cast<float>(r + 2) * element(0, i))
          << "result " << r << ", element " << i;
  }
}

TEST_P(WideProgramTest, ManyReductionsOverOneSpace) {
  const int n = GetParam();
  std::string text = "func.func @main(" + list(n, "%x$: " + kArray) + ", %z: tensor<f32>) -> (" +
                     list(n, "tensor<f32>") + ") {\n%s0 = stablehlo.add %x0, %x0 : " + kArray +
                     "\n";
  for (int i = 1; i < n; ++i) {
    const std::string k = std::to_string(i);
    text += "%s" + k + " = stablehlo.add %s" + std::to_string(i - 1) + ", %x" + k + " : " + kArray +
            "\n";
  }
  for (int i = 0; i < n; ++i) {
    const std::string k = std::to_string(i);
    text += "%r" + k + " = stablehlo.reduce(%s" + k +
            " init: %z) applies stablehlo.add across dimensions = [0] : (" + kArray +
            ", tensor<f32>) -> tensor<f32>\n";
  }
  TestProgram p(text + "return " + list(n, "%r$") + " : " + list(n, "tensor<f32>") + "\n}");
  auto inputs = arrays(n);
  inputs.push_back(bytes_of(std::vector<float>{3}));
  const auto results = p.run(inputs);
  float wanted = 3;  // each sum holds those before it
  for (int i = 0; i < kElements; ++i) wanted += element(0, i);
  for (int r = 0; r < n; ++r) {
    float last = 0;
    for (int i = 0; i < kElements; ++i) last += element(r, i);
    wanted += last;
    ASSERT_EQ(values_of<float>(results[static_cast<std::size_t>(r)])[0], wanted) << "result " << r;
  }
}

// All values of 16 bytes are needed until the end.
TEST_P(WideProgramTest, ManyValuesAtATime) {
  const int n = GetParam();
  const std::string type = "tensor<100xcomplex<f64>>";
  std::string text = "func.func @main(%x: " + type + ") -> " + type +
                     " {\n%v0 = stablehlo.add %x, %x : " + type + "\n";
  for (int i = 1; i < n; ++i) {
    text += "%v" + std::to_string(i) + " = stablehlo.add %v" + std::to_string(i - 1) +
            ", %x : " + type + "\n";
  }
  text += "%s" + std::to_string(n - 1) + " = stablehlo.negate %v" + std::to_string(n - 1) + " : " +
          type + "\n";
  for (int i = n - 2; i >= 0; --i) {
    text += "%s" + std::to_string(i) + " = stablehlo.subtract %s" + std::to_string(i + 1) + ", %v" +
            std::to_string(i) + " : " + type + "\n";
  }
  TestProgram p(text + "return %s0 : " + type + "\n}");
  std::vector<double> x;
  for (int i = 0; i < 2 * kElements; ++i) x.push_back(element(0, i));
  const auto y = values_of<double>(p.run({bytes_of(x)})[0]);
  double factor = 0;
  for (int i = 0; i < n; ++i) factor -= i + 2;
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], factor * x[i]) << "number " << i;
}

TEST_P(WideProgramTest, SortOfManyArraysByTheFirst) {
  const int n = GetParam();
  std::string text =
      "func.func @main(" + list(n, "%x$: " + kArray) + ") -> (" + list(n, kArray) +
      ") {\n%r:" + std::to_string(n) + " = \"stablehlo.sort\"(" + list(n, "%x$") + ") ({\n^bb0(" +
      list(2 * n, "%a$: tensor<f32>") +
      "):\n%c = stablehlo.compare LT, %a0, %a1 : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "stablehlo.return %c : tensor<i1>\n}) {dimension = 0 : i64, is_stable = true} : (" +
      list(n, kArray) + ") -> (" + list(n, kArray) + ")\nreturn " + list(n, "%r#$") + " : " +
      list(n, kArray) + "\n}";
  TestProgram p(text);
  auto inputs = arrays(n);
  std::vector<float> keys;  // from last to first
  for (int i = 0; i < kElements; ++i) keys.push_back(static_cast<float>(kElements - i));
  inputs[0] = bytes_of(keys);
  const auto results = p.run(inputs);
  for (int a = 1; a < n; ++a) {
    const auto y = values_of<float>(results[static_cast<std::size_t>(a)]);
    for (int i = 0; i < kElements; ++i)
      ASSERT_EQ(y[static_cast<std::size_t>(i)], element(a, kElements - 1 - i))
          << "array " << a << ", element " << i;
  }
}

constexpr int kMany = static_cast<int>(LoopKernel::kMaxBuffers);
INSTANTIATE_TEST_SUITE_P(Counts, WideProgramTest,
                         ::testing::Values(2, 16, 17, 40, kMany - 1, kMany, kMany + 1,
                                           2 * kMany + 1, 190, 400));

}  // namespace
}  // namespace millrace::devices::cpu
