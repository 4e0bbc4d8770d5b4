// GroupRun: a collective of a group by the schedules of its processes, in simulation, and what a
// plain computation gives.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "millrace/collectives/make_schedule.h"
#include "tests/collectives/schedule_simulator.h"

#include <gtest/gtest.h>

namespace millrace::testing {

using collectives::CollectiveCall;
using collectives::Rank;
using collectives::RankPair;
using collectives::ReduceOp;
using collectives::ScheduleRequest;
using collectives::Spread;
using devices::DType;
using Kind = CollectiveCall::Kind;

inline std::size_t sz(int number) { return static_cast<std::size_t>(number); }

// One collective of a group in simulation.
struct Case {
  ScheduleRequest request = {};
  std::vector<int> counts = {};  // of the ranks of each process
  ReduceOp op = ReduceOp::kSum;
  DType dtype = DType::kI32;
  std::uint64_t seed = 0;
  std::vector<RankPair> pairs = {};

  Spread spread() const { return Spread(counts); }
  std::size_t bytes() const { return request.elements * request.element_bytes; }
  std::string to_string() const {
    std::string text(collectives::to_string(request.kind));
    text += " by " + std::string(collectives::to_string(request.algorithm)) + ", " +
            std::to_string(request.elements) + " elements, chunks of " +
            std::to_string(request.chunk_bytes) + ", seed " + std::to_string(seed) + ", ranks";
    for (const int count : counts) text += " " + std::to_string(count);
    return text;
  }
};

// The array of a rank: values that f32 and f16 round when they add them, and that wrap nowhere.
inline Bytes array_of(const Case& test, int rank) {
  Bytes bytes(test.bytes());
  std::mt19937_64 random(test.seed * 1000 + sz(rank));
  for (std::size_t i = 0; i < test.request.elements; ++i) {
    const auto drawn = static_cast<std::int32_t>(random() % 2000) - 1000;
    std::byte* const to = bytes.data() + i * test.request.element_bytes;
    if (test.dtype == DType::kF32) {
      const float value = static_cast<float>(drawn) / 7.0F;
      std::memcpy(to, &value, 4);
    } else if (test.dtype == DType::kF16) {
      const auto value = static_cast<std::uint16_t>(0x3000 + random() % 0x1000);
      std::memcpy(to, &value, 2);
    } else {
      std::memcpy(to, &drawn, 4);
    }
  }
  return bytes;
}

class GroupRun {
 public:
  explicit GroupRun(const Case& test)
      : test_(test), spread_(test.counts), simulator_(test.op, test.dtype, ranks(), test.seed) {
    for (int r = 0; r < spread_.ranks(); ++r) arrays_.push_back(array_of(test, r));
    ScheduleRequest request = test.request;
    request.pairs = test_.pairs;
    for (int p = 0; p < spread_.processes(); ++p) {
      ScheduleSimulator::Process process;
      process.schedule = collectives::make_schedule(request, spread_, p).value();
      for (int d = 0; d < spread_.count(p); ++d) {
        const bool empty =
            test.request.kind == Kind::kScatter && Rank{spread_.first(p) + d} != request.root;
        process.inputs.push_back(empty ? Bytes() : arrays_[sz(spread_.first(p) + d)]);
        process.outputs.emplace_back(output_bytes());
      }
      simulator_.processes.push_back(std::move(process));
    }
    done_ = simulator_.run();
  }

  // Every output of every process is that of the plain computation, to the bit; of kinds that
  // round, only equal everywhere and close to it.
  void check(bool to_the_bit) {
    ASSERT_TRUE(done_);
    for (int r = 0; r < spread_.ranks(); ++r) {
      const int process = spread_.process_of(Rank{r});
      const bool shared = test_.request.kind == Kind::kAllReduce ||
                          test_.request.kind == Kind::kAllGather ||
                          test_.request.kind == Kind::kBroadcast;
      if (test_.request.kind == Kind::kGather && Rank{r} != test_.request.root) continue;
      const bool root_here = process == spread_.process_of(test_.request.root);
      if (test_.request.kind == Kind::kBroadcast && root_here) continue;
      const bool first = shared || test_.request.kind == Kind::kGather;
      const Bytes& out =
          simulator_.processes[sz(process)].outputs[first ? 0 : sz(r - spread_.first(process))];
      if (to_the_bit) {
        ASSERT_EQ(out, expected(r)) << "rank " << r;
      } else {
        expect_close(out, expected(r));
        if (shared) {
          ASSERT_EQ(out, simulator_.processes[0].outputs[0]) << "rank " << r;
        }
      }
    }
  }
  const std::vector<ScheduleSimulator::Process>& processes() const { return simulator_.processes; }
  const Traffic& traffic(int process) const { return processes()[sz(process)].traffic; }

 private:
  std::size_t ranks() const { return sz(spread_.ranks()); }
  std::size_t output_bytes() const {
    const Kind kind = test_.request.kind;
    if (kind == Kind::kAllGather || kind == Kind::kGather) return ranks() * test_.bytes();
    if (kind == Kind::kReduceScatter || kind == Kind::kScatter) return test_.bytes() / ranks();
    return kind == Kind::kBarrier ? 0 : test_.bytes();
  }
  Bytes reduced() const {
    std::vector<const std::byte*> inputs;
    for (const Bytes& array : arrays_) inputs.push_back(array.data());
    Bytes out(test_.bytes());
    collectives::reduce(test_.op, test_.dtype, inputs, out);
    return out;
  }
  static Bytes part(const Bytes& whole, std::size_t which, std::size_t bytes) {
    const auto begin = whole.begin() + static_cast<long>(which * bytes);
    return Bytes(begin, begin + static_cast<long>(bytes));
  }
  Bytes expected(int rank) const {
    const std::size_t part_bytes = test_.bytes() / ranks();
    Bytes joined;
    switch (test_.request.kind) {
      case Kind::kAllReduce:
        return reduced();
      case Kind::kReduceScatter:
        return part(reduced(), sz(rank), part_bytes);
      case Kind::kBroadcast:
        return arrays_[collectives::at(test_.request.root)];
      case Kind::kScatter:
        return part(arrays_[collectives::at(test_.request.root)], sz(rank), part_bytes);
      case Kind::kAllToAll:
        for (const Bytes& array : arrays_) {
          const Bytes mine = part(array, sz(rank), part_bytes);
          joined.insert(joined.end(), mine.begin(), mine.end());
        }
        return joined;
      case Kind::kCollectivePermute:
        joined.resize(test_.bytes());
        for (const RankPair& pair : test_.pairs) {
          if (pair.target == Rank{rank}) joined = arrays_[collectives::at(pair.source)];
        }
        return joined;
      default:
        for (const Bytes& array : arrays_) joined.insert(joined.end(), array.begin(), array.end());
        return joined;
    }
  }
  void expect_close(const Bytes& out, const Bytes& plain) const {
    ASSERT_EQ(out.size(), plain.size());
    for (std::size_t i = 0; i + 4 <= out.size(); i += 4) {
      float a, b;
      std::memcpy(&a, out.data() + i, 4);
      std::memcpy(&b, plain.data() + i, 4);
      ASSERT_NEAR(a, b, 0.01) << "element " << i / 4;
    }
  }

  const Case& test_;
  const Spread spread_;
  std::vector<Bytes> arrays_;  // by rank
  ScheduleSimulator simulator_;
  bool done_ = false;
};

}  // namespace millrace::testing
