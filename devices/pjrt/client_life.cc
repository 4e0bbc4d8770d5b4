// PjrtClient: devices that are declared failed, and the end of all.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/combinators.h"
#include "millrace/core/ends_in_time.h"
#include "millrace/core/log.h"
#include "millrace/core/wall_clock.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/device_scope.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/client.h"

namespace millrace::devices::pjrt {
namespace {

// What is freed waits so long for a call of a device's thread that takes it along, so that no other
// thread is woken for every buffer.
constexpr Duration kFreeTime = std::chrono::milliseconds(20);

}  // namespace

std::uint64_t PjrtClient::next_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

Status PjrtClient::death_of(const Life& life) {
  MutexLock lock(life.mutex);
  return std::unexpected(*life.death);
}

Future<void> PjrtClient::failed(DeviceId device) const {
  if (!find(device)) return {};
  return lives_[static_cast<std::size_t>(index(device))]->failed;
}

Status PjrtClient::kill(DeviceId device, const Error& cause) {
  MILLRACE_TRY_STATUS(find(device));
  Life& life = *lives_[static_cast<std::size_t>(index(device))];
  Error error = cause.with_detail(DeviceFailure{device, cause, now()});
  Promise<void> promise;
  {
    MutexLock lock(life.mutex);
    if (life.death) {
      error = *life.death;
    } else {
      life.death = error;
      promise = std::move(life.promise);
      life.dead.store(true);
    }
  }
  if (promise.valid()) promise.set_error(error);
  give_up_events(events_of(device), error);
  return {};
}

Status PjrtClient::restart(DeviceId device) {
  return fail(ErrorCode::kUnimplemented,
              "device " + std::to_string(index(device)) + " of '" + platform_name_ +
                  "' was not restarted: PJRT has no call that resets one device of a client; close "
                  "the runtime, which destroys the client, and make another");
}

void PjrtClient::end_lives() {
  for (const std::unique_ptr<Life>& life : lives_) {
    Promise<void> promise;
    {
      MutexLock lock(life->mutex);
      promise = std::move(life->promise);
    }
    if (promise.valid()) promise.set_value();
  }
}

Future<void> PjrtClient::watch(abi::Event* event, std::string_view what, DeviceId device,
                               Owner keep) {
  if (event == nullptr) keep_for_ever(keep);
  if (std::optional<Future<void>> ready = take_ready_event(plugin_, event, what))
    return *std::move(ready);
  Executor* const waits = in_actor() ? nullptr : options_.driver;
  Future<void> future = take_later_event(plugin_, event, completions(), what, events_of(device),
                                         std::move(keep), waits);
  // A kill that came since the call began has not found this event.
  if (Status living = alive(device); !living) give_up_events(events_of(device), living.error());
  return future;
}

Future<void> PjrtClient::end_of(abi::Buffer* output, DeviceId device) {
  abi::BufferReadyEventArgs args;
  args.buffer = output;
  if (Status asked = plugin_.call(args); !asked) return std::move(asked).error();
  return watch(args.event, "PJRT_Buffer_ReadyEvent", device);
}

void PjrtClient::keep_until(Future<void> ended, StripedScope::Hold hold) {
  ended.ignore();
  if (ended.ready()) return;
  std::move(ended).then(inline_executor(), [hold = std::move(hold)](const Status&) {}).ignore();
}

void PjrtClient::see_to_handed_over() {
  StripedScope::Hold hold = scope_.hold();
  // Nobody waits for these but destroy(), unless the executor is one that may be gone.
  if (!hold && options_.frees == nullptr) return make_handed_over();
  const bool can_wait = hold && options_.timers != nullptr;
  auto drain = [this, queue = handed_over_, hold = std::move(hold)]() mutable {
    const CallsFor mine(this);  // which may be gone, when nothing is left
    queue->drain();
    hold.reset();
  };
  if (!can_wait) return post(*freer(), std::move(drain));
  MutexLock lock(free_timer_mutex_);
  if (free_timer_) return;
  free_timer_ =
      options_.timers->schedule(now() + kFreeTime, [this, drain = std::move(drain)]() mutable {
        {
          MutexLock set(free_timer_mutex_);
          free_timer_.reset();
        }
        if (!handed_over_->empty()) post(*freer(), std::move(drain));
      });
}

// For the close, which waits for what is handed over.
void PjrtClient::hurry_handed_over() {
  if (freer() == nullptr || options_.timers == nullptr) return;
  std::optional<TimerQueue::Id> timer;
  {
    MutexLock lock(free_timer_mutex_);
    timer = std::exchange(free_timer_, std::nullopt);
  }
  if (StripedScope::Hold hold = scope_.hold(); hold && !handed_over_->empty()) {
    post(*freer(), [this, queue = handed_over_, hold = std::move(hold)]() mutable {
      const CallsFor mine(this);
      queue->drain();
      hold.reset();
    });
  }
  if (timer) options_.timers->cancel(*timer);
}

Future<void> PjrtClient::destroy() {
  if (options_.frees == nullptr || given_up()) return destroy_unless_used();
  return make_ready().then(*options_.frees,
                           [this](const Status&) { return destroy_unless_used(); });
}

Future<void> PjrtClient::destroy_unless_used() {
  make_handed_over();
  if (!destroy_called_.exchange(true))
    uses_.close().then(inline_executor(), [this](const Status&) { end_uses(); }).ignore();
  // What another thread is still making may be all that uses it, and ends.
  const bool all_made = handed_over_->empty();
  const std::size_t uses = uses_.holders();
  if (uses == 0 || !all_made) return destroyed_;
  take_back_store();  // it outlives the runtime only, which goes now
  return fail(ErrorCode::kFailedPrecondition,
              "the client of the plugin " + plugin_.name() + " stays: " + std::to_string(uses) +
                  " buffers, programs, or arrays that read a buffer in place, are still held, and "
                  "it goes with the last of them");
}

// Any thread, which may have nothing to do with the client but the last buffer.
void PjrtClient::end_uses() {
  // Once both this thread and the one that frees are out of here, the client may go.
  struct End {
    Promise<void> promise;
    std::atomic<int> inside{2};
    void leave() {
      if (inside.fetch_sub(1) == 1) promise.set_value();
    }
  };
  const auto end = std::make_shared<End>(std::move(destroyed_promise_));
  if (options_.frees == nullptr || given_up()) {
    destroy_here();
    end->leave();
  } else {
    post(*options_.frees, [this, end] {
      destroy_here();
      end->leave();
    });
  }
  end->leave();
}

bool PjrtClient::destroy_in_time() {
  if (client_ == nullptr || options_.frees == nullptr) return true;
  return ends_in_time(destroy(), options_.close_timeout);
}

std::function<std::string()> PjrtClient::calls_teller() const {
  // A plugin stays for ever; of the client only the address is looked at.
  return [plugin = &plugin_, client = static_cast<const Client*>(this)] {
    const std::string calls = pjrt::calls_under_way(plugin->number(), client);
    return calls.empty() ? calls : calls + " of the plugin " + plugin->name();
  };
}

void PjrtClient::give_up(const Error& why) {
  if (given_up_.exchange(true)) return;
  take_back_store();
  for (const DeviceInfo& info : infos_) {
    static_cast<void>(kill(info.id, why));
    give_up_events(releases_of(info.id), why);
  }
  {
    const MutexLock lock(mapped_mutex_);
  }  // whoever looked before waits by now
  unmapped_.notify_all();
}

// future, or whatever it is by then.
Future<void> PjrtClient::until(const Future<void>& future, TimePoint limit) const {
  if (options_.timers == nullptr) return future;
  return with_deadline(future, limit, *options_.timers);
}

// What the close waits for, once it has waited long enough.
std::string PjrtClient::outstanding() const {
  if (const std::string calls = calls_under_way(); !calls.empty()) return "not returned: " + calls;
  if (!handed_over_->empty())
    return "not freed, for want of a thread or because the owner of host memory does not end: "
           "objects of the plugin " +
           plugin_.name();
  return "launches and transfers of the plugin " + plugin_.name() +
         " have ended, but no thread of the executors that tell so was free (" +
         std::to_string(scope_.holders()) + "): continuations hold them";
}

// The last calls, when nothing is under way. Any may block, so they are made where what frees is.
Future<void> PjrtClient::make_last_calls() {
  const auto calls = [this] {
    const CallsFor mine(this);
    end_mappings();
    record_profile();
  };
  if (!profiler_ && !any_mapped()) return make_ready();
  if (freer() == nullptr) {
    calls();
    return make_ready();
  }
  Promise<void> promise;
  Future<void> made = promise.future();
  post(*freer(), [calls, promise = std::move(promise)]() mutable {
    calls();
    promise.set_value();
  });
  return made;
}

Task<void> PjrtClient::close_in_time() {
  end_lives();
  hurry_handed_over();
  const Future<void> all = scope_.close();
  const TimePoint limit = now() + options_.close_timeout;
  const TimePoint last = limit + options_.close_timeout / 2;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.close_timeout).count() / 1e3;
  const Error late(ErrorCode::kDeadlineExceeded,
                   "closing has waited " + std::to_string(seconds) + " s for it");
  if (!given_up()) {
    const Future<void> first = until(all, limit);
    co_await first;
  }
  if (!given_up() && !all.ready()) {
    for (const DeviceInfo& info : infos_) static_cast<void>(kill(info.id, late));
    const Future<void> second = until(all, last);
    co_await second;
    if (!all.ready()) give_up(late);
  }
  if (!given_up()) {
    const Future<void> made = make_last_calls();
    const Future<void> in_time = until(made, last);
    co_await in_time;
    if (!made.ready()) give_up(late);
  }
  if (given_up()) {
    const Error never(ErrorCode::kDeadlineExceeded, outstanding() + ": " + late.message());
    co_await end_with(never);
  }
  // What nobody has held the client for, as the state of an output, ends with it; a moment later it
  // would have come.
  for (const DeviceInfo& info : infos_) give_up_events(events_of(info.id), scope_.closed_error());
  std::string why;
  for (const DeviceInfo& info : infos_) {
    const Status dead = alive(info.id);
    if (!dead && why.empty()) why = dead.error().message();
  }
  const std::string left = events_given_up(id_);
  if (why.empty() || left.empty()) co_return;
  const Error never(ErrorCode::kDeadlineExceeded,
                    "the plugin " + plugin_.name() + " has never ended " + left + ": " + why);
  co_await end_with(never);
}

// A timeline without the plugin's events is still one: what goes wrong here is only told.
void PjrtClient::start_profiler() {
  Result<std::unique_ptr<Profiler>> profiler = Profiler::create(plugin_);
  if (profiler) {
    profiler_ = *std::move(profiler);
  } else if (profiler.error().code() != ErrorCode::kUnimplemented) {
    MILLRACE_LOG(kWarning, "pjrt", "nothing is profiled: " + profiler.error().message());
  }
}

void PjrtClient::record_profile() {
  if (!profiler_) return;
  const std::unique_ptr<Profiler> profiler = std::move(profiler_);
  const auto recorded = [&]() -> Result<std::size_t> {
    MILLRACE_TRY(const std::string bytes, profiler->finish());
    const Duration offset = now().time_since_epoch() - wall_time();
    return record_xspace(bytes, offset, *options_.trace);
  }();
  if (recorded) {
    MILLRACE_LOG(kInfo, "pjrt",
                 "the profiler of " + plugin_.name() + " has recorded " +
                     std::to_string(*recorded) + " events");
  } else {
    MILLRACE_LOG(kWarning, "pjrt", "the profile is lost: " + recorded.error().message());
  }
}

Future<void> PjrtClient::close() {
  Promise<void> promise;
  {
    MutexLock lock(close_mutex_);
    if (closed_.valid()) return closed_;
    closed_ = promise.future();
  }
  const Future<void> closed = promise.future();
  const Future<void> ended = spawn(inline_executor(), close_in_time());
  ended
      .then(inline_executor(), [promise = std::move(promise)](
                                   Status status) mutable { promise.set(std::move(status)); })
      .ignore();
  return closed;
}

}  // namespace millrace::devices::pjrt
