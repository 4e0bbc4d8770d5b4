// SinkTable: which sink takes the frames of a mesh, by their kind and channel. Read next: inbox.h.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/core/async/future.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/net/frame.h"

namespace millrace::net {

// Called on the home executor. For each sender and each (kind, channel) one call at a time: the
// next is made once the future that it returns is complete; an empty future: at once. An error says
// that the frame has no place: the link to the sender ends as after a protocol error.
using MeshSink = std::function<Future<void>(std::uint32_t from, Frame)>;

// Frames that a sink takes: of a kind from kFirstOfUsers on, and of one channel or of all that have
// no sink of their own.
struct Route {
  FrameKind kind = FrameKind::kFirstOfUsers;
  std::optional<std::uint64_t> channel = std::nullopt;
};

// Whether a sink is given long payloads where they arrived (Frame::lent). They end with its call,
// also where that returns a future that is not complete.
enum class Payloads : std::uint8_t { kOwn, kMayBeLent };

// Thread-safety: thread-safe.
class SinkTable {
 public:
  struct Entry {
    MeshSink sink;
    Payloads payloads;
  };
  using Found = std::shared_ptr<const Entry>;

  // In place of an earlier one; an empty sink erases it. kind: CHECKed.
  void set(const Route& route, MeshSink sink, Payloads payloads = Payloads::kOwn);
  Found find(FrameKind kind, std::uint64_t channel) const;
  void clear();

 private:
  static constexpr std::size_t kFirst = std::to_underlying(FrameKind::kFirstOfUsers);

  mutable Mutex mutex_;
  std::array<Found, 256 - kFirst> kinds_ MILLRACE_GUARDED_BY(mutex_);
  std::map<std::pair<FrameKind, std::uint64_t>, Found> channels_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::net
