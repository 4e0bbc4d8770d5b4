// Collectives as programs that three devices of a plugin run, of XLA's and of our own: what they
// give is what the host gives on the CPU device, to the bit, and no array goes through the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "millrace/collectives/device_collectives.h"
#include "millrace/collectives/exchange.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/tools/api/runtime.h"
#include "tests/support/paths.h"
#include "tests/support/plugins.h"

namespace millrace {
namespace {

using collectives::CollectiveCall;
using collectives::DeviceCollectives;
using collectives::ProcessGroup;
using collectives::Rank;
using collectives::ReduceOp;
using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::DType;
using devices::HostArray;
using devices::Shape;

constexpr int kRanks = 3;

// Whole numbers of which sums of three are exact in every type, in any order.
HostArray some_array(const Shape& shape, std::mt19937_64& random) {
  HostArray array = HostArray::make(shape);
  const std::span<std::byte> bytes = array.mutable_bytes();
  const std::size_t size = bytes.size() / static_cast<std::size_t>(shape.elements());
  for (std::size_t i = 0; i * size < bytes.size(); ++i) {
    const auto drawn = static_cast<int>(random() % 16);
    std::byte* const to = bytes.data() + i * size;
    const auto write = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
    switch (shape.dtype()) {
      case DType::kF64:
        write(static_cast<double>(drawn) - 8);
        break;
      case DType::kF32:
        write(static_cast<float>(drawn) - 8);
        break;
      case DType::kC64:
        write(static_cast<float>(drawn));
        break;
      case DType::kI32:
        write(drawn - 8);
        break;
      case DType::kI1:
        write(static_cast<std::uint8_t>(drawn % 2));
        break;
      // 1, 2, 4, 8.
      case DType::kF16:
        write(static_cast<std::uint16_t>(0x3C00 + drawn % 4 * 0x400));
        break;
      case DType::kBF16:
        write(static_cast<std::uint16_t>(0x3F80 + drawn % 4 * 0x80));
        break;
      default:
        ADD_FAILURE() << shape.to_string();
        break;
    }
  }
  return array;
}

std::vector<CollectiveCall> all_calls() {
  using Kind = CollectiveCall::Kind;
  const Shape vector(DType::kF32, {6}), matrix(DType::kI32, {6, 5}), scalar(DType::kF64, {});
  std::vector<CollectiveCall> calls;
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax}) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32,
                              DType::kI1, DType::kC64}) {
      if (!collectives::check_reducible(op, dtype)) continue;
      const Shape array(dtype, {6, 2}), single(dtype, {});
      calls.push_back({.kind = Kind::kAllReduce, .op = op, .shapes = {array, single}});
      calls.push_back({.kind = Kind::kReduceScatter, .op = op, .shapes = {array}});
    }
  }
  calls.push_back({.kind = Kind::kAllGather, .shapes = {vector, matrix, scalar}});
  calls.push_back({.kind = Kind::kAllToAll, .shapes = {vector, matrix}});
  calls.push_back({.kind = Kind::kCollectivePermute,
                   .shapes = {vector, scalar},
                   .pairs = {{Rank{0}, Rank{2}}, {Rank{2}, Rank{1}}}});
  calls.push_back({.kind = Kind::kBroadcast, .root = Rank{1}, .shapes = {vector, scalar}});
  return calls;
}

// Three devices of a runtime.
class Devices {
 public:
  explicit Devices(RuntimeOptions options) : runtime(Runtime::create(std::move(options)).value()) {}

  PooledVector<Buffers> put(const CollectiveCall& call, std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    PooledVector<Buffers> inputs;
    for (const Device& device : runtime.devices()) {
      std::vector<Buffer> buffers;
      for (const Shape& shape : call.shapes) {
        const HostArray array = some_array(shape, random);
        const devices::HostView view{.data = array.bytes().data(),
                                     .shape = shape,
                                     .byte_strides = {},
                                     .owner = array.owner()};
        buffers.push_back(wait_blocking(device.put(view)).value());
      }
      inputs.push_back(Buffers(buffers));
    }
    return inputs;
  }
  // All of them, counted when the devices have ended.
  std::uint64_t close_and_count_fetches() const {
    EXPECT_TRUE(wait_blocking(runtime.close()));
    std::uint64_t sum = 0;
    for (const Device& device : runtime.devices()) sum += device.stats().fetches;
    return sum;
  }
  std::vector<std::vector<HostArray>> fetch(const PooledVector<Buffers>& results) const {
    std::vector<std::vector<HostArray>> arrays;
    for (std::size_t r = 0; r < results.size(); ++r) {
      arrays.emplace_back();
      for (const Buffer& buffer : results[r]) {
        EXPECT_EQ(buffer.device(), runtime.device(r).id());
        const Result<HostArray> array = wait_blocking(runtime.device(r).fetch(buffer));
        EXPECT_TRUE(array) << array.error().to_string();
        if (array) arrays.back().push_back(*array);
      }
    }
    return arrays;
  }

  const Runtime runtime;
};

RuntimeOptions three_of(const std::string& device) {
  RuntimeOptions options;
  options.device = device;
  options.devices = kRanks;
  return options;
}

RuntimeOptions three_of_plugin(const std::string& path, devices::Attributes settings) {
  RuntimeOptions options = three_of("three");
  options.plugins.push_back({.name = "three",
                             .path = path,
                             .settings = std::move(settings),
                             .origin = devices::pjrt::kGivenPlugin});
  return options;
}

RuntimeOptions three_of_ours(const std::string& platform) {
  return three_of_plugin(testing::build_folder() + "/lib/libmillrace_pjrt.so",
                         {{"num_devices", std::int64_t{kRanks}}, {"platform_name", platform}});
}

class PluginCollectivesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PluginCollectivesTest, GiveTheBitsOfTheHostWithoutTheHost) {
  RuntimeOptions options = three_of_ours("accelerator");
  if (GetParam() != "Millrace") {
    const auto plugins = testing::plugins_at_hand();
    const auto found = plugins.find(GetParam());
    if (found == plugins.end()) GTEST_SKIP() << "tests/fetch_plugins gets it";
    options = three_of_plugin(found->second, {{"cpu_device_count", std::int64_t{kRanks}}});
  }
  const Devices theirs(std::move(options)), ours(three_of("cpu"));
  DeviceCollectives programs(theirs.runtime.environment(), theirs.runtime.devices());
  std::uint64_t seed = 1, looked_at = 0;
  for (const CollectiveCall& call : all_calls()) {
    SCOPED_TRACE(call.to_string());
    const auto of_host = wait_blocking(collectives::run_exchange(
        ours.runtime.environment(), call, ours.runtime.devices(), ours.put(call, seed)));
    const auto of_devices = wait_blocking(programs.run(call, theirs.put(call, seed)));
    ASSERT_TRUE(of_host) << of_host.error().to_string();
    ASSERT_TRUE(of_devices) << of_devices.error().to_string();
    const auto expected = ours.fetch(*of_host), given = theirs.fetch(*of_devices);
    for (std::size_t r = 0; r < kRanks; ++r) {
      ASSERT_EQ(given[r].size(), expected[r].size());
      for (std::size_t i = 0; i < given[r].size(); ++i) {
        EXPECT_EQ(given[r][i].shape(), expected[r][i].shape());
        EXPECT_TRUE(std::ranges::equal(given[r][i].bytes(), expected[r][i].bytes()))
            << "array " << i << " of rank " << r;
      }
      looked_at += given[r].size();
    }
    ++seed;
  }
  EXPECT_EQ(theirs.close_and_count_fetches(), looked_at) << "an array went through the host";
}

INSTANTIATE_TEST_SUITE_P(Plugins, PluginCollectivesTest, ::testing::Values("Xla0115", "Millrace"),
                         [](const auto& plugin) { return plugin.param; });

std::uint64_t fetches_of_group(const std::string& platform, bool with_root) {
  const Devices three(three_of_ours(platform));
  const std::vector<ProcessGroup> group =
      ProcessGroup::create(three.runtime.actors(), "three", three.runtime.devices()).value();
  const PooledVector<Buffers> inputs = three.put({.shapes = {Shape(DType::kF32, {4})}}, 1);
  std::vector<Future<Buffers>> results;
  for (std::size_t r = 0; r < kRanks; ++r) {
    results.push_back(with_root ? group[r].gather(inputs[r], Rank{0})
                                : group[r].all_reduce(inputs[r], ReduceOp::kSum));
  }
  for (const Future<Buffers>& result : results) EXPECT_TRUE(wait_blocking(result));
  return three.close_and_count_fetches();
}

TEST(DeviceCollectivesTest, AreOfDevicesWithMemoryOfTheirOwnAndOfCallsWithoutARoot) {
  EXPECT_EQ(fetches_of_group("accelerator", false), 0U);
  EXPECT_EQ(fetches_of_group("accelerator", true), kRanks);
  EXPECT_EQ(fetches_of_group("cpu", false), kRanks);
}

}  // namespace
}  // namespace millrace
