// Calls of LAPACK on several threads at once, as devices make them: none touches another's numbers.
// With Debian's serial OpenBLAS as the system's LAPACK this fails unless they take turns.
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {
namespace {

constexpr const char* kEigenvectors = R"(
func.func @main(%a: tensor<120x120xf64>) -> (tensor<120x120xf64>, tensor<120xf64>, tensor<i32>) {
  %r:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a)
      {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}}
      : (tensor<120x120xf64>) -> (tensor<120x120xf64>, tensor<120xf64>, tensor<i32>)
  return %r#0, %r#1, %r#2 : tensor<120x120xf64>, tensor<120xf64>, tensor<i32>
})";

Array random_matrix(unsigned seed) {
  Array made{Shape(DType::kF64, {120, 120}), std::vector<std::byte>(120 * 120 * sizeof(double))};
  std::mt19937 random(seed);
  std::vector<double> values(120 * 120);
  for (double& value : values) value = static_cast<double>(random()) * 0x1p-32 - 0.5;
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

TEST(LapackThreadsTest, CallsAtOnceGiveWhatTheyGiveAlone) {
  constexpr unsigned kMatrices = 4, kThreads = 8, kCalls = 30;
  const auto module = stablehlo::text::read_text(kEigenvectors);
  ASSERT_TRUE(module) << module.error().to_string();
  const auto bytes_of = [&](unsigned seed) {
    std::vector<std::byte> all;
    const Result<Arrays> results = interpreted(*module, "main", {random_matrix(seed)});
    for (const Array& a : results.value()) all.insert(all.end(), a.bytes.begin(), a.bytes.end());
    return all;
  };
  std::vector<std::vector<std::byte>> alone;
  for (unsigned seed = 0; seed < kMatrices; ++seed) alone.push_back(bytes_of(seed));

  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < kCalls; ++i) {
        const unsigned seed = (t + i) % kMatrices;
        if (bytes_of(seed) != alone[seed]) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0)) << "wrong results of " << kCalls << " per thread";
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
