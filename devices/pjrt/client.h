// PjrtClient: the device interface over a PJRT plugin. Calls go straight to the plugin and may
// block (calls_may_block()), so they belong on driver threads; what handles do on any thread (their
// end, remove(), ready()) is handed over to one. Events become futures that complete on the
// completions executor. Read next: plugin.h, events.h.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/coroutine.h"
#include "millrace/core/executor.h"
#include "millrace/core/mutex.h"
#include "millrace/core/striped_scope.h"
#include "millrace/core/timer_queue.h"
#include "millrace/core/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/device_scope.h"
#include "millrace/devices/pjrt/events.h"
#include "millrace/devices/pjrt/handed_over.h"
#include "millrace/devices/pjrt/key_values.h"
#include "millrace/devices/pjrt/launch_crowd.h"
#include "millrace/devices/pjrt/layout.h"
#include "millrace/devices/pjrt/lent_store.h"
#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/pjrt/profiler.h"

namespace millrace::devices::pjrt {

struct PjrtClientOptions {
  Executor* completions = nullptr;  // where events' futures complete; outlives the client
  // Where calls are made that other threads than device actors want: what waits for an event, and
  // what frees unless `frees` is there. nullptr: on those threads, which then may block.
  Executor* driver = nullptr;
  // One thread for what frees, which nobody else's call holds up; outlives the client. The futures
  // of what was lent to a buffer complete there.
  Executor* frees = nullptr;
  std::map<std::string, Attribute> settings;  // create options, as the plugin defines them
  // For the plugin's parts in other processes. It is used no more once the client was destroyed or
  // given up, or stays for somebody's buffers.
  KeyValueStore* store = nullptr;
  std::shared_ptr<LentStore> lent_store;  // what the client makes of it, unless it is there
  std::string store_prefix;               // before its keys
  const Clock* clock = &steady_clock();
  TraceRecorder* trace = nullptr;
  bool profile = false;  // what the plugin's own profiler records goes to trace at the close
  // For close(), on the clock above; nullptr: it waits for every event and call, however long that
  // takes.
  TimerQueue* timers = nullptr;
  Duration close_timeout = std::chrono::seconds(30);
  // Told why create() fails before what was made is destroyed, which may take long; on its thread.
  std::function<void(const Error&)> on_failure;
};

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
class PjrtClient final : public Client {
 public:
  // Blocking: devices are opened. Errors of the plugin name it and the call. Where there is an
  // executor for what frees, a client that was not opened gets close_timeout to end.
  static Result<std::unique_ptr<PjrtClient>> create(const Plugin& plugin,
                                                    PjrtClientOptions options);
  ~PjrtClient() override;

  std::string_view platform_name() const override { return platform_name_; }
  std::string_view platform_version() const override { return platform_version_; }
  std::span<const DeviceInfo> devices() const override { return infos_; }
  std::span<const MemoryInfo> memories() const override { return memory_infos_; }
  // The plugin's own and those of its topology.
  const Attributes& attributes() const override { return attributes_; }
  bool calls_may_block() const override { return true; }
  Result<Executable> compile(const Program& program, const CompileOptions& options) override;
  Result<Executable> load(std::string_view serialized) override;
  Result<Executable> load_compiled(std::string_view serialized, const Program& program,
                                   const CompileOptions& options) override;
  std::string compiler_identity() const override;
  Result<PutResult> put(const HostView& view, HostBufferSemantics semantics, DeviceId device,
                        int memory) override {
    return put_laid_out(view, semantics, device, memory, nullptr, false);
  }
  Result<PutResult> put_in(const HostView& view, HostBufferSemantics semantics, DeviceId device,
                           int memory, const DeviceLayout& layout) override;
  Result<DeviceLayout> default_layout(const Shape& shape, DeviceId device) const override;
  Result<Buffer> copy(const Buffer& source, DeviceId device, int memory) override;
  Result<MemoryStats> memory_stats(DeviceId device) const override;
  // From the launch, or the end of the launch before, to the end: PJRT tells no more. Of launches
  // that have wanted to know of their end.
  std::optional<Duration> busy_time(DeviceId device) const override;
  Result<Owner> map_host_memory(std::span<std::byte> bytes, Owner owner) override;
  Future<void> failed(DeviceId device) const override;
  Status kill(DeviceId device, const Error& cause) override;
  // PJRT has no call that resets a device: kUnimplemented, and what to do instead.
  Status restart(DeviceId device) override;
  // When launches and transfers do not end within the time, their devices are killed, and it is
  // kDeadlineExceeded that names the calls whose events never came. Then what is mapped of the host
  // is let go of. What is left of that when half the time has passed again is named, and the client
  // is given up.
  Future<void> close() override;
  // On the thread for what frees, behind all that was handed over, which may be a while after the
  // call: when the last Use goes.
  Future<void> destroy() override;
  std::function<std::string()> calls_teller() const override;
  void give_up(const Error& why) override;
  bool given_up() const override { return given_up_.load(); }
  // A buffer that may be otherwise than row-major was made.
  bool any_laid_out() const { return any_laid_out_.load(std::memory_order_relaxed); }
  void note_laid_out() { any_laid_out_.store(true); }

  // The error of a device that was killed. Cheap while none was.
  Status alive(DeviceId device) const {
    const Life& life = *lives_[static_cast<std::size_t>(index(device))];
    if (!life.dead.load()) [[likely]]
      return {};
    return death_of(life);
  }
  EventSource events_of(DeviceId device) const { return {id_, device}; }
  // Of zero-copy puts.
  EventSource releases_of(DeviceId device) const { return {id_, device, true}; }
  const Plugin& plugin() const { return plugin_; }
  abi::Client* get() const { return client_; }
  // Makes the call, on this thread if it may block in the plugin (a device actor's), else before
  // the next put, copy, fetch or launch, or on the thread for what frees, within 20 ms. After
  // close(), at once: there, or here where there is no such thread. So one that does not return
  // may hold up its device: were all of them made on the thread for what frees, each launch would
  // wake that (longer than a small one takes), and memory would not be free before it is asked for.
  template <class F>
  void hand_over(F call) {
    if (may_call_here()) return call();
    if (handed_over_->add(std::move(call))) see_to_handed_over();
  }
  bool may_call_here() const {
    return freer() == nullptr || handed_over_->draining_here() || in_actor();
  }
  // For what frees: nothing is called any more once the client was given up.
  template <class A>
  void dispose(A args) {
    hand_over([this, args]() mutable {
      if (!given_up()) plugin_.call_quietly(args);
    });
  }
  // Of whoever calls the client as long as he lives, and may be held by anybody: buffers,
  // executables, what reads a buffer in place. The client stays for them. A member that outlives
  // the others: its end may be the client's.
  class Use {
   public:
    explicit Use(PjrtClient& client) : hold_(client.uses_.hold_late()) {
      MILLRACE_CHECK(hold_, "who uses a PJRT client comes before its end");
    }

   private:
    const StripedScope::Hold hold_;
  };
  // What was handed over before a call comes before it.
  void make_handed_over() const { handed_over_->drain(); }
  // take_event of one that the device owes: it ends with the device.
  Future<void> watch(abi::Event* event, std::string_view what, DeviceId device,
                     Owner keep = nullptr);
  // When what writes an output has ended, of a run whose end nobody else is told.
  Future<void> end_of(abi::Buffer* output, DeviceId device);
  // The client stays until then, if there is a hold: else it has closed, and its end gives events
  // up.
  static void keep_until(Future<void> ended, StripedScope::Hold hold);
  Executor& completions() const { return *options_.completions; }
  // Where releases of zero-copy puts complete: they may come after the close, when the executor
  // above runs nothing any more.
  Executor& releases() const { return options_.frees != nullptr ? *options_.frees : completions(); }
  StripedScope::Hold hold() { return scope_.hold(); }
  Error closed_error() const { return scope_.closed_error(); }
  // kInvalidArgument for what is none of devices().
  Result<abi::Device*> find(DeviceId device) const {
    const auto i = static_cast<std::size_t>(index(device));  // a negative one becomes too large
    if (i < devices_.size()) [[likely]]
      return devices_[i];
    return unknown_device(device);
  }
  // id is one of devices().
  abi::Device* device(DeviceId id) const { return devices_[static_cast<std::size_t>(index(id))]; }
  Result<DeviceId> id_of(abi::Device* device) const;
  TraceRecorder* trace() const { return options_.trace; }
  TimePoint now() const { return options_.clock->now(); }
  // While a launch whose first device this is, one of devices(), is made.
  LaunchCrowd::Place enter_launch(DeviceId device) {
    return runs_[static_cast<std::size_t>(index(device))]->crowd.enter();
  }
  // It has ended now.
  void note_run(const PjrtRun& run);
  // Of a launch of several devices; 0 is no id.
  int next_launch_id() { return launches_.fetch_add(1) + 1; }

 private:
  PjrtClient(const Plugin& plugin, PjrtClientOptions options)
      : plugin_(plugin), options_(std::move(options)) {}
  Status open();
  Status check_devices(std::span<abi::Device* const> listed) const;
  Status read_topology();
  Status read_device(std::size_t i);
  Status read_attributes(std::size_t i, abi::DeviceDescription* description);
  Status read_memories(std::size_t i);
  void note_memory(int id, std::string kind, DeviceId device);
  struct Life {
    std::atomic<bool> dead{false};
    mutable Mutex mutex;
    std::optional<Error> death MILLRACE_GUARDED_BY(mutex);
    Promise<void> promise MILLRACE_GUARDED_BY(mutex);  // gone once it is known how the life ends
    const Future<void> failed = promise.future();
  };
  static Status death_of(const Life& life);
  std::unexpected<Error> unknown_device(DeviceId device) const;
  void end_lives();
  void see_to_handed_over();
  void hurry_handed_over();
  Future<void> destroy_unless_used();
  void end_uses();
  void destroy_here();  // the plugin's client, unless it still works
  // Whoever has lent it may let it go next.
  void take_back_store();
  void keep_key_values();  // for ever: the plugin may still call them
  bool destroy_in_time();
  Executor* freer() const { return options_.frees != nullptr ? options_.frees : options_.driver; }
  // This thread is that of one of the client's device actors.
  bool in_actor() const {
    const DeviceScope* const scope = DeviceScope::current();
    return scope != nullptr && &scope->client() == this;
  }
  void start_profiler();
  void record_profile();
  Task<void> close_in_time();
  Future<void> until(const Future<void>& future, TimePoint limit) const;
  std::string outstanding() const;
  Future<void> make_last_calls();
  class HostMapping;
  class HostMappingHandle;
  Status begin_mapping(const std::shared_ptr<HostMapping>& mapping);
  std::shared_ptr<HostMapping> any_overlapping(const HostMapping& mapping) const
      MILLRACE_REQUIRES(mapped_mutex_);
  void forget_mapping(const HostMapping& mapping);
  void unmap(HostMapping& mapping);
  bool any_mapped() const;
  void end_mappings();  // those that are left; blocks
  // layout: nullptr for the default one.
  Result<PutResult> put_laid_out(const HostView& view, HostBufferSemantics semantics,
                                 DeviceId device, int memory, abi::MemoryLayout* layout,
                                 bool laid_out);
  struct alignas(64) Runs {
    std::atomic<Duration::rep> last_end{0};  // since the clock's epoch
    std::atomic<Duration::rep> busy{0};
    LaunchCrowd crowd;
    TraceLane lane{};
  };

  Result<abi::Memory*> find_memory(DeviceId device, int memory) const;
  // CompileOptionsProto of the options, for this client's devices.
  Result<std::string> written_options(const std::string& program,
                                      const CompileOptions& options) const;

  // Once: that a program was, or is, compiled without it.
  void tell_of_determinism(const Program& program, const CompileOptions& options);
  static std::uint64_t next_id();

  const std::uint64_t id_ = next_id();
  const Plugin& plugin_;
  const PjrtClientOptions options_;
  std::shared_ptr<LentStore> lent_store_ = options_.lent_store;
  std::unique_ptr<KeyValues> key_values_;  // the plugin's as long as the client is
  abi::Client* client_ = nullptr;
  std::string platform_name_, platform_version_;
  Attributes attributes_;
  std::vector<abi::Device*> devices_;
  std::vector<std::int64_t> global_ids_;  // of devices_, as device assignments name them
  std::vector<DeviceInfo> infos_;
  std::vector<std::unique_ptr<Runs>> runs_;                    // by device
  std::vector<std::unique_ptr<Life>> lives_;                   // by device
  std::map<std::pair<DeviceId, int>, abi::Memory*> memories_;  // by device and id
  std::vector<MemoryInfo> memory_infos_;
  mutable Mutex mapped_mutex_;
  CondVar unmapped_;  // something was
  // What the plugin has mapped of the host, or is about to, by its first byte.
  std::map<const std::byte*, std::shared_ptr<HostMapping>> mapped_
      MILLRACE_GUARDED_BY(mapped_mutex_);
  // Shared with whoever is to make them, who may come when this is gone and nothing is left.
  const std::shared_ptr<HandedOver> handed_over_ = std::make_shared<HandedOver>();
  Mutex free_timer_mutex_;
  std::optional<TimerQueue::Id> free_timer_ MILLRACE_GUARDED_BY(free_timer_mutex_);
  std::atomic<int> launches_{0};
  std::atomic<bool> told_of_determinism_{false};
  std::atomic<bool> given_up_{false};
  std::atomic<bool> any_laid_out_{false};
  std::unique_ptr<Profiler> profiler_;  // until the close
  StripedScope scope_{"the PJRT client"};
  StripedScope uses_{"the use of the PJRT client"};  // closed by destroy()
  Mutex close_mutex_;
  Future<void> closed_ MILLRACE_GUARDED_BY(close_mutex_);  // valid once close() was called
  std::atomic<bool> destroy_called_{false};
  Promise<void> destroyed_promise_;  // of whoever ends the last use
  const Future<void> destroyed_ = destroyed_promise_.future();
};

}  // namespace millrace::devices::pjrt
