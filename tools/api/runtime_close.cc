// The end of a Runtime: everything in the reverse order of its making. What a plugin has begun and
// does not end is waited for as long as RuntimeOptions::close_timeout says; calls of its functions
// that do not return, a quarter of that longer. Their threads cannot be ended, so what they use is
// left behind. All waits together take twice that time at most (Core::kClientShare).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/combinators.h"
#include "millrace/core/ends_in_time.h"
#include "millrace/core/log.h"
#include "millrace/devices/device_actor.h"
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

std::vector<std::unique_ptr<Runtime::Core>> Runtime::Core::take_held() {
  Kept& kept = Kept::all();
  MutexLock lock(kept.mutex);
  const auto held = std::ranges::stable_partition(
      kept.cores, [](const std::unique_ptr<Core>& core) { return core->given_up.has_value(); });
  std::vector<std::unique_ptr<Core>> taken(std::make_move_iterator(held.begin()),
                                           std::make_move_iterator(held.end()));
  kept.cores.erase(held.begin(), held.end());
  return taken;
}

Future<void> Runtime::Core::until(const Future<void>& future, TimePoint limit) const {
  if (!client || !client->calls_may_block()) return future;  // ours always end
  return with_deadline(future, limit, *environment.timers);
}

void Runtime::Core::give_up() {
  if (given_up) return;
  const std::string calls = client ? client->calls_under_way() : "";
  const auto seconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.close_timeout).count() / 1e3;
  given_up = Error(ErrorCode::kDeadlineExceeded,
                   "closing has waited more than " + std::to_string(seconds) +
                       " s for what has not returned: " +
                       (!calls.empty()        ? calls
                        : device_kind.empty() ? "what frees for a plugin that was not opened"
                                              : "a thread of '" + device_kind + "'") +
                       "; its threads, and what they use, are left until the process ends");
  MILLRACE_LOG(kError, "runtime", given_up->message());
  if (!first_error) first_error = given_up;
  if (client) client->give_up(*given_up);
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
    const Future<void> ended = until(ends[i], limit);
    co_await ended;
    if (!ends[i].ready()) static_cast<void>(devices[i].kill(late));
  }
  const Future<void> done = until(compiled, limit);
  co_await done;
  // Events that do not come have ended with the kill; a call that has not returned has not.
  const TimePoint last = environment.clock->now() + options.close_timeout / kCallsShare;
  bool stuck = !compiled.ready();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Future<void> ended = until(ends[i], last);
    co_await ended;
    stuck = stuck || !ends[i].ready();
  }
  if (stuck) {
    first_error.reset();  // this one tells more
    give_up();
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].ready()) {
      note(ends[i].result());
    } else {
      devices[i].actor()->give_up(*given_up);
    }
  }
  if (compiled.ready()) note(compiled.result());
}

// Each of the threads that may be in a call of a plugin is waited for in time: buffers are freed on
// any of them.
Task<void> Runtime::Core::close_threads() {
  const TimePoint last = environment.clock->now() + options.close_timeout / kThreadsShare;
  std::vector<Future<void>> ends;
  for (const std::unique_ptr<PoolExecutor>& pool : device_pools) ends.push_back(pool->close());
  for (const Future<void>& end : ends) {
    const Future<void> ended = until(end, last);
    co_await ended;
  }
  // What the ends above have set in motion runs before its executor drops the rest.
  if (compute) {
    const Future<void> settled = make_ready().then(*compute, [](const Status&) {});
    const Future<void> in_time = until(settled, last);
    co_await in_time;
    ends.push_back(compute->close());
    const Future<void> ended = until(ends.back(), last);
    co_await ended;
  }
  if (trace_file) {
    const Future<void> written = trace_file->close();
    const Future<void> in_time = until(written, last);
    const Status status = co_await in_time;
    note(status);
  }
  if (blocking) {
    ends.push_back(blocking->close());
    const Future<void> ended = until(ends.back(), last);
    co_await ended;
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
  const Duration least = options.close_timeout / kFreesShare;
  return client ? std::max(2 * options.close_timeout - closing_took, least) : least;
}

// Of a client that was not opened, its thread for what frees may hang in the end of it.
void Runtime::Core::destroy_client() {
  for (const std::unique_ptr<PoolExecutor>& before : frees_before) {
    if (!given_up && !ends_in_time(before->close(), time_for_frees())) give_up();
  }
  if (given_up || !frees) return;
  devices.clear();
  const Future<void> end = client ? client->destroy() : frees->close();
  if (!ends_in_time(end, time_for_frees())) return give_up();
  const Status& ended = end.result();
  held = client && !ended && ended.error().code() == ErrorCode::kFailedPrecondition;
  if (held) MILLRACE_LOG(kInfo, "runtime", ended.error().message());
  if (held || !client) return;
  // Its end has told, on that thread, what becomes of memory that was lent to it.
  client.reset();
  const Future<void> told = make_ready().then(*frees, [](const Status&) {});
  if (!ends_in_time(told, time_for_frees())) give_up();
}

void Runtime::Core::end_held() {
  for (std::unique_ptr<Core>& core : take_held()) {
    core->destroy_client();
    if (core->given_up || core->held) keep(std::move(core));
  }
}

Task<void> Runtime::Core::close_all() {
  const TimePoint begin = environment.clock->now();
  // Nothing is left out because something before it failed: the first error is told when all is
  // over. What make() did not come to is not there.
  Task<void> devices_end = close_devices();
  note(co_await std::move(devices_end));
  if (actors) note(co_await actors->close());
  if (watch) note(co_await watch->close());
  if (client) {
    const Status closed = co_await client->close();
    note(closed);
    if (client->given_up() && !given_up) given_up = closed.error();
  }
  Task<void> threads_end = close_threads();
  note(co_await std::move(threads_end));
  if (loop) note(co_await loop->close());
  closing_took = environment.clock->now() - begin;
  if (first_error) co_await end_with(*first_error);
}

}  // namespace millrace
