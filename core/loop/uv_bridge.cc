#include "millrace/core/loop/uv_bridge.h"

#include <uv.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "millrace/core/loop/event_fd.h"

namespace millrace {
namespace {

// Belongs to the loop from uv_poll_init to the callback of uv_close, whatever becomes of the port.
struct Handle {
  uv_poll_t poll;
  int descriptor = -1;
  CompletionQueue* queue = nullptr;  // nullptr: in a fork's child
  Ref<CompletionQueue> closing;      // from detach on
  Handle* left_before = nullptr;     // of those left behind

  static Handle* of(uv_poll_t* poll) { return static_cast<Handle*>(poll->data); }
  uv_handle_t* base() { return reinterpret_cast<uv_handle_t*>(&poll); }
};

// The user has closed it, with another callback: libuv does not report here when it has released
// the memory. Kept, a few hundred bytes, where a leak checker sees them.
void leave_behind(Handle* handle) {
  static std::atomic<Handle*> last{nullptr};
  handle->left_before = last.exchange(handle);
}

}  // namespace

class UvBridge::Port final : public LoopPort {
 public:
  Port(EventFd event, Handle* handle) : event_(std::move(event)), handle_(handle) {}

  void watch(CompletionQueue& queue) {
    handle_->queue = &queue;
    uv_poll_start(&handle_->poll, UV_READABLE, &Port::on_readable);
    wake();  // the first turn shows which thread is the loop's
  }

  void wake() noexcept override { event_.signal(); }
  void keep_alive(bool on) noexcept override {
    if (on) {
      uv_ref(handle_->base());
    } else {
      uv_unref(handle_->base());
    }
  }
  void detach(Ref<CompletionQueue> queue) noexcept override {
    if (uv_is_closing(handle_->base()) != 0) {
      leave_behind(handle_);
      queue->detached();
      return;
    }
    handle_->closing = std::move(queue);  // keeps the descriptor too, which this port owns
    uv_close(handle_->base(), [](uv_handle_t* closed) {
      const std::unique_ptr<Handle> handle(Handle::of(reinterpret_cast<uv_poll_t*>(closed)));
      handle->closing->detached();
    });
  }
  // A loop that the child revives looks at every descriptor that it had: this one stays open.
  void leave_in_child() noexcept override {
    handle_->queue = nullptr;
    event_.leave_open();
  }

 private:
  static void on_readable(uv_poll_t* poll, int /*status*/, int /*events*/) {
    const Handle* const handle = Handle::of(poll);
    if (handle->queue == nullptr || handle->queue->forked()) {
      uv_poll_stop(poll);
      return;
    }
    EventFd::consume(handle->descriptor);
    handle->queue->drain();
  }

  EventFd event_;
  Handle* const handle_;
};

Result<UvBridge> UvBridge::create(uv_loop_s* loop, const BridgeOptions& options) {
  if (loop == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                "making a bridge to a libuv loop: the loop is a null pointer");
  }
  MILLRACE_TRY(EventFd event, EventFd::create());
  auto handle = std::make_unique<Handle>();
  if (const int status = uv_poll_init(loop, &handle->poll, event.descriptor()); status != 0) {
    return fail(ErrorCode::kResourceExhausted,
                std::string("making a bridge to a libuv loop: ") + uv_strerror(status));
  }
  handle->poll.data = handle.get();
  handle->descriptor = event.descriptor();
  auto port = std::make_unique<Port>(std::move(event), handle.release());
  Port& watcher = *port;
  auto queue = make_ref<CompletionQueue>(std::move(port), options);
  watcher.watch(*queue);
  return UvBridge(std::move(queue));
}

}  // namespace millrace
