// EventLoop over libevent, the twin of event_loop_uv.cc. An eventfd wakes it (a base made without
// libevent's thread support has no other way), a timer descriptor carries the next deadline
// (libevent's timers are taken from a coarse cached time), and due timers run before every wait.
#include <event2/event.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/check.h"
#include "millrace/core/event_fd.h"
#include "millrace/core/event_loop.h"
#include "millrace/core/loop_inbox.h"

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
      : clock_(clock), timers_(clock), wake_fd_(std::move(wake_fd)) {}

  // Once, first. After an error the loop is destroyed.
  Status open() {
    if (deadline_fd_.descriptor() < 0) return exhausted();
    // An epoll and a pair for signals, without which libevent ends the process.
    MILLRACE_TRY_STATUS(check_descriptors_left(4));
    base_.reset(event_base_new());
    if (!base_) return exhausted();
    MILLRACE_TRY(wake_event_, listen(wake_fd_.descriptor(), [](evutil_socket_t, short, void* self) {
                   static_cast<LibeventLoop*>(self)->drain();
                 }));
    MILLRACE_TRY(deadline_event_,
                 listen(deadline_fd_.descriptor(), [](evutil_socket_t, short, void* self) {
                   static_cast<LibeventLoop*>(self)->on_deadline();
                 }));
    timers_.set_wake([this] { wake(); });
    return {};
  }

  ~LibeventLoop() override {
    close();
    wake_event_ = nullptr;
    deadline_event_ = nullptr;
  }

  void submit(Work* work) noexcept override {
    if (inbox_.post(work)) send_wake();
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

  void close() override { inbox_.close(); }

 private:
  Result<OwnedEvent> listen(int descriptor, event_callback_fn callback) {
    OwnedEvent made(event_new(base_.get(), descriptor, EV_READ | EV_PERSIST, callback, this));
    if (!made || event_add(made.get(), nullptr) != 0) return exhausted();
    return made;
  }

  void step(int flags) {
    ran_ += timers_.run_due();
    deadline_fd_.arm(timers_.next_deadline(), clock_);
    MILLRACE_CHECK(event_base_loop(base_.get(), flags) >= 0, "event_base_loop");
  }

  void wake() {
    if (inbox_.needs_wake()) send_wake();
  }
  void send_wake() { wake_fd_.signal(); }

  void drain() {
    wake_fd_.consume();
    if (inbox_.drain(ran_)) send_wake();
  }

  // Only wakes: the next step runs what is due.
  void on_deadline() { deadline_fd_.consume(); }

  const Clock& clock_;
  TimerQueue timers_;
  std::unique_ptr<event_base, FreeBase> base_;
  const EventFd wake_fd_;
  DeadlineFd deadline_fd_;
  OwnedEvent wake_event_;
  OwnedEvent deadline_event_;
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
