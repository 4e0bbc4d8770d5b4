// EventLoop over libevent, the twin of event_loop_uv.cc. An eventfd wakes it (a base made without
// libevent's thread support has no other way), a timer descriptor carries the next deadline
// (libevent's timers are taken from a coarse cached time), and due timers run before every wait.
#include <event2/event.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/base/check.h"
#include "millrace/core/loop/event_fd.h"
#include "millrace/core/loop/event_loop.h"
#include "millrace/core/loop/loop_inbox.h"

namespace millrace {
namespace {

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

std::unexpected<Error> exhausted() { return no_loop("libevent has no descriptors or no memory"); }

class LibeventLoop final : public EventLoop {
 public:
  LibeventLoop(const Clock& clock, EventFd wake_fd)
      : clock_(clock), timers_(clock), event_(std::make_unique<Events>(std::move(wake_fd))) {}

  // Once, first. After an error the loop is destroyed.
  Status open() {
    Events& e = *event_;
    if (e.deadline_fd.descriptor() < 0) return exhausted();
    // An epoll and a pair for signals, without which libevent ends the process.
    MILLRACE_TRY_STATUS(check_descriptors_left(4));
    e.base.reset(event_base_new());
    if (!e.base) return exhausted();
    MILLRACE_TRY(e.wake, listen(e.wake_fd.descriptor(), [](evutil_socket_t, short, void* self) {
                   static_cast<LibeventLoop*>(self)->drain();
                 }));
    MILLRACE_TRY(e.deadline,
                 listen(e.deadline_fd.descriptor(), [](evutil_socket_t, short, void* self) {
                   static_cast<LibeventLoop*>(self)->on_deadline();
                 }));
    timers_.set_wake([this] { wake(); });
    return {};
  }

  // libevent's part goes, the rest stays and refuses.
  static void operator delete(LibeventLoop* loop, std::destroying_delete_t) {
    loop->close();
    loop->gate_.shut();
    loop->event_.reset();
    detail::keep_for_good(loop);
  }

  void submit(Work* work) noexcept override {
    if (inbox_.post(work)) send_wake();
  }

  void run() override {
    const RunningLoopScope here(*this);
    while (!stopping_.load()) step(EVLOOP_ONCE);
    stopping_.store(false);
  }

  bool poll() override {
    const RunningLoopScope here(*this);
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
    return std::make_unique<EventWatch>(event_->base.get(), descriptor);
  }

  void close() override {
    inbox_.close();
    timers_.close();
  }

 private:
  struct Events {
    explicit Events(EventFd fd) : wake_fd(std::move(fd)) {}
    std::unique_ptr<event_base, FreeBase> base;
    const EventFd wake_fd;
    DeadlineFd deadline_fd;
    OwnedEvent wake;
    OwnedEvent deadline;
  };

  Result<OwnedEvent> listen(int descriptor, event_callback_fn callback) {
    OwnedEvent made(
        event_new(event_->base.get(), descriptor, EV_READ | EV_PERSIST, callback, this));
    if (!made || event_add(made.get(), nullptr) != 0) return exhausted();
    return made;
  }

  void step(int flags) {
    ran_ += timers_.run_due();
    event_->deadline_fd.arm(timers_.next_deadline(), clock_);
    MILLRACE_CHECK(event_base_loop(event_->base.get(), flags) >= 0, "event_base_loop");
  }

  void wake() {
    if (inbox_.needs_wake()) send_wake();
  }
  void send_wake() {
    gate_.pass([this] { event_->wake_fd.signal(); });
  }

  void drain() {
    event_->wake_fd.consume();
    if (inbox_.drain(ran_)) send_wake();
  }

  // Only wakes: the next step runs what is due.
  void on_deadline() { event_->deadline_fd.consume(); }

  const Clock& clock_;
  TimerQueue timers_;
  std::unique_ptr<Events> event_;
  WakeGate gate_;
  LoopInbox inbox_;
  std::atomic<bool> stopping_{false};
  std::size_t ran_ = 0;  // since poll() began
};

}  // namespace

Result<std::unique_ptr<EventLoop>> create_libevent_event_loop(const Clock& clock) {
  Result<EventFd> wake_fd = EventFd::create();
  if (!wake_fd) return exhausted();
  auto loop = std::make_unique<LibeventLoop>(clock, *std::move(wake_fd));
  MILLRACE_TRY_STATUS(loop->open());
  return loop;
}

}  // namespace millrace
