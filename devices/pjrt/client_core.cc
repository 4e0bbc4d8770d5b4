#include "millrace/devices/pjrt/client_core.h"

#include <algorithm>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/device_body.h"
#include "millrace/devices/device_scope.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/named_values.h"

namespace millrace::devices::pjrt {

std::uint64_t ClientCore::next_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

ClientCore::~ClientCore() {
  MILLRACE_CHECK(
      gate_.scope().holders() == 0,
      "a PJRT client goes after its launches and transfers, one that was given up never");
  end_lives();
  if (client_ != nullptr) {
    static_cast<void>(wait_blocking(destroy()));
    MILLRACE_CHECK(uses_.holders() == 0, "a PJRT client goes after its buffers and executables");
  }
  // Those that the end of the plugin's client has not ended, whose executor may go next.
  for (const DeviceInfo& info : devices())
    give_up_events(releases_of(info.id), gate_.scope().closed_error());
}

void ClientCore::destroy_here() {
  const CallsFor mine(this);
  gate_.drain_frees();
  if (client_ == nullptr) return;
  mappings_.end_all();  // of a client that was not closed
  if (!given_up()) {
    // Those of a client that was not closed, or of buffers that were asked since.
    give_up_all_events(gate_.scope().closed_error());
    wait_for_callbacks(id_);
    gate_.drain_frees();  // their events
  }
  abi::Client* const client = std::exchange(client_, nullptr);
  if (given_up()) return keep_key_values();
  if (const std::string left = events_given_up(id_); !left.empty()) {
    MILLRACE_LOG(kError, "pjrt",
                 "the client of the plugin " + plugin().name() +
                     " is not destroyed, since it has not ended " + left);
    return keep_key_values();
  }
  plugin().call_quietly<abi::ClientDestroyArgs>(client);
}

void ClientCore::revoke_store() {
  if (key_values_) key_values_->revoke();
}

void ClientCore::keep_key_values() {
  revoke_store();
  keep_for_ever(key_values_);
}

Status ClientCore::open() {
  const CallsFor mine(this);
  const NamedValues settings(options_.settings);
  abi::ClientCreateArgs create;
  create.create_options = settings.data();
  create.num_options = settings.size();
  if (options_.store != nullptr) {
    if (!key_values_) key_values_ = make_key_values(options_);
    key_values_->serve(create);
  }
  const Status opened = opened_.open(create);
  client_ = opened_.get();
  MILLRACE_TRY_STATUS(opened);
  for (const DeviceInfo& info : devices()) {
    lives_.push_back(std::make_unique<Life>());
    if (options_.trace != nullptr)
      lives_.back()->lane = options_.trace->lane(name_of(info.id) + options_.lane_suffix);
  }
  if (options_.profile && options_.trace != nullptr) start_profiler();
  return {};
}

void ClientCore::give_up_all_events(const Error& why) {
  for (const DeviceInfo& info : devices()) give_up_events(events_of(info.id), why);
}

void ClientCore::note_run(const PjrtRun& run) {
  Life& runs = *lives_[static_cast<std::size_t>(index(run.device))];
  const TimePoint end = now();
  const Duration::rep ended = end.time_since_epoch().count();
  // Ends may be reported out of order: what another run has covered counts once. relaxed: numbers.
  Duration::rep covered = runs.last_end.load(std::memory_order_relaxed);
  while (covered < ended && !runs.last_end.compare_exchange_weak(covered, ended)) {
  }
  const TimePoint begin = std::min(std::max(run.launched, TimePoint(Duration(covered))), end);
  runs.busy.fetch_add((end - begin).count(), std::memory_order_relaxed);
  if (options_.trace != nullptr) {
    options_.trace->record(
        {.lane = runs.lane, .name = run.name, .begin = begin, .end = end, .flow = run.flow});
  }
}

std::optional<Duration> ClientCore::busy_time(DeviceId device) const {
  return Duration(lives_[static_cast<std::size_t>(index(device))]->busy.load());
}

Status ClientCore::failure_of(const Life& life) {
  MutexLock lock(life.mutex);
  return std::unexpected(*life.failure);
}

Future<void> ClientCore::failed(DeviceId device) const {
  if (!opened_.find(device)) return {};
  return lives_[static_cast<std::size_t>(index(device))]->failed;
}

Status ClientCore::kill(DeviceId device, const Error& cause) {
  MILLRACE_TRY_STATUS(opened_.find(device));
  Life& life = *lives_[static_cast<std::size_t>(index(device))];
  Error error = cause.with_detail(DeviceFailure{device, cause, now()});
  Promise<void> promise;
  {
    MutexLock lock(life.mutex);
    if (life.failure) {
      error = *life.failure;
    } else {
      life.failure = error;
      promise = std::move(life.promise);
      life.has_failed.store(true);
    }
  }
  if (promise.valid()) promise.set_error(error);
  give_up_events(events_of(device), error);
  return {};
}

Status ClientCore::restart(DeviceId device) {
  return fail(ErrorCode::kUnimplemented,
              name_of(device) + " of '" + opened_.platform_name() +
                  "' was not restarted: PJRT has no call that resets one device of a client; close "
                  "the runtime, which destroys the client, and make another");
}

void ClientCore::end_lives() {
  for (const std::unique_ptr<Life>& life : lives_) {
    Promise<void> promise;
    {
      MutexLock lock(life->mutex);
      promise = std::move(life->promise);
    }
    if (promise.valid()) promise.set_value();
  }
}

Future<void> ClientCore::watch(abi::Event* event, std::string_view what, DeviceId device,
                               Owner keep) {
  Executor* const waits = gate_.in_actor() ? nullptr : options_.driver;
  Future<void> future = take_event(plugin(), event, *options_.completions, what, events_of(device),
                                   std::move(keep), waits, &gate_);
  if (future.ready()) return future;
  // A kill that came since the call began has not found this event.
  if (Status living = alive(device); !living) give_up_events(events_of(device), living.error());
  return future;
}

Future<void> ClientCore::destroy() {
  if (options_.frees == nullptr || given_up()) return destroy_unless_used();
  return make_ready().then(*options_.frees,
                           [this](const Status&) { return destroy_unless_used(); });
}

Future<void> ClientCore::destroy_unless_used() {
  gate_.drain_frees();
  if (!destroy_called_.exchange(true))
    uses_.close().then(inline_executor(), [this](const Status&) { end_uses(); }).ignore();
  // What another thread is still making may be all that uses it, and ends.
  const bool all_made = gate_.nothing_left();
  const std::size_t uses = uses_.holders();
  if (uses == 0 || !all_made) return destroyed_;
  revoke_store();  // it outlives the runtime only, which goes now
  return fail(ErrorCode::kFailedPrecondition,
              "the client of the plugin " + plugin().name() + " stays: " + std::to_string(uses) +
                  " buffers, programs, or arrays that read a buffer in place, are still held, and "
                  "it goes with the last of them");
}

// Any thread, which may have nothing to do with the client but the last buffer.
void ClientCore::end_uses() {
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

bool ClientCore::destroy_in_time() {
  if (client_ == nullptr || options_.frees == nullptr) return true;
  if (wait_until(destroy(), options_.close_timeout)) return true;
  revoke_store();
  return false;
}

std::function<std::string()> ClientCore::call_report() const {
  // A plugin stays for ever; of the client only the address is looked at.
  return [plugin = &plugin(), client = static_cast<const Client*>(this)] {
    const std::string calls = pjrt::calls_under_way(plugin->number(), client);
    return calls.empty() ? calls : calls + " of the plugin " + plugin->name();
  };
}

void ClientCore::give_up(const Error& why) {
  if (!gate_.give_up()) return;
  revoke_store();
  for (const DeviceInfo& info : devices()) {
    static_cast<void>(kill(info.id, why));
    give_up_events(releases_of(info.id), why);
  }
  mappings_.wake();
}

// future, or whatever it is by then.
Future<void> ClientCore::until(const Future<void>& future, TimePoint limit) const {
  if (options_.timers == nullptr) return future;
  return with_deadline(future, limit, *options_.timers);
}

// What the close waits for, once it has waited long enough.
std::string ClientCore::outstanding() const {
  if (const std::string calls = calls_under_way(); !calls.empty()) return "not returned: " + calls;
  if (!gate_.nothing_left())
    return "not freed, for want of a thread or because the owner of host memory does not end: "
           "objects of the plugin " +
           plugin().name();
  return "launches and transfers of the plugin " + plugin().name() +
         " have ended, but no thread of the executors that report it was free (" +
         std::to_string(gate_.scope().holders()) + "): continuations hold them";
}

// The last calls, when nothing is under way. Any may block, so they are made where what frees is.
Future<void> ClientCore::make_last_calls() {
  if (!profiler_ && !mappings_.any()) return make_ready();
  Executor* const freer = gate_.freer();
  return make_ready().then(freer != nullptr ? *freer : inline_executor(), [this](const Status&) {
    const CallsFor mine(this);
    mappings_.end_all();
    record_profile();
  });
}

Task<void> ClientCore::close_in_time() {
  end_lives();
  gate_.hurry();
  const Future<void> all = gate_.scope().close();
  const TimePoint begin = now();
  const TimePoint limit = begin + options_.close_timeout;
  const TimePoint last = begin + longest_close(options_.close_timeout);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.close_timeout).count() / 1e3;
  const Error late(ErrorCode::kDeadlineExceeded,
                   "closing has waited " + std::to_string(seconds) + " s for it");
  if (!given_up()) {
    const Future<void> first = until(all, limit);
    co_await first;
  }
  if (!given_up() && !all.ready()) {
    for (const DeviceInfo& info : devices()) static_cast<void>(kill(info.id, late));
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
  // What holds nothing of the client, as the state of an output, ends with it; a moment later it
  // would have come.
  give_up_all_events(gate_.scope().closed_error());
  std::string why;
  for (const DeviceInfo& info : devices()) {
    const Status status = alive(info.id);
    if (!status && why.empty()) why = status.error().message();
  }
  const std::string left = events_given_up(id_);
  if (why.empty() || left.empty()) co_return;
  const Error never(ErrorCode::kDeadlineExceeded,
                    "the plugin " + plugin().name() + " has never ended " + left + ": " + why);
  co_await end_with(never);
}

// A timeline without the plugin's events is still one: what goes wrong here is only logged.
void ClientCore::start_profiler() {
  Result<std::unique_ptr<Profiler>> profiler = Profiler::create(plugin());
  if (profiler) {
    profiler_ = *std::move(profiler);
  } else if (profiler.error().code() != ErrorCode::kUnimplemented) {
    MILLRACE_LOG(kWarning, "pjrt", "nothing is profiled: " + profiler.error().message());
  }
}

void ClientCore::record_profile() {
  if (!profiler_) return;
  const std::unique_ptr<Profiler> profiler = std::move(profiler_);
  const auto recorded = [&]() -> Result<std::size_t> {
    MILLRACE_TRY(const std::string bytes, profiler->finish());
    const Duration offset = now().time_since_epoch() - wall_time();
    return record_xspace(bytes, offset, *options_.trace);
  }();
  if (recorded) {
    MILLRACE_LOG(kInfo, "pjrt",
                 "the profiler of " + plugin().name() + " has recorded " +
                     std::to_string(*recorded) + " events");
  } else {
    MILLRACE_LOG(kWarning, "pjrt", "the profile is lost: " + recorded.error().message());
  }
}

Future<void> ClientCore::close() {
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
