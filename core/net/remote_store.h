// RemoteStore: the store of a job whose server is another process, over a connection to it. Read
// next: store_server.h; job.h, which makes both.
//
//  - RS-1 each call completes once: by its answer, its stop or deadline, or the end of the store.
//  - RS-2 a get that ends early is withdrawn at the server.
#pragma once

#include <string>
#include <string_view>

#include "millrace/core/async/key_value_store.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/net/connection.h"

namespace millrace::net {

// Keys have 8 KiB at most and values 8 MiB (kInvalidArgument); the server has bounds, too
// (kResourceExhausted). Futures complete on the connection's home or on the thread of a stop.
// Thread-safety: thread-safe, but take() is confined to home.
class RemoteStore final : public KeyValueStore {
 public:
  // The timers drive the deadlines of gets.
  RemoteStore(Ref<Connection> connection, TimerQueue& timers);
  ~RemoteStore() override;

  Future<std::string> get(std::string_view key, CallOptions call = {}) override;
  Future<std::string> try_get(std::string_view key) override;
  Future<void> put(std::string_view key, std::string_view value) override;

  // An answer, for the connection's sink. An error: it is none, or has no place.
  Status take(Frame frame);
  // From now on calls complete with this error, and so do those that wait. The first one counts.
  void end(const Error& error);

 private:
  class Core;
  const Ref<Core> core_;
};

}  // namespace millrace::net
