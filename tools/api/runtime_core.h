// Runtime::Core: what a Runtime owns. runtime_core.cc makes it and has the calls of Runtime,
// runtime_metrics.cc its numbers, runtime_close.cc ends it: all of it, or in tests what is there.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/actors/handler_watch.h"
#include "millrace/actors/remote/remote_actors.h"
#include "millrace/collectives/program_links.h"
#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/loop/loop_timers.h"
#include "millrace/core/net/job_thread.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/trace/trace_file.h"

namespace millrace {

// In the order of making; closed, and then destroyed, in the reverse one.
struct Runtime::Core {
  explicit Core(RuntimeOptions given);

  bool on_own_thread() const;
  EventLoop* loop_used() const;
  // All of its executors, and those that it shares; there are more while it is made and when it
  // ends.
  std::vector<const PoolExecutor*> executors() const;
  // In the child of a fork that came after this was made: its locks may be held, and its threads
  // are not there.
  bool forked() const { return detail::fork_generation() != generation; }
  // May throw what libraries do: of threads that do not start, or for lack of memory.
  Status make(const CallOptions& call);
  Status join_job(const CallOptions& call);
  Status make_threads();
  // A kind of device that is open, or was to be: its client, and where its devices stand in
  // `devices`.
  struct Kind {
    std::string name = {};  // as PJRT_DEVICE names it; empty: it was not opened
    // Where a plugin's objects are freed, its client last of all: after close(), too.
    std::unique_ptr<PoolExecutor> frees = {};
    std::unique_ptr<devices::Client> client = {};
    std::size_t first = 0, count = 0;
    bool held = false;  // the program holds buffers or executables: the client stays for them
  };
  struct WantedKind {
    std::string name = {};  // empty: the runtime picks
    std::string said_by = {};
    std::optional<int> devices = {};
    std::string lane_suffix = {};
  };
  Status open_kinds(const CallOptions& call);
  Status open_kind(const KnownBackends& known, const WantedKind& wanted, const CallOptions& call);
  Status make_client(const KnownBackends& known, const WantedKind& wanted, const CallOptions& call,
                     Kind& kind);
  Status make_devices(Kind& kind, std::optional<int> most);
  Status ask_memory(Kind& kind, const CallOptions& call);
  const Kind* kind_of(const devices::Device& device) const;  // nullptr: of another runtime
  bool calls_may_block() const;                              // of any kind
  std::string calls_under_way() const;
  devices::DeviceThreads make_device_threads(int i, int n);
  // What carries programs over the processes of the job, or of its present world; nullptr: there is
  // no job. kUnavailable once this closes.
  Result<devices::CollectiveBackend*> program_links();
  // The memory of each device, where it is known: now, or where that may block, when it was asked
  // last.
  std::vector<std::optional<devices::MemoryStats>> memory(const Runtime& runtime);

  Task<void> close_all(CallOptions call);
  void close_links();
  Task<void> drain_links();
  // After close(): what a plugin frees then. Blocks, for no longer than close() would.
  void destroy_clients();
  actors::RemoteActors* remote_here() {
    MutexLock lock(group_mutex);
    return remote.get();
  }
  void finish_client(Kind& kind, const Future<void>& end, const CallOptions& limit);
  bool held() const;  // some kind
  // A part of close_all: the ends of the devices, all of them or as long as it may wait.
  Task<void> close_devices();
  // With all that they wait for on the timers.
  Task<void> close_actors();
  Task<void> close_threads();
  // future; where calls of the devices may block, no longer than until then.
  Future<void> until(const Future<void>& future, TimePoint limit) const;
  void note(const Status& status) {
    if (!status && !first_error) first_error = status.error();
  }
  void give_up();
  // Events of the devices get close_timeout. After it come four parts that get a quarter of it each
  // (calls that have not returned, the client, the threads, what frees), so that all of it takes
  // twice close_timeout at most.
  Duration quarter() const { return options.close_timeout / 4; }
  // How often what the closing actors wait for on the timers is ended, until they are gone.
  static constexpr Duration kEndOfWaits = std::chrono::milliseconds(50);
  Duration time_for_frees() const;
  // Keeps what was given up for as long as the process runs: a thread that comes back from a
  // plugin after all finds everything that it uses. And what is still held: until end_held().
  static void keep(std::unique_ptr<Core> core);
  // Ends those whose buffers and executables have gone since, as destroy_clients() does.
  static void end_held();
  struct Kept;

  const RuntimeOptions options;
  const unsigned generation = detail::fork_generation();
  Metrics metrics;
  Histogram& compile_time = metrics.histogram("millrace_compile_nanoseconds");
  Counter& compile_failures = metrics.counter("millrace_compile_failures_total");
  std::unique_ptr<TraceRecorder> trace;
  std::unique_ptr<net::JobThread> job;      // it has joined
  std::unique_ptr<EventLoopThread> loop;    // of its own, or
  std::unique_ptr<LoopTimers> loop_timers;  // on the loop of RuntimeOptions::shared_threads
  std::unique_ptr<PoolExecutor> blocking;   // on threads of its own, or on those
  std::unique_ptr<PoolExecutor> compute;
  // A pool of each device: the threads that compute on the host, or the one that makes the calls
  // that may block.
  std::vector<std::unique_ptr<PoolExecutor>> device_pools;
  std::vector<std::unique_ptr<PoolExecutor>> frees_before;  // of plugins that were passed over
  std::unique_ptr<PoolExecutor> opener;                     // while a plugin is opened
  Environment environment{.clock = &steady_clock()};        // the rest by make()
  std::unique_ptr<trace::TraceFile> trace_file;
  std::unique_ptr<actors::ActorSystem> actors;
  std::unique_ptr<actors::HandlerWatch> watch;       // over their handlers
  std::unique_ptr<devices::CompilationCache> cache;  // none: everything is compiled
  std::vector<std::unique_ptr<Kind>> kinds;
  std::vector<devices::Device> devices;
  Scope compilations{"the runtime"};  // and other calls on the threads for what may block

  // How many groups of a name were made in an epoch of the mesh.
  Mutex group_mutex;
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> group_numbers
      MILLRACE_GUARDED_BY(group_mutex);
  std::unique_ptr<actors::RemoteActors> remote MILLRACE_GUARDED_BY(group_mutex);
  net::World world MILLRACE_GUARDED_BY(group_mutex);  // no ranks: all of the job
  // One for each epoch of the mesh in which a program spanned processes: the last one is open.
  std::map<std::uint32_t, std::unique_ptr<collectives::ProgramLinks>> links
      MILLRACE_GUARDED_BY(group_mutex);
  bool links_closed MILLRACE_GUARDED_BY(group_mutex) = false;

  struct Memory {
    std::optional<devices::MemoryStats> last;
    Future<devices::MemoryStats> asked;
  };
  Mutex memory_mutex;
  std::vector<Memory> memory_known MILLRACE_GUARDED_BY(memory_mutex);  // by device

  // For close_all and the end after it, alone.
  Duration closing_took{};
  std::optional<Error> first_error;
  std::optional<Error> given_up;  // why; then threads and objects are left behind
  std::stop_source stop_waiting;  // for calls on blocking threads, once given_up is there

  Executor* ends_on = nullptr;  // of create_on(): for an end where a loop's thread must not wait

  Mutex mutex;
  Future<void> closed MILLRACE_GUARDED_BY(mutex);  // valid once close() was called
};

}  // namespace millrace
