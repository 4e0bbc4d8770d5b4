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

// A program of the CPU device that takes less runs on the thread that launches it: a wake-up would
// cost more.
constexpr Duration kInlineTime = std::chrono::microseconds(20);

std::unexpected<Error> empty_error(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, what + " was given an empty Executable");
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
  for (const auto* pool : {&blocking, &compute, &frees, &opener}) {
    if (*pool) all.push_back(pool->get());
  }
  for (const auto* pools : {&device_pools, &frees_before}) {
    for (const std::unique_ptr<PoolExecutor>& pool : *pools) all.push_back(pool.get());
  }
  return all;
}

// The threads that run programs are shared out over the devices that compute on the host, at least
// one each: a device without a thread would stand still.
devices::DeviceThreads Runtime::Core::make_device_threads(int i, int n) {
  RuntimeThreads* const shared = options.shared_threads.get();
  const int all = shared != nullptr ? shared->threads() : compute_threads(options);
  const int mine = std::max(1, all / n + (i < all % n ? 1 : 0));
  device_pools.push_back(shared != nullptr ? make_executor_on(shared->programs(), mine)
                                           : make_executor(default_compute_backend(), mine,
                                                           "millrace-dev" + std::to_string(i)));
  return {.executor = device_pools.back().get(), .parallel = &device_pools.back()->parallel()};
}

Status Runtime::Core::make_client(const CallOptions& call) {
  const devices::Variables none = [](const std::string&) { return std::nullopt; };
  devices::ClientOptions client_options;
  client_options.environment = environment;
  client_options.variables = options.variables ? options.variables : none;
  client_options.devices = options.devices;
  client_options.threads = [this](int i, int n) { return make_device_threads(i, n); };
  client_options.call = call;
  client_options.opener = [this] {
    if (!opener) opener = make_executor(ExecutorBackend::kThreads, 1, "millrace-open");
    return opener.get();
  };
  client_options.frees = [this] {
    if (frees) frees_before.push_back(std::move(frees));
    frees = make_executor(ExecutorBackend::kThreads, 1, "millrace-free");
    return frees.get();
  };
  client_options.inline_time = kInlineTime;
  client_options.trace = trace.get();
  client_options.profile = !options.trace_file.empty();
  client_options.process = options.process;
  client_options.store = options.store;
  if (client_options.store == nullptr && job) client_options.store = &job->job().store();
  client_options.close_timeout = quarter() * 2 / 3;
  static_assert(devices::longest_close(Duration(2)) == Duration(3), "a quarter is all it gets");
  MILLRACE_TRY(const KnownBackends known, find_backends(options));
  for (const Error& problem : known.problems) MILLRACE_LOG(kWarning, "runtime", problem.message());
  const devices::Variables device = [this](const std::string& name) -> std::optional<std::string> {
    if (name != "PJRT_DEVICE" || options.device.empty()) return std::nullopt;
    return options.device;
  };
  const bool from_variable =
      options.variables && options.variables("PJRT_DEVICE") == options.device;
  Result<devices::OpenedClient> opened = known.registry.open(
      device, client_options, from_variable ? "PJRT_DEVICE" : options.device_said_by);
  if (!opened) {
    const auto* detail = opened.error().detail<devices::OpeningGivenUp>();
    if (detail != nullptr && detail->left) given_up = opened.error();
    return std::unexpected(with_plugin_advice(opened.error(), known.registry, options.device,
                                              client_options.variables));
  }
  client = std::move(opened->client);
  device_kind = opened->choice.name;
  const std::size_t count = client->devices().size();
  const std::string opening = "opened '" + device_kind + "' with " + std::to_string(count) +
                              (count == 1 ? " device: " : " devices: ") + opened->choice.reason;
  if (opened->choice.automatic) {
    MILLRACE_LOG(kWarning, "runtime", opening);
  } else {
    MILLRACE_LOG(kInfo, "runtime", opening);
  }
  return {};
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
  MILLRACE_TRY_STATUS(make_client(call));
  if (options.compilation_cache)
    cache = std::make_unique<devices::CompilationCache>(*options.compilation_cache);

  devices::DeviceActorOptions actor_options{.environment = environment, .limits = options.limits};
  actor_options.inline_when_idle = true;
  const std::size_t there = client->devices().size();
  const auto wanted = static_cast<std::size_t>(options.devices.value_or(static_cast<int>(there)));
  if (wanted > there) {
    return fail(ErrorCode::kInvalidArgument, std::to_string(wanted) +
                                                 " devices were asked for, but '" + device_kind +
                                                 "' has " + std::to_string(there));
  }
  if (client->calls_may_block()) {
    // A thread of each device's own, so that neither a file nor another device's call delays it.
    for (std::size_t i = 0; i < wanted; ++i) {
      device_pools.push_back(
          make_executor(ExecutorBackend::kThreads, 1, "millrace-drv" + std::to_string(i)));
      actor_options.drivers.push_back(device_pools.back().get());
    }
  }
  devices = devices::make_devices(*client, actor_options, wanted);
  MILLRACE_TRY_STATUS(ask_memory(call));
  // Not earlier: a start that fails leaves an old trace as it was.
  if (trace_file) trace_file->begin();
  return {};
}

// The first answer says which devices report their memory; a plugin may not return from it.
Status Runtime::Core::ask_memory(const CallOptions& call) {
  const auto known = std::make_shared<std::vector<Memory>>();
  const Future<void> asked = make_ready().then(
      opener ? *opener : inline_executor(), [this, known](const Status&) -> Status {
        for (const devices::DeviceInfo& device : client->devices()) {
          const Result<devices::MemoryStats> stats = client->memory_stats(device.id);
          known->push_back({.last = stats ? std::optional(*stats) : std::nullopt, .asked = {}});
        }
        return {};
      });
  if (!wait_until(asked, call)) {
    const std::string under_way = client->calls_under_way();
    given_up =
        Error(call.stop.stop_requested() ? ErrorCode::kCancelled : ErrorCode::kDeadlineExceeded,
              "opening '" + device_kind + "' was given up: " + under_way +
                  " has not returned, and is left to itself until the process ends")
            .with_detail(devices::OpeningGivenUp{.call = under_way, .left = true});
    client->give_up(*given_up);
    return std::unexpected(*given_up);
  }
  opener.reset();
  MutexLock lock(memory_mutex);
  memory_known = *known;
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
  core_->destroy_client();
  Core::end_held();  // of runtimes before this one
  if (core_->given_up || core_->held) Core::keep(std::move(core_));
}

Result<Runtime> Runtime::create(Result<RuntimeOptions> options, const CallOptions& call) {
  if (!options) return std::unexpected(std::move(options).error());
  MILLRACE_TRY_STATUS(options->check());
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
devices::Client& Runtime::client() const { return *core().client; }
const std::string& Runtime::device_kind() const { return core().device_kind; }
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
  if (core().client->calls_may_block()) {
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
  if (!options.stop.stop_possible()) options.stop = call.stop;
  const std::string what = "compiling '" + program.name() + "'";
  auto work = [core = core_.get(), program = std::move(program),
               options = std::move(options)]() -> Result<devices::Executable> {
    if (options.stop.stop_requested()) {
      return fail(ErrorCode::kCancelled,
                  "stopped on request before '" + program.name() + "' was compiled");
    }
    const Clock& clock = *core->environment.clock;
    const TimePoint begin = clock.now();
    bool kept = false;
    Result<devices::Executable> compiled =
        core->cache ? core->cache->compile(*core->client, program, options, &kept)
                    : core->client->compile(program, options);
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
  return on_blocking_thread("load", call,
                            [client = core().client.get(), serialized = std::move(serialized)] {
                              return client->load(serialized);
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
  return on_blocking_thread("memory_stats", call, [client = core().client.get(), device] {
    return client->memory_stats(device);
  });
}

Future<void> Runtime::close() const {
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
  const Future<void> ended = spawn(inline_executor(), all.close_all());
  static_cast<void>(
      ended.then(inline_executor(), [closed](Status status) { closed->set(std::move(status)); }));
  return Future<void>(Ref<Cell<void>>(closed));
}

}  // namespace millrace
