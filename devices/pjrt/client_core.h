// ClientCore: what buffers and programs of a plugin use of their client, and how it ends. Calls go
// straight to the plugin and may block (calls_may_block()), so they belong on driver threads; what
// handles do on any thread (their end, remove()) is handed over to one. Read next: call_gate.h,
// client.h.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/coroutine.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/async/key_value_store.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/call_gate.h"
#include "millrace/devices/pjrt/events.h"
#include "millrace/devices/pjrt/host_mappings.h"
#include "millrace/devices/pjrt/key_values.h"
#include "millrace/devices/pjrt/opened_client.h"
#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/pjrt/profiler.h"

namespace millrace::devices::pjrt {

// What a PjrtClient is made with.
struct PjrtClientOptions {
  Executor* completions = nullptr;  // where what waits for events goes on; outlives the client
  // Where calls are made that other threads than device actors want: what waits for an event, and
  // what frees unless `frees` is there. nullptr: on those threads, which then may block.
  Executor* driver = nullptr;
  // One thread for what frees, which no other call holds up; outlives the client. The futures
  // of what was lent to a buffer complete there.
  Executor* frees = nullptr;
  Attributes settings;  // create options, as the plugin defines them
  // For the plugin's parts in other processes. It is used no more once the client was destroyed or
  // given up, or stays for buffers that are held.
  KeyValueStore* store = nullptr;
  std::string store_prefix;               // before its keys
  std::shared_ptr<KeyValues> key_values;  // of `store`, unless create() is to make them
  const Clock* clock = &steady_clock();
  TraceRecorder* trace = nullptr;
  std::string lane_suffix = {};  // "device N" + this
  bool profile = false;  // what the plugin's own profiler records goes to trace at the close
  // For close(), on the clock above; nullptr: it waits for every event and call, however long that
  // takes.
  TimerQueue* timers = nullptr;
  Duration close_timeout = std::chrono::seconds(30);
  // Called with the reason why create() fails before what was made is destroyed, which may take
  // long; on its thread.
  std::function<void(const Error&)> on_failure;
};

inline std::shared_ptr<KeyValues> make_key_values(const PjrtClientOptions& options) {
  return std::make_shared<KeyValues>(*options.store, *options.clock, options.store_prefix);
}

// One execution on one device.
struct PjrtRun {
  DeviceId device{};
  TraceName name{};
  TimePoint launched{};
  std::uint64_t flow = 0;
};

// States: open -> closing (close was called, launches or transfers under way) -> closed ->
// destroyed (destroy was called, and the last buffer or executable has gone). The PJRT client goes
// with the last step, at the latest with this object, which outlives buffers and executables; it is
// left where events never came, since the plugin still works on it. Thread-safety: thread-safe.
class ClientCore : public Client {
 public:
  ~ClientCore() override;

  std::string_view platform_name() const final { return opened_.platform_name(); }
  std::string_view platform_version() const final { return opened_.platform_version(); }
  std::span<const DeviceInfo> devices() const final { return opened_.devices(); }
  std::span<const MemoryInfo> memories() const final { return opened_.memories(); }
  const Attributes& attributes() const final { return opened_.attributes(); }
  bool calls_may_block() const final { return true; }
  // From the launch, or the end of the launch before, to the end: PJRT reports no more.
  std::optional<Duration> busy_time(DeviceId device) const final;
  Result<Owner> map_host_memory(std::span<std::byte> bytes, Owner owner) final {
    return mappings_.map(bytes, std::move(owner));
  }
  Future<void> failed(DeviceId device) const final;
  Status kill(DeviceId device, const Error& cause) final;
  // PJRT has no call that resets a device: kUnimplemented, and what to do instead.
  Status restart(DeviceId device) final;
  // When launches and transfers do not end within the time, their devices are killed, and it is
  // kDeadlineExceeded that names the calls whose events never came. Then what is mapped of the host
  // is unmapped. What is left of that when half the time has passed again is named, and the client
  // is given up.
  Future<void> close() final;
  // On the thread for what frees, behind all that was handed over, which may be a while after the
  // call: when the last Use goes.
  Future<void> destroy() final;
  std::function<std::string()> call_report() const final;
  void give_up(const Error& why) final;
  bool given_up() const final { return gate_.given_up(); }

  const Plugin& plugin() const { return opened_.plugin(); }
  abi::Client* get() const { return client_; }
  const OpenedClient& opened() const { return opened_; }
  CallGate& gate() { return gate_; }
  const CallGate& gate() const { return gate_; }
  TraceRecorder* trace() const { return options_.trace; }
  TimePoint now() const { return options_.clock->now(); }
  // A buffer that may be otherwise than row-major was made.
  bool any_laid_out() const { return any_laid_out_.load(std::memory_order_relaxed); }
  void note_laid_out() { any_laid_out_.store(true); }
  // The error of a device that was killed. Cheap while none was.
  Status alive(DeviceId device) const {
    const Life& life = *lives_[static_cast<std::size_t>(index(device))];
    if (!life.has_failed.load()) [[likely]]
      return {};
    return failure_of(life);
  }
  // For what frees: nothing is called any more once the client was given up.
  template <class A, class... Fields>
  void dispose(Fields... fields) {
    gate_.hand_over([this, fields...] {
      if (!given_up()) plugin().call_quietly<A>(fields...);
    });
  }
  // What calls the client as long as it lives, and may be held by any thread, has one: buffers,
  // executables, what reads a buffer in place. The client stays for them. A member that outlives
  // the others: its end may be the client's.
  StripedScope::Hold use() {
    StripedScope::Hold hold = uses_.hold_late();
    MILLRACE_CHECK(hold, "a use of a PJRT client begins before the client's end");
    return hold;
  }
  // take_event of one that the device owes: it ends with the device.
  Future<void> watch(abi::Event* event, std::string_view what, DeviceId device,
                     Owner keep = nullptr);
  // It has ended now.
  void note_run(const PjrtRun& run);
  // For a launch of several devices; 0 is no id.
  int next_launch_id() { return launches_.fetch_add(1) + 1; }

 protected:
  ClientCore(const Plugin& plugin, PjrtClientOptions options)
      : options_(std::move(options)), opened_(plugin) {}
  Status open();
  // False: a thread is still in there, which uses all of this but the store.
  bool destroy_in_time();
  const PjrtClientOptions& options() const { return options_; }
  // Events of zero-copy puts: they come when a buffer goes, which may be after the close, when the
  // executor for completions runs nothing any more.
  EventSource releases_of(DeviceId device) const { return {id_, device, true}; }
  Executor& releases() const {
    return options_.frees != nullptr ? *options_.frees : *options_.completions;
  }

 private:
  struct alignas(64) Life {
    std::atomic<bool> has_failed{false};
    // Away from what every call reads.
    alignas(64) std::atomic<Duration::rep> last_end{0};  // of a run, since the clock's epoch
    std::atomic<Duration::rep> busy{0};
    TraceLane lane{};
    mutable Mutex mutex;
    std::optional<Error> failure MILLRACE_GUARDED_BY(mutex);
    Promise<void> promise MILLRACE_GUARDED_BY(mutex);  // gone once it is known how the life ends
    const Future<void> failed = promise.future();
  };
  static std::uint64_t next_id();
  static Status failure_of(const Life& life);
  EventSource events_of(DeviceId device) const { return {id_, device}; }
  void give_up_all_events(const Error& why);
  void end_lives();
  Future<void> destroy_unless_used();
  void end_uses();
  void destroy_here();     // the plugin's client, unless it still works
  void revoke_store();     // its lender may destroy it next
  void keep_key_values();  // for ever: the plugin may still call them
  void start_profiler();
  void record_profile();
  Task<void> close_in_time();
  Future<void> until(const Future<void>& future, TimePoint limit) const;
  std::string outstanding() const;
  Future<void> make_last_calls();

  const std::uint64_t id_ = next_id();
  const PjrtClientOptions options_;
  std::shared_ptr<KeyValues> key_values_ = options_.key_values;
  OpenedClient opened_;
  abi::Client* client_ = nullptr;  // opened_'s, until it is destroyed
  CallGate gate_{*this, options_.frees, options_.driver, options_.timers, *options_.clock};
  HostMappings mappings_{opened_, gate_, id_};
  std::vector<std::unique_ptr<Life>> lives_;  // by device
  std::atomic<int> launches_{0};
  std::atomic<bool> any_laid_out_{false};
  std::unique_ptr<Profiler> profiler_;               // until the close
  StripedScope uses_{"the use of the PJRT client"};  // closed by destroy()
  Mutex close_mutex_;
  Future<void> closed_ MILLRACE_GUARDED_BY(close_mutex_);  // valid once close() was called
  std::atomic<bool> destroy_called_{false};
  Promise<void> destroyed_promise_;  // moved out by the end of the last use
  const Future<void> destroyed_ = destroyed_promise_.future();
};

}  // namespace millrace::devices::pjrt
