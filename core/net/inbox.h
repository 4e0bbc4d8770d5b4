// Inbox: what has come from one rank in one epoch, on its way to the sinks. Frames whose sink is
// there and free go to it at once; others wait in a lane of their kind and channel, so that a sink
// that takes its time, or is not there yet, holds up no other. What waits is bounded. Read next:
// mesh.h.
//
//  - IN-1 frames of a lane reach its sink in the order in which they came, one at a time.
//  - IN-2 beyond `limit` bytes (by less than one frame) take() makes its caller wait.
//  - IN-3 once it is closed no sink is called, and its caller waits no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/sink_table.h"

namespace millrace::net {

// States: open -> draining (what has no sink, or is beyond the limit, is dropped) -> closed. Kept
// by what feeds it and by the sinks that it waits for. Thread-safety: confined to home.
class Inbox final : public RefCounted {
 public:
  // refuse: called once, with the error of a sink; the inbox is closed then.
  Inbox(std::uint32_t from, const SinkTable& sinks, Executor& home, std::size_t limit,
        std::function<void(const Error&)> refuse)
      : from_(from), sinks_(sinks), home_(home), limit_(limit), refuse_(std::move(refuse)) {}

  // Empty: the next may come at once; else when the future is complete. One call at a time.
  Future<void> take(Frame frame);
  // Sinks were added: frames that waited for them go on.
  void look_again();
  void drain();
  void close();

  std::size_t held_bytes() const { return held_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  enum class State : std::uint8_t {
    kOpen,      // -> kDraining | kClosed
    kDraining,  // -> kClosed
    kClosed,    // final
  };
  using Key = std::pair<FrameKind, std::uint64_t>;
  struct Lane {
    PooledDeque<Frame> waiting = {};
    bool busy = false;  // its sink has a frame
  };
  using Lanes = std::map<Key, Lane>;

  void move(State to);
  void hold(Lane& lane, Frame frame);
  Frame take_first(Lane& lane);
  bool give(const SinkTable::Entry& to, Lanes::iterator lane, Frame frame);
  void run(Lanes::iterator lane);
  void take_result(const Key& key, const Result<void>& result);
  void fail(const Error& error);
  void drop_waiting(Lane& lane);
  void make_room();

  const std::uint32_t from_;
  const SinkTable& sinks_;  // outlives every call of this
  Executor& home_;
  const std::size_t limit_;
  std::function<void(const Error&)> refuse_;
  State state_ = State::kOpen;
  Lanes lanes_;  // that are busy, or where frames wait
  std::size_t held_ = 0;
  std::uint64_t dropped_ = 0;
  std::optional<Promise<void>> room_;  // take() waits for it
};

}  // namespace millrace::net
