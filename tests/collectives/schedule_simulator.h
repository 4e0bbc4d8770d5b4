// ScheduleSimulator: runs the schedules of all processes of a group, a step of one of them at a
// time in an order drawn from a seed, over channels that hold few messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/reduce.h"
#include "millrace/collectives/schedule.h"

#include <gtest/gtest.h>

namespace millrace::testing {

using Bytes = std::vector<std::byte>;

struct Traffic {
  std::size_t messages_out = 0, messages_in = 0, bytes_out = 0;
};

// Thread-safety: confined.
class ScheduleSimulator {
 public:
  struct Process {
    collectives::Schedule schedule;
    std::vector<Bytes> inputs;   // of its ranks
    std::vector<Bytes> outputs;  // as make_schedule() lists them, zero before
    Bytes scratch = {};
    Bytes message = {};  // of the last receive
    Traffic traffic = {};
    std::size_t next = 0;  // step
    bool runnable = true;
  };

  ScheduleSimulator(collectives::ReduceOp op, devices::DType dtype, std::size_t ranks,
                    std::uint64_t seed)
      : op_(op), dtype_(dtype), ranks_(ranks), random_(seed) {}

  std::vector<Process> processes;

  // False: a deadlock, or a message that does not fit.
  bool run() {
    for (std::size_t p = 0; p < processes.size(); ++p) {
      processes[p].scratch.resize(processes[p].schedule.scratch_bytes);
      runnable_.push_back(p);
    }
    while (!runnable_.empty()) {
      std::swap(runnable_.back(), runnable_[random_() % runnable_.size()]);
      const std::size_t p = runnable_.back();
      if (step(p)) continue;
      processes[p].runnable = false;
      std::erase(runnable_, p);
    }
    for (std::size_t p = 0; p < processes.size(); ++p) {
      if (processes[p].next == processes[p].schedule.steps.size()) continue;
      ADD_FAILURE() << "process " << p << " is stuck in step " << processes[p].next << " of "
                    << processes[p].schedule.steps.size();
      return false;
    }
    for (const auto& [ends, channel] : channels_) {
      if (channel.empty()) continue;
      ADD_FAILURE() << "a message from " << ends.first << " to " << ends.second << " is left";
      return false;
    }
    return !failed_;
  }

 private:
  using Slice = collectives::Slice;

  std::span<std::byte> bytes_of(Process& process, const Slice& slice) {
    Bytes& array = slice.place == Slice::Place::kScratch   ? process.scratch
                   : slice.place == Slice::Place::kMessage ? process.message
                   : slice.place == Slice::Place::kInput
                       ? process.inputs.at(static_cast<std::size_t>(slice.index))
                       : process.outputs.at(static_cast<std::size_t>(slice.index));
    if (slice.begin + slice.bytes > array.size()) {
      ADD_FAILURE() << "a slice ends at " << slice.begin + slice.bytes << " of " << array.size();
      failed_ = true;
      return {};
    }
    return std::span(array).subspan(slice.begin, slice.bytes);
  }
  void wake(std::size_t p) {
    if (!std::exchange(processes[p].runnable, true)) runnable_.push_back(p);
  }
  // False: it cannot run now.
  bool step(std::size_t p) {
    Process& process = processes[p];
    if (failed_ || process.next == process.schedule.steps.size()) return false;
    const collectives::Step& step = process.schedule.steps[process.next];
    const auto slices = process.schedule.slices_of(step);
    using Kind = collectives::Step::Kind;
    if (step.kind == Kind::kSend && !send(p, static_cast<std::size_t>(step.peer), slices))
      return false;
    if (step.kind == Kind::kReceive && !receive(p, static_cast<std::size_t>(step.peer), slices))
      return false;
    if (step.kind == Kind::kCopy)
      std::ranges::copy(bytes_of(process, slices[1]), bytes_of(process, slices[0]).begin());
    if (step.kind == Kind::kFold) fold(process, slices, step.last);
    if (step.kind != Kind::kReceive) process.message.clear();
    ++process.next;
    return true;
  }
  bool send(std::size_t from, std::size_t to, std::span<const Slice> slices) {
    auto& channel = channels_[{from, to}];
    if (channel.size() == collectives::kMostInFlight) return false;
    Bytes message;
    for (const Slice& slice : slices) {
      const auto bytes = bytes_of(processes[from], slice);
      message.insert(message.end(), bytes.begin(), bytes.end());
    }
    ++processes[from].traffic.messages_out;
    processes[from].traffic.bytes_out += message.size();
    channel.push_back(std::move(message));
    wake(to);
    return true;
  }
  bool receive(std::size_t to, std::size_t from, std::span<const Slice> slices) {
    auto& channel = channels_[{from, to}];
    if (channel.empty()) return false;
    const bool is_kept = !slices.empty() && slices[0].place == Slice::Place::kMessage;
    if (is_kept) {
      const auto& steps = processes[to].schedule.steps;
      const std::size_t next = processes[to].next + 1;
      EXPECT_TRUE(next < steps.size() && steps[next].kind == collectives::Step::Kind::kFold)
          << "a message that is not kept is folded at once";
    }
    processes[to].message = is_kept ? channel.front() : Bytes();
    std::size_t at = 0;
    for (const Slice& slice : slices) {
      const auto bytes = bytes_of(processes[to], slice);
      if (at + bytes.size() > channel.front().size()) break;
      std::copy_n(channel.front().begin() + static_cast<long>(at), bytes.size(), bytes.begin());
      at += slice.bytes;
    }
    std::size_t room = 0;
    for (const Slice& slice : slices) room += slice.bytes;
    if (room != channel.front().size()) {
      ADD_FAILURE() << "a message of " << channel.front().size() << " bytes for " << room;
      failed_ = true;
    }
    channel.pop_front();
    ++processes[to].traffic.messages_in;
    wake(from);
    return true;
  }
  void fold(Process& process, std::span<const Slice> slices, bool last) {
    std::vector<const std::byte*> sources;
    for (const Slice& slice : slices.subspan(1)) {
      EXPECT_EQ(slice.bytes, slices[0].bytes);
      sources.push_back(bytes_of(process, slice).data());
    }
    collectives::reduce(last ? op_ : collectives::partial(op_), dtype_, sources,
                        bytes_of(process, slices[0]), nullptr, ranks_);
  }

  const collectives::ReduceOp op_;
  const devices::DType dtype_;
  const std::size_t ranks_;
  std::mt19937_64 random_;
  std::vector<std::size_t> runnable_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<Bytes>> channels_;
  bool failed_ = false;
};

}  // namespace millrace::testing
