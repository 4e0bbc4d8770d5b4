// EventLoop over libuv. One async handle wakes it, one poll handle gets the next deadline
// (libuv's own timers have whole milliseconds, which a loader's read would lose at every batch).
#include <uv.h>

#include <memory>
#include <string>

#include "millrace/core/base/check.h"
#include "millrace/core/loop/event_loop_base.h"

namespace millrace {
namespace {

static_assert(UV_READABLE == int{kReadable} && UV_WRITABLE == int{kWritable});

Status check_uv(int status) {
  if (status == 0) return {};
  return no_loop(uv_strerror(status));
}

class UvWatch final : public WatchBase {
 public:
  static Result<std::unique_ptr<DescriptorWatch>> create(LoopBase& loop, uv_loop_t* uv,
                                                         int descriptor) {
    auto* poll = new uv_poll_t;
    if (const int status = uv_poll_init(uv, poll, descriptor); status != 0) {
      delete poll;  // a handle that was not initialised needs no closing
      return fail(ErrorCode::kInvalidArgument, "watching descriptor " + std::to_string(descriptor) +
                                                   " in an event loop: " + uv_strerror(status));
    }
    return std::unique_ptr<DescriptorWatch>(new UvWatch(loop, poll));
  }

  ~UvWatch() override {
    uv_poll_stop(poll_);
    poll_->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(poll_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
  }

 private:
  UvWatch(LoopBase& loop, uv_poll_t* poll) : WatchBase(loop), poll_(poll) { poll_->data = this; }

  Status begin(unsigned wanted) override {
    // An error or a hangup comes as all that is asked for.
    const int events = static_cast<int>(wanted & (kReadable | kWritable));
    const int status = uv_poll_start(poll_, events, &UvWatch::on_poll);
    if (status == 0) return {};
    return fail(ErrorCode::kInternal,
                std::string("waiting for a descriptor: ") + uv_strerror(status));
  }
  void end() noexcept override { uv_poll_stop(poll_); }
  static void on_poll(uv_poll_t* poll, int status, int events) {
    // After an error the next call on the descriptor says which, and libuv has stopped.
    if (status != 0) events = UV_READABLE | UV_WRITABLE;
    static_cast<UvWatch*>(poll->data)->found(static_cast<unsigned>(events), status != 0);
  }

  uv_poll_t* poll_;
};

class UvEventLoop final : public LoopBase {
 public:
  explicit UvEventLoop(const Clock& clock) : LoopBase(clock) {}

  // Once, first. After an error the loop is destroyed.
  Status open() {
    // An epoll, an eventfd and a pipe; the first loop of a process makes another pipe. Where they
    // run out inside libuv, the latter ends the process and the former leave the epoll open.
    MILLRACE_TRY_STATUS(check_descriptors_left(6));
    Handles& uv = *uv_;
    if (deadline().descriptor() < 0) return check_uv(UV_EMFILE);
    MILLRACE_TRY_STATUS(check_uv(uv_loop_init(&uv.loop)));
    uv.loop.data = this;  // there is one
    MILLRACE_TRY_STATUS(add(uv.wake, uv_async_init(&uv.loop, &uv.wake, &UvEventLoop::on_wake)));
    MILLRACE_TRY_STATUS(
        add(uv.deadline, uv_poll_init(&uv.loop, &uv.deadline, deadline().descriptor())));
    return check_uv(uv_poll_start(&uv.deadline, UV_READABLE, &UvEventLoop::on_readable));
  }

  Result<std::unique_ptr<DescriptorWatch>> watch(int descriptor) override {
    return UvWatch::create(*this, &uv_->loop, descriptor);
  }

 private:
  // data == nullptr: not made yet.
  struct Handles {
    Handles() = default;
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;
    ~Handles() {
      if (loop.data == nullptr) return;
      if (wake.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&wake), nullptr);
      if (deadline.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&deadline), nullptr);
      uv_run(&loop, UV_RUN_DEFAULT);  // until these are closed, and those of destroyed watches
      MILLRACE_CHECK(uv_loop_close(&loop) == 0, "a watch outlives its event loop");
    }

    uv_loop_t loop{};
    uv_async_t wake{};
    uv_poll_t deadline{};
  };

  void turn(bool wait) override { uv_run(&uv_->loop, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT); }
  void signal() noexcept override { uv_async_send(&uv_->wake); }
  void release() noexcept override { uv_.reset(); }

  template <class Handle>
  Status add(Handle& handle, int status) {
    MILLRACE_TRY_STATUS(check_uv(status));
    handle.data = this;  // to be closed
    return {};
  }
  static void on_wake(uv_async_t* handle) { static_cast<UvEventLoop*>(handle->data)->drain(); }
  static void on_readable(uv_poll_t* handle, int /*status*/, int /*events*/) {
    static_cast<UvEventLoop*>(handle->data)->on_deadline();
  }

  std::unique_ptr<Handles> uv_ = std::make_unique<Handles>();
};

}  // namespace

Result<std::unique_ptr<EventLoop>> create_uv_event_loop(const Clock& clock) {
  auto loop = std::make_unique<UvEventLoop>(clock);
  MILLRACE_TRY_STATUS(loop->open());
  return loop;
}

}  // namespace millrace
