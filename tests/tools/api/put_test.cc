// Whose the bytes of a put are. On real threads, because Runtime is what makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "millrace/millrace.h"

namespace millrace {
namespace {

using devices::PutResult;
using ::testing::ElementsAre;

constexpr std::int64_t kMany = std::int64_t{1}
                               << 20;  // far above what a caller copies for a device

bool all_are(const HostArray& array, float value) {
  return std::ranges::all_of(array.as<float>(), [value](float v) { return v == value; });
}

class PutTest : public ::testing::Test {
 protected:
  static Runtime make() {
    RuntimeOptions options;
    options.device = "cpu";
    options.threads = 2;
    return Runtime::create(std::move(options)).value();
  }
  Result<HostArray> fetch(const Argument& buffer) const {
    return wait_blocking(device.fetch(buffer));
  }
  const Runtime runtime = make();
  const Device device = runtime.device(0);
};

TEST_F(PutTest, BytesWithoutAnOwnerMayChangeAndGoAsSoonAsPutReturns) {
  for (const std::int64_t n : {std::int64_t{4}, kMany}) {
    std::vector<Future<Buffer>> puts;
    for (int i = 0; i < 20; ++i) {
      auto values = std::make_unique<std::vector<float>>(n, static_cast<float>(i));
      puts.push_back(device.put({.data = values->data(), .shape = Shape(DType::kF32, {n})}));
      std::ranges::fill(*values, -1.0F);
    }
    for (std::size_t i = 0; i < puts.size(); ++i) {
      const Result<HostArray> there = fetch(puts[i]);
      ASSERT_TRUE(there) << there.error().to_string();
      EXPECT_TRUE(all_are(*there, static_cast<float>(i)));
    }
  }
}

// Only put_memory() gives such memory; bytes that are lent as if they were would be freed by it.
TEST_F(PutTest, LentBytesAreNoMemoryThatTheDeviceGave) {
  const float value = 1;
  const Result<PutResult> put =
      wait_blocking(device.put_borrowed({.data = &value, .shape = Shape(DType::kF32, {1})},
                                        devices::HostBufferSemantics::kPutMemory));
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(put.error().message(), ::testing::HasSubstr("put_borrowed was given kPutMemory"));
}

TEST_F(PutTest, StridedBytesAreCopiedInTheirOrder) {
  std::vector<float> values = {1, 2, 3, 4};
  const std::int64_t strides[] = {4, 8};
  const Future<Buffer> there = device.put(
      {.data = values.data(), .shape = Shape(DType::kF32, {2, 2}), .byte_strides = strides});
  values = {0, 0, 0, 0};
  EXPECT_THAT(fetch(there)->as<float>(), ElementsAre(1, 3, 2, 4));
}

TEST_F(PutTest, OwnerIsKeptUntilTheBufferIsGoneAndTheBytesAreTheBuffers) {
  const HostArray host = HostArray::make(Shape(DType::kF32, {4}));
  const long held = host.owner().use_count();
  Result<Buffer> there = wait_blocking(
      device.put({.data = host.bytes().data(), .shape = host.shape(), .owner = host.owner()}));
  ASSERT_TRUE(there) << there.error().to_string();
  EXPECT_GT(host.owner().use_count(), held);
  EXPECT_EQ(there->host_access()->bytes.data(), host.bytes().data()) << "it was copied";
  there = Buffer();
  EXPECT_TRUE(wait_blocking(runtime.close()));
  EXPECT_EQ(host.owner().use_count(), held);
}

TEST_F(PutTest, VectorMovesIn) {
  std::vector<float> small = {1, 2, 3, 4}, large(kMany, 7);
  EXPECT_THAT(fetch(device.put(std::move(small), {2, 2}))->as<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(small.empty());  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_TRUE(all_are(*fetch(device.put(std::move(large), {kMany})), 7));
  EXPECT_THAT(fetch(device.put(std::vector<std::int32_t>{1, 2}, {2}))->as<std::int32_t>(),
              ElementsAre(1, 2));
}

// The copy of a put is the device's memory, where that is the host's: it is counted and used again.
TEST_F(PutTest, CopyIsMemoryOfTheDeviceAndCanBeDonated) {
  const auto in_use = [&] {
    return wait_blocking(runtime.memory_stats(devices::DeviceId{0}))->bytes_in_use;
  };
  const std::vector<float> values(kMany, 2);
  const std::int64_t before = in_use();
  const Buffer there =
      wait_blocking(device.put({.data = values.data(), .shape = Shape(DType::kF32, {kMany})}))
          .value();
  EXPECT_GE(in_use() - before, kMany * 4);
  const Executable twice = wait_blocking(runtime.compile(Program::from_text(R"(
func.func @main(%x: tensor<1048576xf32> {tf.aliasing_output = 0 : i32}) -> tensor<1048576xf32> {
  %0 = stablehlo.add %x, %x : tensor<1048576xf32>
  return %0 : tensor<1048576xf32>
})")))
                               .value();
  const void* const bytes = there.host_access()->bytes.data();
  const Buffers out = wait_blocking(device.execute(twice, {there})).value();
  ASSERT_TRUE(wait_blocking(out[0].ready()));
  EXPECT_EQ(out[0].host_access()->bytes.data(), bytes) << "the program has written elsewhere";
  EXPECT_TRUE(all_are(*fetch(out[0]), 4));
}

TEST_F(PutTest, DonatedBufferIsOneFailedPreconditionInEveryUse) {
  const Executable gives = wait_blocking(runtime.compile(Program::from_text(R"(
func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
})")))
                               .value();
  const Buffer x = wait_blocking(device.put(std::vector<float>(2), {2})).value();
  ASSERT_TRUE(wait_blocking(device.execute(gives, {x})));
  EXPECT_EQ(wait_blocking(device.execute(gives, {x})).error().code(),
            ErrorCode::kFailedPrecondition);
  EXPECT_EQ(fetch(x).error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(wait_blocking(device.copy_from(x)).error().code(), ErrorCode::kFailedPrecondition);
}

TEST_F(PutTest, ExecutableOfAnotherRuntimeIsNamedAsTheExecutable) {
  const Runtime other = make();
  const Executable theirs =
      wait_blocking(
          other.compile(Program::from_text(
              "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }",
              "theirs")))
          .value();
  const Buffer x = wait_blocking(device.put(std::vector<float>(1), {1})).value();
  const Result<Buffers> refused = wait_blocking(device.execute(theirs, {x}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message(), ::testing::HasSubstr("the executable theirs of another"));
}

TEST(PutStressTest, PutsBesideTheEndOfTheirRuntimeAreRefused) {
  for (int round = 0; round < 20; ++round) {
    RuntimeOptions options;
    options.device = "cpu";
    options.threads = 1;
    auto runtime = std::make_unique<Runtime>(Runtime::create(std::move(options)).value());
    std::atomic<int> under_way{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&under_way, device = runtime->device(0)] {
        const std::vector<float> values(16);
        ++under_way;
        while (true) {
          const Result<Buffer> there =
              wait_blocking(device.put({.data = values.data(), .shape = Shape(DType::kF32, {16})}));
          if (there) continue;
          EXPECT_EQ(there.error().code(), ErrorCode::kUnavailable) << there.error().to_string();
          return;
        }
      });
    }
    while (under_way < 3) std::this_thread::yield();
    runtime.reset();
  }
}

#if defined(MILLRACE_SANITIZED) && !defined(MILLRACE_TSAN)
// The rule of put_borrowed is for the caller to keep, and AddressSanitizer finds who does not.
float lend_free_and_read() {
  RuntimeOptions options;
  options.device = "cpu";
  options.threads = 2;
  const Runtime runtime = Runtime::create(std::move(options)).value();
  const Device device = runtime.device(0);
  constexpr std::size_t kAligned = 64;  // as the device wants bytes that it uses in place
  void* const bytes = std::aligned_alloc(kAligned, kAligned);
  const HostView view{.data = bytes, .shape = Shape(DType::kF32, {16})};
  const PutResult lent =
      wait_blocking(device.put_borrowed(view, devices::HostBufferSemantics::kImmutableZeroCopy))
          .value();
  std::free(bytes);
  return wait_blocking(device.fetch(lent.buffer))->as<float>()[0];
}

TEST(PutDeathTest, BytesThatAreLentAndFreedAreFound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(std::printf("%f", lend_free_and_read()), "heap-use-after-free");
}
#endif

}  // namespace
}  // namespace millrace
