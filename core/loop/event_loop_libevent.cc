// EventLoop over libevent, the twin of event_loop_uv.cc. An eventfd wakes it (a base made without
// libevent's thread support has no other way).
#include <event2/event.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/free_by.h"
#include "millrace/core/loop/event_fd.h"
#include "millrace/core/loop/event_loop_base.h"

namespace millrace {
namespace {

using OwnedEvent = std::unique_ptr<event, FreeBy<&event_free>>;

// What epoll cannot wait for, reported before libevent logs about it.
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

class EventWatch final : public WatchBase {
 public:
  EventWatch(LoopBase& loop, event_base* base, int descriptor)
      : WatchBase(loop), base_(base), descriptor_(descriptor) {}

 private:
  Status begin(unsigned wanted) override {
    int events = EV_PERSIST;  // an error or a hangup comes as all that is asked for
    if ((wanted & kReadable) != 0) events |= EV_READ;
    if ((wanted & kWritable) != 0) events |= EV_WRITE;
    event_.reset(
        event_new(base_, descriptor_, static_cast<short>(events), &EventWatch::on_event, this));
    if (event_ && event_add(event_.get(), nullptr) == 0) return {};
    return fail(ErrorCode::kInternal, "waiting for a descriptor: libevent refused it");
  }
  void end() noexcept override { event_.reset(); }
  static void on_event(evutil_socket_t /*descriptor*/, short events, void* argument) {
    unsigned readiness = 0;
    if ((events & EV_READ) != 0) readiness |= kReadable;
    if ((events & EV_WRITE) != 0) readiness |= kWritable;
    static_cast<EventWatch*>(argument)->found(readiness);
  }

  event_base* const base_;
  const int descriptor_;
  OwnedEvent event_;
};

std::unexpected<Error> exhausted() { return no_loop("libevent has no descriptors or no memory"); }

class LibeventLoop final : public LoopBase {
 public:
  LibeventLoop(const Clock& clock, EventFd wake_fd)
      : LoopBase(clock), event_(std::make_unique<Events>(std::move(wake_fd))) {}

  // Once, first. After an error the loop is destroyed.
  Status open() {
    Events& e = *event_;
    if (deadline().descriptor() < 0) return exhausted();
    // An epoll and a pair for signals, without which libevent ends the process.
    MILLRACE_TRY_STATUS(check_descriptors_left(4));
    e.base.reset(event_base_new());
    if (!e.base) return exhausted();
    MILLRACE_TRY(e.wake, listen(e.wake_fd.descriptor(), [](evutil_socket_t, short, void* self) {
                   static_cast<LibeventLoop*>(self)->event_->wake_fd.consume();
                   static_cast<LibeventLoop*>(self)->drain();
                 }));
    MILLRACE_TRY(e.deadline,
                 listen(deadline().descriptor(), [](evutil_socket_t, short, void* self) {
                   static_cast<LibeventLoop*>(self)->on_deadline();
                 }));
    return {};
  }

  Result<std::unique_ptr<DescriptorWatch>> watch(int descriptor) override {
    MILLRACE_TRY_STATUS(check_watchable(descriptor));
    evutil_make_socket_nonblocking(descriptor);
    return std::make_unique<EventWatch>(*this, event_->base.get(), descriptor);
  }

 private:
  struct Events {
    explicit Events(EventFd fd) : wake_fd(std::move(fd)) {}
    std::unique_ptr<event_base, FreeBy<&event_base_free>> base;
    const EventFd wake_fd;
    OwnedEvent wake;
    OwnedEvent deadline;
  };

  Result<OwnedEvent> listen(int descriptor, event_callback_fn callback) {
    OwnedEvent made(
        event_new(event_->base.get(), descriptor, EV_READ | EV_PERSIST, callback, this));
    if (!made || event_add(made.get(), nullptr) != 0) return exhausted();
    return made;
  }

  void turn(bool wait) override {
    // Without EVLOOP_ONCE it would go on as long as it finds something.
    const int flags = wait ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK;
    MILLRACE_CHECK(event_base_loop(event_->base.get(), flags) >= 0, "event_base_loop");
  }
  void signal() noexcept override { event_->wake_fd.signal(); }
  void release() noexcept override { event_.reset(); }

  std::unique_ptr<Events> event_;
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
