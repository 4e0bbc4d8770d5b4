#include "millrace/tools/commands/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "millrace/core/blocking.h"
#include "millrace/core/check.h"

namespace millrace::commands {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// What the handler can reach; it may use nothing that takes a lock.
std::atomic<int> handler_descriptor{-1};
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
struct sigaction old_actions[std::size(kSignals)];

void on_signal(int number) {
  const int saved_errno = errno;
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(handler_descriptor.load(), &one, sizeof one);
    errno = saved_errno;
    return;
  }
  // Asked twice: the cursor comes back, the rest is the kernel's.
  constexpr char kShowCursor[] = "\x1b[?25h\n";
  if (::isatty(STDERR_FILENO) == 1) {
    [[maybe_unused]] const ssize_t written =
        ::write(STDERR_FILENO, kShowCursor, sizeof kShowCursor - 1);
  }
  ::_exit(128 + number);
}

}  // namespace

struct CaughtSignals::Pipe {
  explicit Pipe(int opened) : descriptor(opened) {}
  ~Pipe() { ::close(descriptor); }
  const int descriptor;
  std::unique_ptr<DescriptorWatch> watch;  // of the loop's thread
};

Result<std::unique_ptr<CaughtSignals>> CaughtSignals::create() {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) {
    return fail(ErrorCode::kResourceExhausted,
                std::string("cannot make an eventfd: ") + ::strerror(errno));
  }
  std::unique_ptr<CaughtSignals> made(new CaughtSignals);
  made->pipe_ = std::make_shared<Pipe>(descriptor);
  int none = -1;
  MILLRACE_CHECK(handler_descriptor.compare_exchange_strong(none, descriptor),
                 "one CaughtSignals at a time");
  first_signal.store(0);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], nullptr, &old_actions[i]);
    // Who started the process wants it so (nohup, a shell's background job).
    if (old_actions[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kSignals[i], &action, nullptr);
  }
  return made;
}

CaughtSignals::~CaughtSignals() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    ::sigaction(kSignals[i], &old_actions[i], nullptr);
  handler_descriptor.store(-1);
}

int CaughtSignals::signal() const { return first_signal.load(); }

SignalWatch::SignalWatch(std::unique_ptr<EventLoop> loop, const CaughtSignals& signals)
    : thread_(std::move(loop), "millrace-signal"), pipe_(signals.pipe_) {}

Result<std::unique_ptr<SignalWatch>> SignalWatch::create(const CaughtSignals& signals,
                                                         std::stop_source stop) {
  MILLRACE_TRY(std::unique_ptr<EventLoop> made, create_uv_event_loop());
  std::unique_ptr<SignalWatch> watch(new SignalWatch(std::move(made), signals));
  EventLoop& loop = watch->thread_.loop();
  auto begin = [&loop, stop = std::move(stop), pipe = watch->pipe_](const Status&) mutable {
    Result<std::unique_ptr<DescriptorWatch>> found = loop.watch(pipe->descriptor);
    MILLRACE_CHECK(found, "an eventfd can be watched");
    pipe->watch = *std::move(found);
    static_cast<void>(pipe->watch->wait(kReadable).then(
        inline_executor(), [stop = std::move(stop)](const Result<unsigned>& ready) mutable {
          if (ready) stop.request_stop();
        }));
  };
  const Future<void> begun = make_ready().then(loop, std::move(begin));
  MILLRACE_TRY_STATUS(wait_blocking(begun));
  return watch;
}

SignalWatch::~SignalWatch() {
  const Future<void> gone =
      make_ready().then(thread_.loop(), [pipe = pipe_](const Status&) { pipe->watch.reset(); });
  static_cast<void>(wait_blocking(gone));
}

const char* signal_name(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

}  // namespace millrace::commands
