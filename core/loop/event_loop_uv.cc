// EventLoop over libuv. One async handle wakes it, one timer descriptor carries the next deadline
// (libuv's own timers have whole milliseconds, which a loader's read would lose at every batch);
// the prepare handle runs before every wait and is where due timers run and the next one is set.
#include <uv.h>

#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/base/check.h"
#include "millrace/core/loop/event_loop.h"
#include "millrace/core/loop/loop_inbox.h"

namespace millrace {
namespace {

Status check_uv(int status) {
  if (status == 0) return {};
  return no_loop(uv_strerror(status));
}

class UvWatch final : public DescriptorWatch {
 public:
  static Result<std::unique_ptr<DescriptorWatch>> create(uv_loop_t* loop, int descriptor) {
    auto* poll = new uv_poll_t;
    if (const int status = uv_poll_init(loop, poll, descriptor); status != 0) {
      delete poll;  // a handle that was not initialised needs no closing
      return fail(ErrorCode::kInvalidArgument, "watching descriptor " + std::to_string(descriptor) +
                                                   " in an event loop: " + uv_strerror(status));
    }
    return std::unique_ptr<DescriptorWatch>(new UvWatch(poll));
  }

  ~UvWatch() override {
    uv_poll_stop(poll_);
    poll_->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(poll_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
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
    if ((wanted & kReadable) != 0) events |= UV_READABLE;
    if ((wanted & kWritable) != 0) events |= UV_WRITABLE;
    if (const int status = uv_poll_start(poll_, events, &UvWatch::on_poll); status != 0) {
      return fail(ErrorCode::kInternal,
                  std::string("waiting for a descriptor: ") + uv_strerror(status));
    }
    wanted_ = wanted;
    return waiting_.emplace().future();
  }

 private:
  explicit UvWatch(uv_poll_t* poll) : poll_(poll) { poll_->data = this; }

  static void on_poll(uv_poll_t* poll, int status, int events) {
    auto* self = static_cast<UvWatch*>(poll->data);
    uv_poll_stop(poll);
    unsigned found = 0;
    if (status != 0) found = kReadable | kWritable;  // the next call tells
    if ((events & UV_READABLE) != 0) found |= kReadable;
    if ((events & UV_WRITABLE) != 0) found |= kWritable;
    Promise<unsigned> promise = *std::exchange(self->waiting_, std::nullopt);
    promise.set(found & self->wanted_);  // may wait again, or destroy the watch
  }

  uv_poll_t* poll_;
  unsigned wanted_ = 0;
  std::optional<Promise<unsigned>> waiting_;
};

class UvEventLoop final : public EventLoop {
 public:
  explicit UvEventLoop(const Clock& clock) : clock_(clock), timers_(clock) {}

  // Once, first. After an error the loop is destroyed.
  Status open() {
    // An epoll, an eventfd and a pipe; the first loop of a process makes another pipe. Where they
    // run out inside libuv, the latter ends the process and the former leave the epoll open.
    MILLRACE_TRY_STATUS(check_descriptors_left(6));
    Handles& uv = *uv_;
    if (uv.deadline_fd.descriptor() < 0) return check_uv(UV_EMFILE);
    MILLRACE_TRY_STATUS(check_uv(uv_loop_init(&uv.loop)));
    uv.loop.data = this;  // there is one
    MILLRACE_TRY_STATUS(add(uv.wake, uv_async_init(&uv.loop, &uv.wake, &UvEventLoop::on_wake)));
    MILLRACE_TRY_STATUS(
        add(uv.deadline, uv_poll_init(&uv.loop, &uv.deadline, uv.deadline_fd.descriptor())));
    MILLRACE_TRY_STATUS(add(uv.prepare, uv_prepare_init(&uv.loop, &uv.prepare)));
    MILLRACE_TRY_STATUS(check_uv(uv_prepare_start(&uv.prepare, &UvEventLoop::on_prepare)));
    MILLRACE_TRY_STATUS(
        check_uv(uv_poll_start(&uv.deadline, UV_READABLE, &UvEventLoop::on_deadline)));
    timers_.set_wake([this] { wake(); });
    return {};
  }

  // libuv's part goes, the rest stays and refuses.
  static void operator delete(UvEventLoop* loop, std::destroying_delete_t) {
    loop->close();
    loop->gate_.shut();
    loop->uv_.reset();
    detail::keep_for_good(loop);
  }

  void submit(Work* work) noexcept override {
    if (inbox_.post(work)) send_wake();
  }

  void run() override {
    const RunningLoopScope here(*this);
    while (!stopping_.load()) uv_run(&uv_->loop, UV_RUN_DEFAULT);
    stopping_.store(false);
  }

  bool poll() override {
    const RunningLoopScope here(*this);
    ran_ = 0;
    uv_run(&uv_->loop, UV_RUN_NOWAIT);
    return ran_ != 0;
  }

  void stop() override {
    stopping_.store(true);
    wake();
  }

  TimerQueue& timers() override { return timers_; }

  Result<std::unique_ptr<DescriptorWatch>> watch(int descriptor) override {
    return UvWatch::create(&uv_->loop, descriptor);
  }

  void close() override {
    inbox_.close();
    timers_.close();
  }

 private:
  // data == nullptr: not there yet.
  struct Handles {
    Handles() = default;
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;
    ~Handles() {
      if (loop.data == nullptr) return;
      if (wake.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&wake), nullptr);
      if (deadline.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&deadline), nullptr);
      if (prepare.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&prepare), nullptr);
      uv_run(&loop, UV_RUN_DEFAULT);  // until these are closed, and those of destroyed watches
      MILLRACE_CHECK(uv_loop_close(&loop) == 0, "a watch outlives its event loop");
    }

    uv_loop_t loop{};
    uv_async_t wake{};
    DeadlineFd deadline_fd;
    uv_poll_t deadline{};
    uv_prepare_t prepare{};
  };

  template <class Handle>
  Status add(Handle& handle, int status) {
    MILLRACE_TRY_STATUS(check_uv(status));
    handle.data = this;  // to be closed
    return {};
  }
  static void on_wake(uv_async_t* handle) { static_cast<UvEventLoop*>(handle->data)->drain(); }
  static void on_prepare(uv_prepare_t* handle) {
    static_cast<UvEventLoop*>(handle->data)->run_timers();
  }

  void wake() {
    if (inbox_.needs_wake()) send_wake();
  }
  void send_wake() {
    gate_.pass([this] { uv_async_send(&uv_->wake); });
  }

  void drain() {
    if (inbox_.drain(ran_)) send_wake();
    if (stopping_.load()) uv_stop(&uv_->loop);
  }

  void run_timers() {
    ran_ += timers_.run_due();
    uv_->deadline_fd.arm(timers_.next_deadline(), clock_);
  }

  // Only wakes: the next prepare runs what is due.
  static void on_deadline(uv_poll_t* handle, int /*status*/, int /*events*/) {
    static_cast<UvEventLoop*>(handle->data)->uv_->deadline_fd.consume();
  }

  const Clock& clock_;
  TimerQueue timers_;
  std::unique_ptr<Handles> uv_ = std::make_unique<Handles>();
  WakeGate gate_;
  LoopInbox inbox_;
  std::atomic<bool> stopping_{false};
  std::size_t ran_ = 0;  // since poll() began
};

}  // namespace

Result<std::unique_ptr<EventLoop>> create_uv_event_loop(const Clock& clock) {
  auto loop = std::make_unique<UvEventLoop>(clock);
  MILLRACE_TRY_STATUS(loop->open());
  return loop;
}

}  // namespace millrace
