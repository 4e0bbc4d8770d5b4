// The end of a Runtime: everything in the reverse order of its making. What a plugin has begun and
// does not end is waited for as long as RuntimeOptions::close_timeout says; calls of its functions
// that do not return, a quarter of that longer. Their threads cannot be ended, so what they use is
// left behind. All waits together take twice that time at most (Core::quarter).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"
#include "millrace/tools/api/runtime_core.h"

namespace millrace {

namespace {

std::atomic<bool> any_left_behind{false};

}  // namespace

bool Runtime::left_behind() { return any_left_behind.load(); }

struct Runtime::Core::Kept {
  Mutex mutex;
  std::vector<std::unique_ptr<Core>> cores MILLRACE_GUARDED_BY(mutex);

  static Kept& all() {
    static Kept* const kept = new Kept;  // never destroyed, nor what it holds
    return *kept;
  }
};

void Runtime::Core::keep(std::unique_ptr<Core> core) {
  if (core->given_up) any_left_behind.store(true);
  Kept& kept = Kept::all();
  MutexLock lock(kept.mutex);
  kept.cores.push_back(std::move(core));
}

Future<void> Runtime::Core::until(const Future<void>& future, TimePoint limit) const {
  if (!calls_may_block()) return future;  // ours always end
  return with_deadline(future, limit, *environment.timers);
}

void Runtime::Core::give_up() {
  if (given_up) return;
  const std::string calls = calls_under_way();
  std::string names;
  for (const std::unique_ptr<Kind>& kind : kinds) {
    if (!kind->name.empty()) names += (names.empty() ? "" : "' or '") + kind->name;
  }
  const auto seconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.close_timeout).count() / 1e3;
  given_up = Error(ErrorCode::kDeadlineExceeded,
                   "closing has waited more than " + std::to_string(seconds) +
                       " s for what has not returned: " +
                       (!calls.empty()  ? calls
                        : names.empty() ? "what frees for a plugin that was not opened"
                                        : "a thread of '" + names + "'") +
                       "; its threads, and what they use, are left until the process ends");
  MILLRACE_LOG(kError, "runtime", given_up->message());
  if (!first_error) first_error = given_up;
  for (const std::unique_ptr<Kind>& kind : kinds) {
    if (kind->client) kind->client->give_up(*given_up);
  }
  stop_waiting.request_stop();
}

Task<void> Runtime::Core::close_devices() {
  const TimePoint limit = environment.clock->now() + options.close_timeout;
  const double seconds = std::chrono::duration<double>(options.close_timeout).count();
  const Error late(ErrorCode::kDeadlineExceeded,
                   "closing has waited " + std::to_string(seconds) + " s for it");
  const Future<void> compiled = compilations.close();
  std::vector<Future<void>> ends;
  for (const devices::Device& device : devices) ends.push_back(device.close());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    co_await until(ends[i], limit);
    if (!ends[i].ready()) static_cast<void>(devices[i].kill(late));
  }
  co_await until(compiled, limit);
  // Events that do not come have ended with the kill; a call that has not returned has not.
  const TimePoint last = environment.clock->now() + quarter();
  bool stuck = !compiled.ready();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    co_await until(ends[i], last);
    stuck = stuck || !ends[i].ready();
  }
  if (stuck) {
    first_error.reset();  // this one says more
    give_up();
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].ready()) {
      note(ends[i].result());
    } else {
      devices[i].body()->give_up(*given_up);
    }
  }
  if (compiled.ready()) note(compiled.result());
}

// An actor stops when its handlers and hooks have ended. What these have to do is waited for, but
// not what they wait for on the timers, now or next (an on_stop that sleeps): that ends with
// kAborted. Other timers run on: the watch over handlers and the grace of loaders are needed here.
Task<void> Runtime::Core::close_actors() {
  const Future<void> closed = actors->close();
  TimerQueue& timers = *environment.timers;
  while (!closed.ready()) {
    co_await with_deadline(closed, environment.clock->now() + kEndOfWaits, timers);
    if (!closed.ready()) timers.drop_waits();
  }
  note(closed.result());
}

// Each of the threads that may be in a call of a plugin is waited for in time: buffers are freed on
// any of them.
Task<void> Runtime::Core::close_threads() {
  const TimePoint last = environment.clock->now() + quarter();
  std::vector<Future<void>> ends;
  for (const std::unique_ptr<PoolExecutor>& pool : device_pools) ends.push_back(pool->close());
  for (const Future<void>& end : ends) {
    co_await until(end, last);
  }
  // Each sleep completes on its own executor.
  if (environment.timers != nullptr) environment.timers->drop_pending();
  // What the ends above have set in motion runs before its executor drops the rest.
  if (compute) {
    const Future<void> settled = make_ready().then(*compute, [](const Status&) {});
    co_await until(settled, last);
    ends.push_back(compute->close());
    co_await until(ends.back(), last);
  }
  if (trace_file) {
    const Future<void> written = trace_file->close();
    note(co_await until(written, last));
  }
  if (blocking) {
    ends.push_back(blocking->close());
    co_await until(ends.back(), last);
  }
  for (const Future<void>& end : ends) {
    if (end.ready()) {
      note(end.result());
    } else {
      give_up();
    }
  }
}

Duration Runtime::Core::time_for_frees() const {
  const bool any =
      std::ranges::any_of(kinds, [](const auto& kind) { return kind->client != nullptr; });
  return any ? std::max(2 * options.close_timeout - closing_took, quarter()) : quarter();
}

// Where a client was not opened, the thread for what frees may be blocked in the end of that
// client.
void Runtime::Core::destroy_clients() {
  const CallOptions limit{.stop = {}, .deadline = steady_clock().now() + time_for_frees()};
  for (const std::unique_ptr<PoolExecutor>& before : frees_before) {
    if (!given_up && !wait_until(before->close(), limit)) give_up();
  }
  if (given_up) return;
  devices.clear();
  std::vector<Future<void>> ends;  // at once, as in close_all()
  for (const std::unique_ptr<Kind>& kind : kinds) {
    ends.push_back(!kind->frees   ? make_ready()
                   : kind->client ? kind->client->destroy()
                                  : kind->frees->close());
  }
  for (std::size_t i = 0; i < kinds.size() && !given_up; ++i) {
    if (kinds[i]->frees) finish_client(*kinds[i], ends[i], limit);
  }
}

void Runtime::Core::finish_client(Kind& kind, const Future<void>& end, const CallOptions& limit) {
  if (!wait_until(end, limit)) return give_up();
  const Status& ended = end.result();
  kind.held = kind.client && !ended && ended.error().code() == ErrorCode::kFailedPrecondition;
  if (kind.held) MILLRACE_LOG(kInfo, "runtime", ended.error().message());
  if (kind.held || !kind.client) return;
  // Its end has reported, on that thread, the release of memory that was lent to it.
  kind.client.reset();
  const Future<void> reported = make_ready().then(*kind.frees, [](const Status&) {});
  if (!wait_until(reported, limit)) give_up();
}

bool Runtime::Core::held() const {
  return std::ranges::any_of(kinds, [](const auto& kind) { return kind->held; });
}

void Runtime::Core::end_held() {
  std::vector<std::unique_ptr<Core>> ending;
  {
    Kept& kept = Kept::all();
    MutexLock lock(kept.mutex);
    for (std::unique_ptr<Core>& core : kept.cores) {
      if (!core->given_up) ending.push_back(std::move(core));
    }
    std::erase(kept.cores, nullptr);
  }
  for (std::unique_ptr<Core>& core : ending) {
    core->destroy_clients();
    if (core->given_up || core->held()) keep(std::move(core));
  }
}

Task<void> Runtime::Core::close_all(CallOptions call) {
  const TimePoint begin = environment.clock->now();
  // Nothing is left out because something before it failed: the first error is returned when all is
  // over. Parts that make() did not reach are empty.
  // What waits for another process ends: the devices wait for it. Nothing reaches others any more.
  close_links();
  if (actors::RemoteActors* const reached = remote_here()) note(co_await reached->close());
  Task<void> devices_end = close_devices();
  note(co_await std::move(devices_end));
  if (actors) {
    Task<void> actors_end = close_actors();
    note(co_await std::move(actors_end));
  }
  if (watch) note(co_await watch->close());
  std::vector<Future<void>> closed;  // at once, so that together they take no longer than one may
  for (const std::unique_ptr<Kind>& kind : kinds)
    closed.push_back(kind->client ? kind->client->close() : make_ready());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Status end = co_await closed[i];
    note(end);
    if (kinds[i]->client && kinds[i]->client->given_up() && !given_up) given_up = end.error();
  }
  Task<void> threads_end = close_threads();
  note(co_await std::move(threads_end));
  if (loop) note(co_await loop->close());
  if (loop_timers) note(co_await loop_timers->close());
  Task<void> links_end = drain_links();
  note(co_await std::move(links_end));
  if (job) note(co_await job->close(call));
  closing_took = environment.clock->now() - begin;
  if (first_error) co_await end_with(*first_error);
}

}  // namespace millrace
