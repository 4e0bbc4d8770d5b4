#include "millrace/tools/api/runtime_core.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/registry.h"
#include "millrace/tools/api/installed_plugins.h"
#include "millrace/tools/api/starting.h"

namespace millrace {
namespace {

// As good as for ever, and twice of it behind now is a time.
constexpr Duration kLongestClose = std::chrono::hours(24 * 365);

std::unexpected<Error> empty_error(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, what + " was given an empty Executable");
}

std::unexpected<Error> foreign_error(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, what + " was given a Device of no kind of this runtime");
}

// The future of close(), which knows the runtime's threads: none of them may wait for it.
class ClosedCell final : public Cell<void> {
 public:
  ClosedCell(std::vector<const PoolExecutor*> executors, const EventLoop* loop)
      : executors_(std::move(executors)), loop_(loop) {}
  const char* waits_for_this_thread() const override {
    if (on_thread_of(executors_, loop_)) {
      return "waiting for Runtime::close() on a thread of that runtime would wait for this "
             "thread's own end: wait on another one, or continue by close().then(...) on an "
             "executor "
             "of yours";
    }
    return nullptr;
  }
  static bool on_thread_of(const std::vector<const PoolExecutor*>& executors,
                           const EventLoop* loop) {
    return (loop != nullptr && running_loop() == loop) ||
           std::ranges::any_of(executors, &PoolExecutor::on_own_thread);
  }

 private:
  // None of them is ever freed (EX-3).
  const std::vector<const PoolExecutor*> executors_;
  const EventLoop* const loop_;
};

}  // namespace

EventLoop* Runtime::Core::loop_used() const {
  if (options.shared_threads) return &options.shared_threads->loop();
  return loop ? &loop->loop() : nullptr;
}

bool Runtime::Core::on_own_thread() const {
  // The loop's thread completes close() when its loop runs no more.
  const bool on_loop = loop && loop->on_own_thread();
  const bool shared = options.shared_threads && options.shared_threads->on_own_thread();
  return on_loop || shared || ClosedCell::on_thread_of(executors(), nullptr);
}

std::vector<const PoolExecutor*> Runtime::Core::executors() const {
  std::vector<const PoolExecutor*> all;
  if (const RuntimeThreads* const shared = options.shared_threads.get(); shared != nullptr) {
    for (const Executor* executor :
         {&shared->blocking(), &shared->compute(), &shared->programs()}) {
      const auto* const pool = dynamic_cast<const PoolExecutor*>(executor);
      if (pool != nullptr) all.push_back(pool);
    }
  }
  for (const auto* pool : {&blocking, &compute, &opener}) {
    if (*pool) all.push_back(pool->get());
  }
  for (const std::unique_ptr<Kind>& kind : kinds) {
    if (kind->frees) all.push_back(kind->frees.get());
  }
  for (const auto* pools : {&device_pools, &frees_before}) {
    for (const std::unique_ptr<PoolExecutor>& pool : *pools) all.push_back(pool.get());
  }
  return all;
}

Status Runtime::Core::join_job(const CallOptions& call) {
  if (!options.job) return {};
  MILLRACE_TRY(auto thread, net::JobThread::create());
  const Future<void> joined = thread->join(*options.job, call);
  // Not wait_blocking(): a bridge may be open on this thread.
  static_cast<void>(wait_until(joined, CallOptions()));
  MILLRACE_TRY_STATUS(joined.result());
  job = std::move(thread);
  return {};
}

Status Runtime::Core::make_threads() {
  TimerQueue* timers = nullptr;
  if (RuntimeThreads* const shared = options.shared_threads.get(); shared != nullptr) {
    loop_timers = std::make_unique<LoopTimers>(shared->loop());
    timers = &loop_timers->timers();
    blocking = make_executor_on(shared->blocking(), 1);
    compute = make_executor_on(shared->compute(), shared->threads());
  } else {
    MILLRACE_TRY(std::unique_ptr<EventLoop> made_loop, create_uv_event_loop());
    loop = std::make_unique<EventLoopThread>(std::move(made_loop), "millrace-loop");
    timers = &loop->loop().timers();
    blocking = make_executor(ExecutorBackend::kThreads, std::max(1, options.blocking_threads),
                             "millrace-io");
    compute = make_executor(default_compute_backend(), compute_threads(options), "millrace-work");
  }
  environment = {.clock = &steady_clock(),
                 .timers = timers,
                 .compute = compute.get(),
                 .blocking = blocking.get(),
                 .parallel = &compute->parallel()};
  return {};
}

Status Runtime::Core::make(const CallOptions& call) {
  if (options.trace || !options.trace_file.empty())
    trace = std::make_unique<TraceRecorder>(steady_clock());
  MILLRACE_TRY_STATUS(join_job(call));
  MILLRACE_TRY_STATUS(make_threads());
  actors = std::make_unique<actors::ActorSystem>(environment);
  actors::HandlerWatchOptions watching;
  watching.overdue = &metrics.counter("millrace_overdue_handlers_total");
  watch = std::make_unique<actors::HandlerWatch>(*actors, environment, std::move(watching));
  if (!options.trace_file.empty()) {
    trace::TraceFileOptions file{.path = options.trace_file};
    if (const std::size_t at = file.path.find("%p"); at != std::string::npos) {
      file.path.replace(at, 2, std::to_string(::getpid()));
    } else if (options.process.count > 1 && trace::may_have_parts(file.path)) {
      file.process = "rank " + std::to_string(options.process.index);
      file.part = {.job = options.job ? options.job->job : "", .rank = options.process.index};
    }
    MILLRACE_TRY(trace_file, trace::TraceFile::open(environment, *trace, file));
  }
  MILLRACE_TRY_STATUS(open_kinds(call));
  if (options.compilation_cache)
    cache = std::make_unique<devices::CompilationCache>(*options.compilation_cache);
  // Not earlier: a start that fails leaves an old trace as it was.
  if (trace_file) trace_file->begin();
  return {};
}

Runtime::Runtime(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Runtime::Runtime(Runtime&& other) noexcept = default;
Runtime& Runtime::operator=(Runtime&& other) noexcept {
  if (this != &other) {
    Runtime old(std::move(*this));
    core_ = std::move(other.core_);
  }
  return *this;
}

Runtime::~Runtime() {
  if (!core_) return;
  if (core_->forked()) {
    static_cast<void>(core_.release());  // what it would join and close is the parent's
    return;
  }
  if (core_->ends_on != nullptr && (on_bridged_thread() || running_loop() != nullptr)) {
    Executor& there = *std::exchange(core_->ends_on, nullptr);
    post(there, [ending = Runtime(std::move(core_))] {});
    return;
  }
  if (core_->on_own_thread()) {
    check_failed("~Runtime()",
                 "a Runtime was destroyed on one of its own threads, whose end it would wait for: "
                 "destroy it on a thread of yours (post to your loop, or hand it to your main "
                 "thread)");
  }
  // Not wait_blocking(): a bridge may be open on this thread, and nothing of its loop is awaited.
  static_cast<void>(wait_until(close(), CallOptions()));
  core_->destroy_clients();
  Core::end_held();  // of runtimes before this one
  if (core_->given_up || core_->held()) Core::keep(std::move(core_));
}

Result<Runtime> Runtime::create(Result<RuntimeOptions> options, const CallOptions& call) {
  if (!options) return std::unexpected(std::move(options).error());
  MILLRACE_TRY_STATUS(options->check());
  options->close_timeout = std::min(options->close_timeout, kLongestClose);
  MILLRACE_TRY_STATUS(check_in_time(call, steady_clock(), "Runtime::create"));
  // Before anything else is used: oneTBB believes that the workers of the parent are there.
  MILLRACE_TRY_STATUS(check_first_generation("Runtime::create"));
  Runtime runtime(std::make_unique<Core>(*std::move(options)));
  const auto make = [&]() -> Status {
    try {
      return runtime.core_->make(call);
    } catch (const std::exception&) {
      return std::unexpected(not_made_error("the runtime could not be made"));
    }
  };
  if (const Status made = make(); !made) {
    // Not even closed: whatever would end it may wait for the thread that is left (OpeningGivenUp).
    if (runtime.core_->given_up) Core::keep(std::move(runtime.core_));
    return std::unexpected(made.error());
  }
  return runtime;
}

Future<Runtime> Runtime::create_on(Executor& executor, Result<RuntimeOptions> options,
                                   CallOptions call) {
  return make_ready().then(
      executor,
      [&executor, options = std::move(options),
       call = std::move(call)](const Status&) -> Result<Runtime> {
        if (options && options->shared_threads && options->shared_threads->on_own_thread()) {
          return fail(
              ErrorCode::kInvalidArgument,
              "Runtime::create_on was given an executor of its RuntimeOptions::shared_threads, "
              "which cannot run the runtime's end: give it one of your own");
        }
        MILLRACE_TRY(Runtime made, create(options, call));
        made.core().ends_on = &executor;
        return made;
      });
}

Runtime::Core& Runtime::core() const {
  MILLRACE_CHECK(core_, "a Runtime that was moved from was used");
  return *core_;
}
std::span<const devices::Device> Runtime::devices() const { return core().devices; }
const devices::Device& Runtime::device(std::size_t index) const {
  if (index >= core().devices.size()) {
    const std::string message = "Runtime::device(" + std::to_string(index) +
                                ") was asked of a runtime with " +
                                std::to_string(core().devices.size()) + " (counted from 0)";
    check_failed("index < devices().size()", message.c_str());
  }
  return core().devices[index];
}
std::span<const devices::Device> Runtime::devices(std::string_view kind) const {
  const std::span<const devices::Device> all = core().devices;
  for (const std::unique_ptr<Core::Kind>& each : core().kinds) {
    if (devices::lower(each->name) == devices::lower(kind))
      return all.subspan(each->first, each->count);
  }
  return {};
}
devices::Client& Runtime::client() const { return *core().kinds.front()->client; }
const std::string& Runtime::device_kind() const { return core().kinds.front()->name; }
const Environment& Runtime::environment() const { return core().environment; }
Executor& Runtime::compute() const { return *core().compute; }
EventLoop& Runtime::loop() const { return *core().loop_used(); }
net::Mesh* Runtime::mesh() const { return core().job ? &core().job->mesh() : nullptr; }
net::Job* Runtime::job() const { return core().job ? &core().job->job() : nullptr; }
actors::ActorSystem& Runtime::actors() const { return *core().actors; }
TraceRecorder* Runtime::trace() const { return core().trace.get(); }
trace::TraceFile* Runtime::trace_file() const { return core().trace_file.get(); }
Metrics& Runtime::metrics() const { return core().metrics; }
const RuntimeOptions& Runtime::options() const { return core().options; }

// work() on a blocking thread, which the close waits for.
template <class F>
auto Runtime::on_blocking_thread(const std::string& what, const CallOptions& call, F work) const {
  using R = std::invoke_result_t<F&>;  // a Result
  using Given = Future<typename R::value_type>;
  if (core().forked()) return Given(forked_error(what));
  const auto check = [core = core_.get(), call, what] {
    return check_in_time(call, *core->environment.clock, what);
  };
  if (Status ok = check(); !ok) return Given(ok.error());
  Scope::Hold hold = core().compilations.hold();
  if (!hold) return Given(core().compilations.closed_error());
  auto unless_late = [check, work = std::move(work),
                      hold = std::move(hold)](const Status&) mutable -> R {
    MILLRACE_TRY_STATUS(check());
    R result = work();
    hold.reset();
    return result;
  };
  Given called = make_ready().then(*core().blocking, std::move(unless_late));
  // The close that has waited for it long enough ends the wait with its own error.
  if (core().calls_may_block()) {
    called = with_stop(called, core().stop_waiting.get_token())
                 .then(inline_executor(), [core = core_.get()](R result) -> R {
                   if (!result && result.error().code() == ErrorCode::kCancelled &&
                       core->stop_waiting.stop_requested())
                     return std::unexpected(*core->given_up);
                   return result;
                 });
  }
  return with_options(called, call, *core().environment.timers);
}

Future<devices::Executable> Runtime::compile(devices::Program program,
                                             devices::CompileOptions options,
                                             CallOptions call) const {
  return compile_by(client(), std::move(program), std::move(options), std::move(call));
}

Future<devices::Executable> Runtime::compile_for(const devices::Device& device,
                                                 devices::Program program,
                                                 devices::CompileOptions options,
                                                 CallOptions call) const {
  if (core().kind_of(device) == nullptr) return foreign_error("compile_for");
  return compile_by(device.client(), std::move(program), std::move(options), std::move(call));
}

Future<devices::Executable> Runtime::compile_by(devices::Client& client, devices::Program program,
                                                devices::CompileOptions options,
                                                CallOptions call) const {
  if (!options.stop.stop_possible()) options.stop = call.stop;
  const std::string what = "compiling '" + program.name() + "'";
  auto work = [core = core_.get(), &client, program = std::move(program),
               options = std::move(options)]() -> Result<devices::Executable> {
    if (options.stop.stop_requested()) {
      return fail(ErrorCode::kCancelled,
                  "stopped on request before '" + program.name() + "' was compiled");
    }
    const Clock& clock = *core->environment.clock;
    const TimePoint begin = clock.now();
    bool kept = false;
    Result<devices::Executable> compiled =
        core->cache ? core->cache->compile(client, program, options, &kept)
                    : client.compile(program, options);
    const Duration time = clock.now() - begin;
    core->compile_time.record(static_cast<std::uint64_t>(time.count()));
    if (!compiled) core->compile_failures.add();
    MILLRACE_LOG(kInfo, "runtime",
                 (kept       ? "loaded " + program.name() + " from the cache in "
                  : compiled ? "compiled " + program.name() + " in "
                             : "refused " + program.name() + " in ") +
                     std::to_string(time / std::chrono::milliseconds(1)) + " ms");
    return compiled;
  };
  return on_blocking_thread(what, call, std::move(work));
}

Future<std::string> Runtime::serialize(const devices::Executable& executable,
                                       CallOptions call) const {
  if (!executable) return empty_error("serialize");
  return on_blocking_thread("serialize", call,
                            [executable] { return executable.body()->serialize(); });
}
Future<devices::Executable> Runtime::load(std::string serialized, CallOptions call) const {
  return on_blocking_thread("load", call, [&client = client(), serialized = std::move(serialized)] {
    return client.load(serialized);
  });
}
Future<devices::Executable> Runtime::load_for(const devices::Device& device, std::string serialized,
                                              CallOptions call) const {
  if (core().kind_of(device) == nullptr) return foreign_error("load_for");
  return on_blocking_thread("load_for", call,
                            [&client = device.client(), serialized = std::move(serialized)] {
                              return client.load(serialized);
                            });
}
Future<devices::Attributes> Runtime::cost_analysis(const devices::Executable& executable,
                                                   CallOptions call) const {
  if (!executable) return empty_error("cost_analysis");
  return on_blocking_thread("cost_analysis", call,
                            [executable] { return executable.body()->cost_analysis(); });
}
Future<devices::MemoryStats> Runtime::memory_stats(devices::DeviceId device,
                                                   CallOptions call) const {
  return on_blocking_thread("memory_stats", call,
                            [&client = client(), device] { return client.memory_stats(device); });
}
Future<devices::MemoryStats> Runtime::memory_stats(const devices::Device& device,
                                                   CallOptions call) const {
  if (core().kind_of(device) == nullptr) return foreign_error("memory_stats");
  return on_blocking_thread("memory_stats", call, [&client = device.client(), id = device.id()] {
    return client.memory_stats(id);
  });
}

Future<void> Runtime::close(const CallOptions& call) const {
  Core& all = core();
  if (all.forked()) return forked_error("Runtime::close");
  // Started outside the lock: what is idle ends inside the call.
  Ref<ClosedCell> closed;
  {
    MutexLock lock(all.mutex);
    if (all.closed.valid()) return all.closed;
    closed = make_ref<ClosedCell>(all.executors(), all.loop_used());
    all.closed = Future<void>(Ref<Cell<void>>(closed));
  }
  // Inline: the executors that could run it are among what it closes.
  const Future<void> ended = spawn(inline_executor(), all.close_all(call));
  static_cast<void>(
      ended.then(inline_executor(), [closed](Status status) { closed->set(std::move(status)); }));
  return Future<void>(Ref<Cell<void>>(closed));
}

}  // namespace millrace
