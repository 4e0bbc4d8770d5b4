// ScheduleBuilder: writes the steps of a schedule; and what the algorithms have in common. Inside
// make_schedule.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "millrace/collectives/schedule.h"

namespace millrace::collectives {

using Slices = std::vector<Slice>;
// Messages of one process to another, in their order.
using Messages = std::vector<Slices>;

// What every algorithm is given. Lives as long as one make_schedule().
struct ScheduleParts {
  const ScheduleRequest& request;
  const Spread& spread;
  const int self;

  int processes() const { return spread.processes(); }
  std::size_t ranks_here() const { return static_cast<std::size_t>(spread.count(self)); }
  std::size_t array_bytes() const { return request.elements * request.element_bytes; }
  // The process so many after this one, around.
  int after(int steps) const { return wrap(self + steps); }
  int wrap(int process) const {
    const int size = processes();
    return ((process % size) + size) % size;
  }
  bool sends_partial(int process) const {
    return process == 0 && request.exact_folds && spread.count(0) > 1;
  }
};

// Thread-safety: external.
class ScheduleBuilder {
 public:
  void send(int peer, std::span<const Slice> message) {
    add({Step::Kind::kSend, false, peer}, message);
  }
  void receive(int peer, std::span<const Slice> into) {
    add({Step::Kind::kReceive, false, peer}, into);
  }
  void fold(const Slice& target, std::span<const Slice> sources, bool last);
  void copy(const Slice& target, const Slice& source);
  // So much more scratch.
  Slice scratch(std::size_t bytes);
  Schedule take() { return std::move(schedule_); }

 private:
  void add(Step step, std::span<const Slice> slices);

  Schedule schedule_;
};

// Cuts what is sent as one into messages of at most so many bytes.
Messages cut(const Slices& whole, std::size_t most_bytes);

// Sends a message of each of `out`, and receives one of each of `in`, in turn; both by process.
void exchange(ScheduleBuilder& builder, const ScheduleParts& parts, std::span<const Messages> out,
              std::span<const Messages> in);

// Each algorithm is one function: schedule_reduce.cc.
void add_direct_reduce(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_ring_reduce(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_doubling_reduce(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_tree_reduce(ScheduleBuilder& builder, const ScheduleParts& parts);
// schedule_move.cc: what only moves bytes.
void add_direct_moves(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_ring_gather(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_doubling_gather(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_ring_broadcast(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_tree_broadcast(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_direct_barrier(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_doubling_barrier(ScheduleBuilder& builder, const ScheduleParts& parts);
void add_tree_barrier(ScheduleBuilder& builder, const ScheduleParts& parts);

}  // namespace millrace::collectives
