#include "millrace/tools/commands/limits.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <stop_token>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/printed.h"
#include "millrace/core/loop/event_fd.h"
#include "millrace/tools/api/runtime.h"

namespace millrace::commands {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// What the handler can reach; it may use nothing that takes a lock.
std::atomic<const EventFd*> handler_event{nullptr};
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<const EventFd*>::is_always_lock_free);
struct sigaction old_actions[std::size(kSignals)];

void on_signal(int number) {
  const int saved_errno = errno;
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    if (const EventFd* const event = handler_event.load()) event->signal();
    errno = saved_errno;
    return;
  }
  // The second signal: the cursor comes back, the kernel does the rest.
  constexpr char kShowCursor[] = "\x1b[?25h\n";
  if (::isatty(STDERR_FILENO) == 1) {
    [[maybe_unused]] const ssize_t written =
        ::write(STDERR_FILENO, kShowCursor, sizeof kShowCursor - 1);
  }
  ::_exit(128 + number);
}

void catch_signals(const EventFd& event) {
  const EventFd* none = nullptr;
  MILLRACE_CHECK(handler_event.compare_exchange_strong(none, &event), "one Limits at a time");
  first_signal.store(0);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  // A parent may have blocked them, which a process inherits; the threads to come, from this one.
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int number : kSignals) ::sigaddset(&ours, number);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], nullptr, &old_actions[i]);
    // The parent wants it so (nohup, a shell's background job).
    if (old_actions[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

void restore_signals() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    ::sigaction(kSignals[i], &old_actions[i], nullptr);
  handler_event.store(nullptr);
}

}  // namespace

// What the thread of the limits uses; it may outlive them.
struct Limits::Shared {
  explicit Shared(EventFd made) : event(std::move(made)) {}

  Duration grace_now() {
    MutexLock lock(mutex);
    return grace;
  }
  static void end_at(TimerQueue& timers, const std::shared_ptr<Shared>& self, TimePoint when,
                     ErrorCode code, Duration after) {
    timers.schedule(when, [self, code, after] { self->end_process(code, after); });
  }
  void end_process(ErrorCode code, Duration after) {
    MutexLock lock(mutex);  // until the process has ended: what this uses stays
    if (limits == nullptr) return;
    const std::string under_way = calls ? calls() : "";
    const Error late(code, (under_way.empty() ? "what had begun has not ended"
                                              : under_way + " has not returned") +
                               printed(" within %g s of it, so the process does not wait for it",
                                       std::chrono::duration<double>(after).count()));
    const Error error =
        outcome ? limits->at_end(late, "while the runtime was closing") : limits->at_end(late);
    // What went wrong before the limit came is what the command has come to.
    const bool failed = outcome && *outcome != ExitCode::kOk;
    const ExitCode exit =
        report_error(error, limits->console_, limits->json(), failed ? outcome : std::nullopt);
    command_has_ended(exit);  // reported: the timer of end_process_at() reports nothing more
    ::_exit(static_cast<int>(exit));
  }

  const EventFd event;                     // the handler signals it
  std::unique_ptr<DescriptorWatch> watch;  // confined to the thread
  Mutex mutex;
  const Limits* limits MILLRACE_GUARDED_BY(mutex) = nullptr;  // nullptr: the command is over
  Duration grace MILLRACE_GUARDED_BY(mutex){};
  std::function<std::string()> calls MILLRACE_GUARDED_BY(mutex);
  std::optional<ExitCode> outcome MILLRACE_GUARDED_BY(mutex);
};

Limits::Limits(Console& console, Options options, std::shared_ptr<Shared> shared,
               std::unique_ptr<EventLoop> loop)
    : console_(console),
      options_(std::move(options)),
      shared_(std::move(shared)),
      thread_(std::make_unique<EventLoopThread>(std::move(loop), "millrace-signal")) {
  MutexLock lock(shared_->mutex);
  shared_->limits = this;
  shared_->grace = options_.grace;
}

Result<std::unique_ptr<Limits>> Limits::create(Console& console, Options options) {
  const TimePoint begin = steady_clock().now();
  MILLRACE_TRY(EventFd event, EventFd::create());
  auto shared = std::make_shared<Shared>(std::move(event));
  MILLRACE_TRY(std::unique_ptr<EventLoop> loop, create_uv_event_loop());
  std::unique_ptr<Limits> limits(
      new Limits(console, std::move(options), std::move(shared), std::move(loop)));
  const std::stop_source stop;
  limits->call_.stop = stop.get_token();
  limits->watch_signals(stop);
  if (const auto& seconds = limits->options_.deadline_seconds) {
    const TimePoint deadline =
        begin + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*seconds));
    limits->call_.deadline = deadline;
    end_process_at(deadline + kLongest);
    Shared::end_at(limits->thread_->loop().timers(), limits->shared_, deadline + kReport,
                   ErrorCode::kDeadlineExceeded, kReport);
  }
  return limits;
}

void Limits::watch_signals(const std::stop_source& stop) {
  EventLoop& loop = thread_->loop();
  auto on_readable = [&loop, stop, shared = shared_](const Result<unsigned>& ready) mutable {
    if (!ready) return;
    const Duration grace = shared->grace_now();
    Shared::end_at(loop.timers(), shared, steady_clock().now() + grace, ErrorCode::kCancelled,
                   grace);
    stop.request_stop();
  };
  const Future<void> begun = make_ready().then(
      loop, [&loop, shared = shared_, on_readable = std::move(on_readable)](const Status&) mutable {
        Result<std::unique_ptr<DescriptorWatch>> found = loop.watch(shared->event.descriptor());
        MILLRACE_CHECK(found, "an eventfd can be watched");
        shared->watch = *std::move(found);
        static_cast<void>(
            shared->watch->wait(kReadable).then(inline_executor(), std::move(on_readable)));
      });
  static_cast<void>(wait_blocking(begun));
  catch_signals(shared_->event);
}

Limits::~Limits() {
  restore_signals();
  {
    MutexLock lock(shared_->mutex);
    shared_->limits = nullptr;
  }
  if (Runtime::left_behind()) {
    // The thread may never end (OpeningGivenUp of devices/registry.h); the process will.
    static_cast<void>(thread_.release());
    return;
  }
  const Future<void> gone = make_ready().then(
      thread_->loop(), [shared = shared_](const Status&) { shared->watch.reset(); });
  static_cast<void>(wait_blocking(gone));
}

int Limits::signal() { return first_signal.load(); }

void Limits::opened(std::function<std::string()> calls) {
  MutexLock lock(shared_->mutex);
  shared_->calls = std::move(calls);
}

void Limits::terminate_after(Duration time) {
  TimerQueue& timers = thread_->loop().timers();
  timers.schedule(timers.clock().now() + time, [] {
    if (signal() == 0) ::kill(::getpid(), SIGTERM);
  });
}

void Limits::set_grace(Duration grace) {
  MutexLock lock(shared_->mutex);
  shared_->grace = grace;
}

void Limits::set_outcome(ExitCode code) {
  MutexLock lock(shared_->mutex);
  shared_->outcome = code;
}

Error Limits::at_end(const Error& error, const std::string& progress) const {
  const std::optional<double>& seconds = options_.deadline_seconds;
  const std::string behind = progress.empty() ? "" : " " + progress;
  if (seconds && error.code() == ErrorCode::kDeadlineExceeded) {
    return error.with_context(printed("--deadline %g came", *seconds) + behind +
                              " (allow more seconds, or ask for less)");
  }
  const int number = signal();
  if (number == 0 || error.code() != ErrorCode::kCancelled) return error;
  return error.with_context(std::string("stopped on ") + signal_name(number) + behind)
      .with_detail(ExitWith{exit_code_of_signal(number)});
}

const char* signal_name(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

}  // namespace millrace::commands
