// What a program does that uses the public headers alone (Runtime, Device, execute, fetch): the
// calls of the figures user.*, the same for each device. Read next: user.cc, which has their peers.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bench/figure.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/graph.h"
#include "millrace/millrace.h"

namespace millrace::bench {

// The work that ours and the peers do.
inline constexpr int kCalls = 3000;
inline constexpr int kChain = 1000;
inline constexpr int kChains = 3;
inline constexpr int kDeepChain = 10000;
inline constexpr int kLargeCalls = 5;
inline constexpr std::int64_t kLarge = (std::int64_t{64} << 20) / 4;  // elements, f32

// The value, or the end of the program.
template <class T>
T need(Result<T> result) {
  if (!result) give_up("user", result.error().to_string());
  return *std::move(result);
}
template <class T>
T wait(const Future<T>& future) {
  return need(wait_blocking(future));
}
inline void wait(const Future<void>& done) {
  if (const Status& status = wait_blocking(done); !status)
    give_up("user", status.error().to_string());
}

// Made of its argument when it is first used: figures that nothing asked for open no device.
// Thread-safety: confined.
template <class T, class Argument = RuntimeOptions>
class Lazy {
 public:
  explicit Lazy(Argument argument) : argument_(std::move(argument)) {}
  const T* operator->() {
    if (!made_) made_.emplace(argument_);
    return &*made_;
  }

 private:
  const Argument argument_;
  std::optional<T> made_;
};

// Calls a second, in millions, of so many threads, counted from when all of them are under way.
double calls_rate(int threads, const std::function<void()>& call);

// A runtime with x + 1 of four floats on its first device. Latencies are of calls that are waited
// for, in microseconds, of chains per step. Thread-safety: thread-safe.
class User {
 public:
  explicit User(const RuntimeOptions& options);

  // x + 1; with a deadline a plugin is called by the thread of its device.
  Measured dispatch(const CallOptions& call = {}) const;
  // Each x + 1 on the output of the one before, waited for at the end: by futures of buffers, by
  // handles that are waited for, in a coroutine on the runtime's threads.
  Measured chain() const;
  // All steps are submitted before the input of the first is there.
  Measured chain_behind() const;
  Measured chain_by_handles() const;
  Measured chain_by_co_await() const;
  // A float there and back.
  Measured put_fetch() const;
  // Lent bytes, until they are on the device, in milliseconds.
  Measured put_large() const;
  Measured fetch_large() const;
  // Millions a second.
  Measured dispatches(int threads) const;
  // Put, execute and fetch as a recorded graph, and one after the other.
  Measured graph_replay() const;
  Measured graph_parts() const;

 private:
  struct Replay {
    Graph graph;
    Slot<HostArray> back;
  };
  static Replay make_replay(const Device& device, const Executable& program);
  const Device& device() const { return runtime_.device(0); }
  void dispatch_once(const CallOptions& call = {}) const;
  Task<Buffer> awaited_chain() const;

  Runtime runtime_;
  Executable program_;
  Buffer x_;
  Replay replay_;
};

// A runtime of two devices, which add a float of each.
class Pair {
 public:
  explicit Pair(RuntimeOptions options);
  ~Pair();
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  Measured all_reduce() const;

 private:
  Runtime runtime_;
  std::vector<collectives::ProcessGroup> ranks_;
  std::vector<Buffers> inputs_;
};

}  // namespace millrace::bench
