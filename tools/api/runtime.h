// Runtime: puts the rooms together: clock, event loop, threads, actors, the client of the devices
// and an actor in front of each. Everything below is handed what it needs from here, so nothing is
// global and two runtimes in one process do not know of each other. Read next: execute.h, then
// runtime_core.cc (what is made and closed in which order).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/core/async/call_options.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/loop/event_loop.h"
#include "millrace/core/observe/metrics.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/device.h"
#include "millrace/devices/program.h"
#include "millrace/tools/api/runtime_options.h"

namespace millrace {

namespace actors {
class RemoteActors;  // actors/remote/remote_actors.h
}
namespace collectives {
class ProcessGroup;  // collectives/process_group.h
}
namespace net {
class Job;     // core/net/job.h
class Mesh;    // core/net/mesh.h
struct World;  // core/net/world.h
}  // namespace net
namespace trace {
class TraceFile;  // tools/trace/trace_file.h
}

// The one owner of the threads, unless it shares them (RuntimeOptions::shared_threads), and unlike
// any other destructor of the house its own waits: it closes, if close() was not called, and joins
// the threads. So it is never destroyed, nor waited for, on one of its own threads (CHECKed).
// Devices, actors, loaders and groups that are held longer refuse calls with kUnavailable or
// kAborted, and so do its executors and timers what is to run there (EX-3), but for a loop that it
// shares: what comes later than the runtime may. Buffers, executables and host arrays may
// be held longer: arrays stay readable, other calls fail, and the memory of a plugin's devices, its
// client too, is freed with the last of them; one thread, which does that, ends with the next
// runtime that goes. In the child of a fork its calls and those of its devices give
// kFailedPrecondition, and the destructor leaves it as it is. Thread-safety: thread-safe once
// made.
class Runtime {
 public:
  // Blocks, with a plugin perhaps for seconds: it is loaded, and its devices are opened. A thread
  // that must not wait, as a loop's, calls create_on().
  // kNotFound for a device that nothing here knows, kUnavailable where it cannot be opened; an
  // error of the options (RuntimeOptions::from_env, and of their check()) is passed on.
  // kResourceExhausted: no descriptors, threads or memory for it. kFailedPrecondition: this is the
  // child of a process that had made one before it forked. Blocks while a plugin is opened, which
  // may never end: kCancelled and kDeadlineExceeded by call, with the plugin and the function that
  // has not returned (devices::OpeningGivenUp). Then a thread is left in there (left_behind()).
  static Result<Runtime> create(Result<RuntimeOptions> options, const CallOptions& call = {});
  // create() on an executor that the program gives (make_thread_executor), whose work may block:
  // the future completes there, with kAborted if the executor closes first. It looks at stop and
  // deadline once the executor has begun it. kInvalidArgument for an executor of
  // RuntimeOptions::shared_threads. A thread that runs a loop (a bridge's, an EventLoop's) may
  // destroy such a Runtime, also by dropping the future that holds it, and does not wait: the
  // executor runs the end. So the executor outlives the Runtime. Where it has closed by then, the
  // thread waits.
  static Future<Runtime> create_on(Executor& executor, Result<RuntimeOptions> options,
                                   CallOptions call = {});
  // A thread of a runtime is left in a plugin of this process, because opening or close() waited
  // for it long enough. Such a process ends by _exit: exit() runs the plugin's static destructors
  // under that thread, and waits for ever where it is loading a library.
  static bool left_behind();
  Runtime(Runtime&& other) noexcept;
  Runtime& operator=(Runtime&& other) noexcept;
  ~Runtime();

  // Those of RuntimeOptions::device, then those of each of its more_devices.
  std::span<const devices::Device> devices() const;
  // Those of one kind, by the name by which it was chosen; empty: no such kind is open.
  std::span<const devices::Device> devices(std::string_view kind) const;
  // index < devices().size(), CHECKed.
  const devices::Device& device(std::size_t index) const;
  // The client of the first kind, for which compile() and load() are, too. Another's:
  // Device::client().
  devices::Client& client() const;
  // The name by which the client was chosen, as PJRT_DEVICE names it: "cpu", a plugin's.
  const std::string& device_kind() const;

  // Compiles on a blocking thread, or takes the program from RuntimeOptions::compilation_cache.
  // Errors of the program name it, with line and column. kCancelled
  // and kDeadlineExceeded by call: a stop ends a compilation at its next stage where the device can
  // do that; otherwise it runs on and its result is dropped.
  Future<devices::Executable> compile(devices::Program program,
                                      devices::CompileOptions options = {},
                                      CallOptions call = {}) const;
  // The same for the devices of this one's kind. kInvalidArgument: it is not of this runtime.
  Future<devices::Executable> compile_for(const devices::Device& device, devices::Program program,
                                          devices::CompileOptions options = {},
                                          CallOptions call = {}) const;

  // What ExecutableBody and Client do blocking (devices/client.h), on a blocking thread: with their
  // errors, and kUnavailable once closed. kCancelled and kDeadlineExceeded by call: what was begun
  // runs on, and its result is dropped. One that does not return ends with the close.
  Future<std::string> serialize(const devices::Executable& executable, CallOptions call = {}) const;
  Future<devices::Executable> load(std::string serialized, CallOptions call = {}) const;
  Future<devices::Executable> load_for(const devices::Device& device, std::string serialized,
                                       CallOptions call = {}) const;
  Future<devices::Attributes> cost_analysis(const devices::Executable& executable,
                                            CallOptions call = {}) const;
  Future<devices::MemoryStats> memory_stats(devices::DeviceId device, CallOptions call = {}) const;
  Future<devices::MemoryStats> memory_stats(const devices::Device& device,
                                            CallOptions call = {}) const;

  // Time and threads, for code that is handed them (loaders, groups, tasks).
  const Environment& environment() const;
  Executor& compute() const;  // actors, continuations, decoding: nothing may block it
  // Its own, or that of RuntimeOptions::shared_threads, whose timers are everyone's: those that
  // end with this runtime are environment().timers.
  EventLoop& loop() const;
  // What this process has joined (RuntimeOptions::job): its store, and the failure of another rank.
  // nullptr: none. It is there until close().
  net::Job* job() const;
  // The links to the job's other ranks, which the first call starts (JobThread::mesh). nullptr:
  // there is no job. It is there until close().
  net::Mesh* mesh() const;
  // For jobs that go on after failures (`millrace launch --restarts`, `--min`): the processes that
  // work together from now on; links and groups of the world before are ended. A program calls it
  // before its first group, and again when a group has failed by another process or
  // job()->has_newcomers(): it closes or drops the members of the groups of the world before, calls
  // this, then make_group() again, with the same names if it likes (collectives/README.md has the
  // loop). Completes once each process of the world before that is there has called it. The errors
  // of net::Job::next_world(), where net::WorkDone as detail says that the others have done all the
  // work; kFailedPrecondition without a job.
  Future<net::World> next_world(CallOptions call = {}) const;
  // A group of the devices, those of device_kind(), of all processes of the job, or of its world,
  // in the order of the processes: the members of this one's. Without a job: of this one's. All
  // processes of the job call it, with the same names in the same order
  // (collectives/process_group.h); the errors of ProcessGroup::meet(). A group is of the world in
  // which it was made: next_world() ends it, and this makes the one of the next world.
  Future<std::vector<collectives::ProcessGroup>> make_group(const std::string& name,
                                                            CallOptions call = {}) const;
  actors::ActorSystem& actors() const;
  // How the actors of the job's other processes are reached, and these by them
  // (actors/remote/remote_actors.h). The first call starts it. nullptr: there is no job, or close()
  // came before the first call. It is there until close(), which ends it.
  actors::RemoteActors* remote_actors() const;
  TraceRecorder* trace() const;          // nullptr unless RuntimeOptions::trace or trace_file
  trace::TraceFile* trace_file() const;  // nullptr unless RuntimeOptions::trace_file
  // Numbers of this runtime, and those that the program adds: counters that are cheap enough to
  // stay on.
  Metrics& metrics() const;
  // All of them and those of the devices, now, which with several kinds have the label backend;
  // prometheus_text (core/observe/metrics_text.h) prints it. The memory of a plugin's devices is as
  // it was at the call before, since a plugin may block.
  MetricsSnapshot metrics_snapshot() const;
  const RuntimeOptions& options() const;

  // Refuses new work, finishes what the devices have begun, but for launches that wait for another
  // process, which fail, and ends everything in the reverse order of its making. What waits on
  // environment().timers (sleeps, deadlines) ends with kAborted: every 50 ms until the actors have
  // stopped, also where an on_stop waits, and once more after them, while compute() runs what
  // continues there; then compute() finishes what it has begun and drops the rest: tasks and
  // continuations end with kAborted, and those that wait for something else do when that comes.
  // From then on a sleep or deadline on the timers ends at once, with kAborted too. Completes, on
  // some thread of its own, with the first error of any part; every call gives the same future.
  // call, of the first: where this process is rank 0 and hosts a job that another launcher has
  // started, it stays until the other ranks have left, but not beyond stop and deadline.
  Future<void> close(const CallOptions& call = {}) const;

  struct Core;  // what it owns: runtime_core.h, for its own files and tests alone

 private:
  template <class F>
  auto on_blocking_thread(const std::string& what, const CallOptions& call, F work) const;
  Future<devices::Executable> compile_by(devices::Client& client, devices::Program program,
                                         devices::CompileOptions options, CallOptions call) const;
  explicit Runtime(std::unique_ptr<Core> core);
  Core& core() const;  // CHECKs that this handle was not moved from
  std::unique_ptr<Core> core_;
};

}  // namespace millrace
