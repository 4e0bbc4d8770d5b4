// Collectives of a group on three devices of a plugin, of XLA's and of our own: what they give is
// what they give on the CPU device, to the bit, and no array goes through the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/tools/api/runtime.h"
#include "tests/support/paths.h"
#include "tests/support/plugins.h"

namespace millrace {
namespace {

using collectives::ProcessGroup;
using collectives::Rank;
using collectives::RankPair;
using collectives::ReduceOp;
using devices::Buffer;
using devices::Buffers;
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

struct Asked {
  std::string name;
  std::vector<Shape> shapes;
  std::function<Future<Buffers>(const ProcessGroup&, const Buffers&)> call;
};

std::vector<Asked> all_calls() {
  const Shape vector(DType::kF32, {6}), matrix(DType::kI32, {6, 5}), scalar(DType::kF64, {});
  std::vector<Asked> calls;
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax}) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32,
                              DType::kI1, DType::kC64}) {
      if (!collectives::check_reducible(op, dtype)) continue;
      const std::string name =
          std::string(to_string(op)) + " of " + Shape(dtype, {6, 2}).to_string();
      calls.push_back(
          {"all_reduce " + name,
           {Shape(dtype, {6, 2}), Shape(dtype, {})},
           [op](const ProcessGroup& g, const Buffers& b) { return g.all_reduce(b, op); }});
      calls.push_back(
          {"reduce_scatter " + name,
           {Shape(dtype, {6, 2})},
           [op](const ProcessGroup& g, const Buffers& b) { return g.reduce_scatter(b, op); }});
    }
  }
  calls.push_back({"all_gather",
                   {vector, matrix, scalar},
                   [](const ProcessGroup& g, const Buffers& b) { return g.all_gather(b); }});
  calls.push_back({"all_to_all", {vector, matrix}, [](const ProcessGroup& g, const Buffers& b) {
                     return g.all_to_all(b);
                   }});
  calls.push_back(
      {"collective_permute", {vector, scalar}, [](const ProcessGroup& g, const Buffers& b) {
         return g.collective_permute(b, {RankPair{Rank{0}, Rank{2}}, RankPair{Rank{2}, Rank{1}}});
       }});
  calls.push_back({"broadcast", {vector, scalar}, [](const ProcessGroup& g, const Buffers& b) {
                     return g.broadcast(b, Rank{1});
                   }});
  return calls;
}

// What every call gives every rank.
class Group {
 public:
  explicit Group(RuntimeOptions options) : runtime(Runtime::create(std::move(options)).value()) {
    members = ProcessGroup::create(runtime.actors(), "three", runtime.devices()).value();
  }
  std::vector<std::vector<HostArray>> run(const Asked& asked, std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<Future<Buffers>> results;
    for (int r = 0; r < kRanks; ++r) {
      std::vector<Buffer> buffers;
      for (const Shape& shape : asked.shapes) {
        const HostArray array = some_array(shape, random);
        buffers.push_back(wait_blocking(runtime.device(r).put({.data = array.bytes().data(),
                                                               .shape = shape,
                                                               .byte_strides = {},
                                                               .owner = array.owner()}))
                              .value());
      }
      results.push_back(asked.call(members[static_cast<std::size_t>(r)], Buffers(buffers)));
    }
    std::vector<std::vector<HostArray>> arrays(kRanks);
    fetches = 0;
    for (int r = 0; r < kRanks; ++r) fetches -= fetched[static_cast<std::size_t>(r)];
    for (int r = 0; r < kRanks; ++r) {
      const Result<Buffers> given = wait_blocking(results[static_cast<std::size_t>(r)]);
      EXPECT_TRUE(given) << asked.name << ": " << given.error().to_string();
      fetches += runtime.device(r).stats().fetches;
      if (!given) continue;
      for (const Buffer& buffer : *given) {
        EXPECT_EQ(buffer.device(), runtime.device(r).id());
        const Result<HostArray> array = wait_blocking(runtime.device(r).fetch(buffer));
        EXPECT_TRUE(array) << asked.name << ": " << array.error().to_string();
        ++fetched[static_cast<std::size_t>(r)];
        if (array) arrays[static_cast<std::size_t>(r)].push_back(*array);
      }
    }
    return arrays;
  }
  Runtime runtime;
  std::vector<ProcessGroup> members;
  mutable std::uint64_t fetches = 0;  // of the call: before the results were fetched
  mutable std::uint64_t fetched[kRanks] = {};
};

class PluginCollectivesTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Empty where the plugin is not there.
  static std::optional<RuntimeOptions> options() {
    RuntimeOptions options;
    options.device = "three";
    options.devices = kRanks;
    const bool is_ours = GetParam() == "Millrace";
    std::string path = testing::build_folder() + "/lib/libmillrace_pjrt.so";
    if (!is_ours) {
      const auto plugins = testing::plugins_at_hand();
      const auto found = plugins.find(GetParam());
      if (found == plugins.end()) return std::nullopt;
      path = found->second;
    }
    options.plugins.push_back(
        {.name = "three",
         .path = path,
         .settings = {{is_ours ? "num_devices" : "cpu_device_count", std::int64_t{kRanks}}},
         .origin = devices::pjrt::kGivenPlugin});
    return options;
  }
};

TEST_P(PluginCollectivesTest, GiveTheBitsOfTheCpuDeviceWithoutTheHost) {
  auto on_plugin = options();
  if (!on_plugin) GTEST_SKIP() << "tests/fetch_plugins gets it";
  const Group theirs(std::move(*on_plugin));
  RuntimeOptions on_cpu;
  on_cpu.device = "cpu";
  on_cpu.devices = kRanks;
  const Group ours(std::move(on_cpu));
  std::uint64_t seed = 1;
  for (const Asked& asked : all_calls()) {
    SCOPED_TRACE(asked.name);
    const auto expected = ours.run(asked, seed), given = theirs.run(asked, seed);
    EXPECT_EQ(theirs.fetches, 0u) << "an array went through the host";
    for (std::size_t r = 0; r < kRanks; ++r) {
      ASSERT_EQ(given[r].size(), expected[r].size());
      for (std::size_t i = 0; i < given[r].size(); ++i) {
        EXPECT_EQ(given[r][i].shape(), expected[r][i].shape());
        EXPECT_TRUE(std::ranges::equal(given[r][i].bytes(), expected[r][i].bytes()))
            << "array " << i << " of rank " << r;
      }
    }
    ++seed;
  }
}

// A gather has a root, so it goes through the host; a rank whose device has failed is named either
// way.
TEST_P(PluginCollectivesTest, WhatNoProgramDoesGoesThroughTheHost) {
  auto on_plugin = options();
  if (!on_plugin) GTEST_SKIP() << "tests/fetch_plugins gets it";
  const Group group(std::move(*on_plugin));
  const auto given =
      group.run({"gather",
                 {Shape(DType::kI32, {2})},
                 [](const ProcessGroup& g, const Buffers& b) { return g.gather(b, Rank{1}); }},
                7);
  EXPECT_EQ(given[0].size(), 0u);
  ASSERT_EQ(given[1].size(), 1u);
  EXPECT_EQ(given[1][0].shape(), Shape(DType::kI32, {6}));
}

INSTANTIATE_TEST_SUITE_P(Plugins, PluginCollectivesTest, ::testing::Values("Xla0115", "Millrace"),
                         [](const auto& plugin) { return plugin.param; });

}  // namespace
}  // namespace millrace
