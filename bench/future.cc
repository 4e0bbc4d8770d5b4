// future.make_set_then: a promise is made, its future gets a continuation, the value is set and the
// continuation has seen it, in one thread. The peer is what the standard library has for that:
// std::promise, whose future is read.
#include "millrace/core/async/future.h"

#include <cstdint>
#include <future>

#include "bench/figure.h"

namespace millrace::bench {
namespace {

constexpr int kFutures = 400000;

double ours_ns() {
  std::int64_t sum = 0;
  const double seconds = seconds_of([&] {
    for (int i = 0; i < kFutures; ++i) {
      Promise<int> promise;
      promise.future()
          .then(inline_executor(), [&sum](const Result<int>& value) { sum += *value; })
          .ignore();
      promise.set(i);
    }
  });
  if (sum != std::int64_t{kFutures} * (kFutures - 1) / 2) give_up("future", "a value was lost");
  return seconds * 1e9 / kFutures;
}

double peer_ns() {
  std::int64_t sum = 0;
  const double seconds = seconds_of([&] {
    for (int i = 0; i < kFutures; ++i) {
      std::promise<int> promise;
      std::future<int> future = promise.get_future();
      promise.set_value(i);
      sum += future.get();
    }
  });
  if (sum != std::int64_t{kFutures} * (kFutures - 1) / 2) give_up("std::future", "lost a value");
  return seconds * 1e9 / kFutures;
}

void measure(Session& session) {
  session.measure({.name = "future.make_set_then",
                   .unit = "ns",
                   .peer = "std::promise and std::future",
                   .goal = Goal::kAtMost,
                   .limit = 0.25},
                  ours_ns, peer_ns);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
