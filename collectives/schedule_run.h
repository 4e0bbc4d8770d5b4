// ScheduleRun: a schedule at work on the arrays of one process, a step at a time. Pure: what it has
// to send is taken out, what has come is put in. Read next: schedule.h; group_wire.h, which runs
// them.
#pragma once

#include <cstddef>
#include <span>

#include "millrace/collectives/reduce.h"
#include "millrace/collectives/schedule.h"
#include "millrace/collectives/scratch.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/net/frame.h"

namespace millrace::collectives {

// What a schedule's slices lie in. The arrays outlive the run.
struct ScheduleArrays {
  PooledVector<std::span<const std::byte>> inputs;  // by the ranks of the process
  PooledVector<std::span<std::byte>> outputs;       // as make_schedule() lists them
};

// How a schedule folds.
struct Folding {
  ReduceOp op = ReduceOp::kSum;
  devices::DType dtype = devices::DType::kU8;
  std::size_t ranks = 1;  // of the group, by which a mean divides
};

// Thread-safety: confined.
class ScheduleRun {
 public:
  enum class Next : std::uint8_t {
    kSend,     // message() is what goes to peer()
    kReceive,  // take() what comes from peer()
    kDone,
  };

  // Slices that lie outside the arrays are CHECKed: both are made from one call.
  ScheduleRun(Schedule schedule, ScheduleArrays arrays, const Folding& folding);

  // Folds and copies up to the next step that needs another process.
  Next advance();
  int peer() const { return step().peer; }
  // The message of a kSend, which is done then, until the next call: where it lies in one piece, of
  // `least` bytes or more. Empty: it does not.
  std::span<const std::byte> whole_message(std::size_t least);
  // The same, put together.
  net::Bytes message();
  // Ends a kReceive; the message may be lent, and is kept if it is needed later. kInvalidArgument:
  // a message of another length, of which nothing was read.
  Status take(net::Frame& message);

 private:
  const Step& step() const { return schedule_.steps[next_]; }
  std::span<const std::byte> readable(const Slice& slice);
  std::span<std::byte> writable(const Slice& slice);
  void fold(const Step& step);

  Schedule schedule_;
  ScheduleArrays arrays_;
  Folding folding_;
  Scratch scratch_;
  std::span<const std::byte> message_;  // of the receive before, for the fold that needs it
  std::size_t next_ = 0;                // step
};

}  // namespace millrace::collectives
