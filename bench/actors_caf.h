// The peer of actors.cc: the same messages through CAF, the C++ Actor Framework. A file of its own,
// since CAF is not always there.
#pragma once

#include <memory>

namespace millrace::bench {

// Thread-safety: confined.
class CafPeer {
 public:
  virtual ~CafPeer() = default;
  // Two threads send `messages` each to one actor; seconds until it has seen all.
  virtual double fan_in_seconds(int messages) = 0;
  // Two actors send one message back and forth.
  virtual double ping_pong_seconds(int round_trips) = 0;
  // Idle actors, which stay until the end of the process.
  virtual void spawn_idle(int actors) = 0;
};

// nullptr: this was built without CAF. workers: threads of its scheduler.
std::unique_ptr<CafPeer> make_caf_peer(int workers);

}  // namespace millrace::bench
