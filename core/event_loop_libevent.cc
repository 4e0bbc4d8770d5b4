// EventLoop over libevent, the twin of event_loop_uv.cc. An eventfd wakes it (a base made without
// libevent's thread support has no other way), a timer descriptor carries the next deadline
// (libevent's timers are taken from a coarse cached time), and due timers run before every wait.
#include <event2/event.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/check.h"
#include "millrace/core/event_fd.h"
#include "millrace/core/event_loop.h"

namespace millrace {
namespace {

// Posted work that runs before descriptors and timers get their turn again.
constexpr int kDrainLimit = 1024;

struct FreeEvent {
  void operator()(event* e) const { event_free(e); }
};
using OwnedEvent = std::unique_ptr<event, FreeEvent>;
struct FreeBase {
  void operator()(event_base* base) const { event_base_free(base); }
};

// What epoll cannot wait for, told before libevent logs about it.
Status check_watchable(int descriptor) {
  struct stat info{};
  const std::string what =
      "watching descriptor " + std::to_string(descriptor) + " in an event loop: ";
  if (fstat(descriptor, &info) != 0) {
    return fail(ErrorCode::kInvalidArgument, what + "it is not open");
  }
  if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, what + "a file is always ready and never waited for");
  }
  return {};
}

class EventWatch final : public DescriptorWatch {
 public:
  EventWatch(event_base* base, int descriptor) : base_(base), descriptor_(descriptor) {}

  ~EventWatch() override {
    event_ = nullptr;
    if (waiting_) {
      waiting_->set_error(Error(ErrorCode::kCancelled, "the watch on the descriptor was closed"));
    }
  }

  Future<unsigned> wait(unsigned wanted) override {
    if (waiting_) {
      return fail(ErrorCode::kFailedPrecondition,
                  "waiting for a descriptor: another wait on the same watch is going on");
    }
    int events = 0;  // an error or a hang-up comes as all that is asked for
    if ((wanted & kReadable) != 0) events |= EV_READ;
    if ((wanted & kWritable) != 0) events |= EV_WRITE;
    event_.reset(event_new(base_, descriptor_, static_cast<short>(events), &EventWatch::on_event,
                           this));  // for one time
    if (!event_ || event_add(event_.get(), nullptr) != 0) {
      return fail(ErrorCode::kInternal, "waiting for a descriptor: libevent refused it");
    }
    wanted_ = wanted;
    return waiting_.emplace().future();
  }

 private:
  static void on_event(evutil_socket_t /*descriptor*/, short events, void* argument) {
    auto* self = static_cast<EventWatch*>(argument);
    unsigned found = 0;
    if ((events & EV_READ) != 0) found |= kReadable;
    if ((events & EV_WRITE) != 0) found |= kWritable;
    Promise<unsigned> promise = *std::exchange(self->waiting_, std::nullopt);
    promise.set(found & self->wanted_);  // may wait again, or destroy the watch
  }

  event_base* const base_;
  const int descriptor_;
  OwnedEvent event_;
  unsigned wanted_ = 0;
  std::optional<Promise<unsigned>> waiting_;
};

class LibeventLoop final : public EventLoop {
 public:
  explicit LibeventLoop(const Clock& clock) : clock_(clock), timers_(clock) {
    MILLRACE_CHECK(base_ && timer_fd_ >= 0,
                   "a libevent loop could not be made: out of descriptors or memory");
    wake_event_ = listen(wake_fd_.descriptor(), [](evutil_socket_t, short, void* self) {
      static_cast<LibeventLoop*>(self)->drain();
    });
    deadline_event_ = listen(timer_fd_, [](evutil_socket_t, short, void* self) {
      static_cast<LibeventLoop*>(self)->on_deadline();
    });
    timers_.set_wake([this] { wake(); });
  }

  ~LibeventLoop() override {
    close();
    wake_event_ = nullptr;
    deadline_event_ = nullptr;
    ::close(timer_fd_);
  }

  void submit(Work* work) noexcept override {
    {
      MutexLock lock(mutex_);
      if (!closed_) {
        posted_.push(work);
        work = nullptr;
      }
    }
    if (work != nullptr) {
      work->drop();
    } else {
      wake();
    }
  }

  void run() override {
    while (!stopping_.load()) step(EVLOOP_ONCE);
    stopping_.store(false);
  }

  bool poll() override {
    ran_ = 0;
    step(EVLOOP_NONBLOCK);
    return ran_ != 0;
  }

  void stop() override {
    stopping_.store(true);
    wake();
  }

  TimerQueue& timers() override { return timers_; }

  Result<std::unique_ptr<DescriptorWatch>> watch(int descriptor) override {
    MILLRACE_TRY_STATUS(check_watchable(descriptor));
    evutil_make_socket_nonblocking(descriptor);
    return std::make_unique<EventWatch>(base_.get(), descriptor);
  }

  void close() override {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    while (Work* work = take_posted()) work->drop();
  }

 private:
  OwnedEvent listen(int descriptor, event_callback_fn callback) {
    OwnedEvent made(event_new(base_.get(), descriptor, EV_READ | EV_PERSIST, callback, this));
    MILLRACE_CHECK(made && event_add(made.get(), nullptr) == 0, "event_add");
    return made;
  }

  void step(int flags) {
    ran_ += timers_.run_due();
    arm(timers_.next_deadline());
    MILLRACE_CHECK(event_base_loop(base_.get(), flags) >= 0, "event_base_loop");
  }

  // The flag is down only while a write to the descriptor is needed to be heard.
  void wake() {
    if (!armed_.exchange(true)) wake_fd_.signal();
  }

  Work* take_posted() {
    MutexLock lock(mutex_);
    return posted_.pop();
  }

  void drain() {
    wake_fd_.consume();
    int left = kDrainLimit;
    for (; left > 0; --left) {
      Work* work = take_posted();
      if (work == nullptr) break;
      ++ran_;
      work->run();
    }
    // Down first, then look again: what is posted in between either sees it down or is seen here.
    armed_.store(false);
    if (left == 0 || has_posted()) wake();
  }

  bool has_posted() {
    MutexLock lock(mutex_);
    return !posted_.empty();
  }

  // From now on by the loop's clock, whatever clock that is; a deadline that has come fires at
  // once.
  void arm(std::optional<TimePoint> next) {
    if (next == armed_for_) return;
    itimerspec spec{};
    if (next) {
      const Duration left = std::max<Duration>(*next - clock_.now(), std::chrono::nanoseconds(1));
      const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
      spec.it_value.tv_sec = seconds.count();
      spec.it_value.tv_nsec = (left - seconds).count();
    }
    MILLRACE_CHECK(timerfd_settime(timer_fd_, 0, &spec, nullptr) == 0, "timerfd_settime");
    armed_for_ = next;
  }

  // Only wakes: the next step runs what is due.
  void on_deadline() {
    EventFd::consume(timer_fd_);
    armed_for_.reset();
  }

  const Clock& clock_;
  TimerQueue timers_;
  const std::unique_ptr<event_base, FreeBase> base_{event_base_new()};
  const EventFd wake_fd_ = EventFd::create().value();
  const int timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  OwnedEvent wake_event_;
  OwnedEvent deadline_event_;
  std::optional<TimePoint> armed_for_;
  Mutex mutex_;
  WorkQueue posted_ MILLRACE_GUARDED_BY(mutex_);
  bool closed_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::atomic<bool> armed_{false};
  std::atomic<bool> stopping_{false};
  std::size_t ran_ = 0;  // since poll() began
};

}  // namespace

std::unique_ptr<EventLoop> make_libevent_event_loop(const Clock& clock) {
  return std::make_unique<LibeventLoop>(clock);
}

}  // namespace millrace
