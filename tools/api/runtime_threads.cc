#include "millrace/tools/api/runtime_threads.h"

#include <exception>
#include <string>
#include <utility>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/cores.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/tools/api/starting.h"

namespace millrace {

// Destroyed in the reverse order: what runs on the loop may use the executors.
struct RuntimeThreads::Parts {
  const unsigned generation = detail::fork_generation();
  Given given = {};
  std::unique_ptr<PoolExecutor> blocking;
  std::unique_ptr<PoolExecutor> compute;
  std::unique_ptr<PoolExecutor> programs;
  std::unique_ptr<EventLoopThread> loop;
};

namespace {

Status check(const RuntimeThreadsOptions& options) {
  const auto in_range = [](const char* name, int value, int least) -> Status {
    const int most = most_threads();
    if (value >= least && value <= most) return {};
    return fail(ErrorCode::kInvalidArgument, "RuntimeThreadsOptions::" + std::string(name) +
                                                 " is " + std::to_string(value) +
                                                 ", but must be at least " + std::to_string(least) +
                                                 " and at most " + std::to_string(most));
  };
  MILLRACE_TRY_STATUS(in_range("threads", options.threads, 0));
  MILLRACE_TRY_STATUS(in_range("blocking_threads", options.blocking_threads, 1));
  const Status cores = check_cores(options.cores);
  if (!cores) return std::unexpected(cores.error().with_context("RuntimeThreadsOptions::cores"));
  return {};
}

// oneTBB's workers move between its arenas, a library's among them: threads that stay on some cores
// are of our own.
std::unique_ptr<PoolExecutor> make_computing(int threads, const std::string& name,
                                             const std::vector<int>& cores) {
  return cores.empty() ? make_executor(default_compute_backend(), threads, name)
                       : make_thread_executor(threads, name, cores);
}

}  // namespace

Result<std::shared_ptr<RuntimeThreads>> RuntimeThreads::create(
    const RuntimeThreadsOptions& options) {
  MILLRACE_TRY_STATUS(check(options));
  MILLRACE_TRY_STATUS(check_first_generation("RuntimeThreads::create"));
  const int all = options.cores.empty() ? usable_cores() : static_cast<int>(options.cores.size());
  const int threads = options.threads > 0 ? options.threads : all;
  auto parts = std::make_unique<Parts>();
  try {
    MILLRACE_TRY(std::unique_ptr<EventLoop> loop, create_uv_event_loop());
    parts->blocking =
        make_executor(ExecutorBackend::kThreads, options.blocking_threads, "millrace-io");
    parts->compute = make_computing(threads, "millrace-work", options.cores);
    parts->programs = make_computing(threads, "millrace-dev", options.cores);
    parts->loop = std::make_unique<EventLoopThread>(std::move(loop), "millrace-loop");
  } catch (const std::exception&) {
    return std::unexpected(not_made_error("the threads of runtimes could not be made"));
  }
  parts->given = {.loop = &parts->loop->loop(),
                  .compute = parts->compute.get(),
                  .programs = parts->programs.get(),
                  .blocking = parts->blocking.get(),
                  .threads = threads};
  return std::shared_ptr<RuntimeThreads>(new RuntimeThreads(std::move(parts)));
}

std::shared_ptr<RuntimeThreads> RuntimeThreads::make(const Given& given) {
  MILLRACE_CHECK(given.loop && given.compute && given.blocking,
                 "RuntimeThreads get a loop, and executors for what computes and what may block");
  auto parts = std::make_unique<Parts>();
  parts->given = given;
  if (given.programs == nullptr) parts->given.programs = given.compute;
  for (const Executor* executor : {given.compute, parts->given.programs, given.blocking}) {
    MILLRACE_CHECK(executor != &inline_executor(),
                   "RuntimeThreads get executors that do not run work inside of submit");
  }
  MILLRACE_CHECK(given.threads >= 1, "RuntimeThreads have at least one thread");
  return std::shared_ptr<RuntimeThreads>(new RuntimeThreads(std::move(parts)));
}

RuntimeThreads::RuntimeThreads(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

RuntimeThreads::~RuntimeThreads() {
  if (parts_->generation != detail::fork_generation()) {
    static_cast<void>(parts_.release());  // the threads are the parent's
    return;
  }
  if (parts_->loop == nullptr) return;  // a program's own
  MILLRACE_CHECK(!on_own_thread(),
                 "RuntimeThreads were destroyed on one of their own threads, whose end that would "
                 "wait for: the last shared_ptr of them goes on a thread of yours");
}

EventLoop& RuntimeThreads::loop() const { return *parts_->given.loop; }
Executor& RuntimeThreads::compute() const { return *parts_->given.compute; }
Executor& RuntimeThreads::programs() const { return *parts_->given.programs; }
Executor& RuntimeThreads::blocking() const { return *parts_->given.blocking; }
int RuntimeThreads::threads() const { return parts_->given.threads; }

bool RuntimeThreads::on_own_thread() const {
  if (running_loop() == parts_->given.loop) return true;
  if (parts_->loop && parts_->loop->on_own_thread()) return true;
  for (const Executor* executor : {&compute(), &programs(), &blocking()}) {
    const auto* const pool = dynamic_cast<const PoolExecutor*>(executor);
    if (pool != nullptr && pool->on_own_thread()) return true;
  }
  return false;
}

}  // namespace millrace
