#include "millrace/core/loop/event_bridge.h"

#include <event2/event.h>
#include <event2/event_struct.h>

#include <memory>
#include <utility>

#include "millrace/core/base/free_by.h"
#include "millrace/core/loop/event_fd.h"

namespace millrace {
namespace {

using OwnedEvent = std::unique_ptr<event, FreeBy<&event_free>>;

// So far away that it never comes: what counts is that it is pending.
constexpr timeval kOneDay{.tv_sec = 24 * 60 * 60, .tv_usec = 0};

// Three events. `readable` gets wake-ups, always; it is marked internal, as libevent's own
// wake-up descriptor is, so that a base with nothing else ends (there is no other way to let an
// event be heard without counting). `turn` is activated by it and drains: unlike an internal event
// it counts as one that has happened, which ends event_base_loop(EVLOOP_ONCE). `alive` is a timer,
// pending while the bridge has something to do.
struct Events {
  OwnedEvent readable;
  OwnedEvent turn;
  OwnedEvent alive;
  CompletionQueue* queue = nullptr;  // nullptr: in a fork's child

  Status add(event_base* base, int descriptor) {
    readable.reset(event_new(base, descriptor, EV_READ | EV_PERSIST, &Events::on_readable, this));
    turn.reset(event_new(base, -1, 0, &Events::on_turn, this));
    alive.reset(event_new(base, -1, EV_PERSIST, [](evutil_socket_t, short, void*) {}, nullptr));
    if (readable) readable->ev_evcallback.evcb_flags |= EVLIST_INTERNAL;
    if (readable && turn && alive && event_add(readable.get(), nullptr) == 0 &&
        event_add(alive.get(), &kOneDay) == 0) {
      return {};
    }
    return fail(ErrorCode::kResourceExhausted,
                "making a bridge to a libevent base: no event could be added to it");
  }
  static void on_readable(evutil_socket_t descriptor, short /*events*/, void* argument) {
    const auto* const self = static_cast<Events*>(argument);
    if (self->queue == nullptr || self->queue->forked()) {
      event_del(self->readable.get());
      return;
    }
    EventFd::consume(descriptor);
    event_active(self->turn.get(), EV_READ, 0);  // runs next, in the same turn of the base
  }
  static void on_turn(evutil_socket_t /*descriptor*/, short /*events*/, void* argument) {
    const auto* const self = static_cast<Events*>(argument);
    if (self->queue != nullptr) self->queue->drain();  // may free this
  }
};

}  // namespace

class EventBridge::Port final : public LoopPort {
 public:
  Port(EventFd event, std::unique_ptr<Events> events)
      : event_(std::move(event)), events_(std::move(events)) {}

  void watch(CompletionQueue& queue) {
    events_->queue = &queue;
    wake();  // the first turn shows which thread is the base's
  }
  void wake() noexcept override { event_.signal(); }
  void keep_alive(bool on) noexcept override {
    if (on) {
      event_add(events_->alive.get(), &kOneDay);
    } else {
      event_del(events_->alive.get());
    }
  }
  void detach(Ref<CompletionQueue> queue) noexcept override {
    events_ = nullptr;
    queue->detached();
  }
  void leave_in_child() noexcept override {
    // Freeing an event would change what the parent's base waits for: they stay, and do nothing.
    // Their descriptor stays open, as a base that the child revives looks at it.
    events_.release()->queue = nullptr;
    event_.leave_open();
  }

 private:
  EventFd event_;
  std::unique_ptr<Events> events_;
};

Result<EventBridge> EventBridge::create(event_base* base, const BridgeOptions& options) {
  if (base == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                "making a bridge to a libevent loop: the event_base is a null pointer");
  }
  MILLRACE_TRY(EventFd event, EventFd::create());
  auto events = std::make_unique<Events>();
  MILLRACE_TRY_STATUS(events->add(base, event.descriptor()));
  auto port = std::make_unique<Port>(std::move(event), std::move(events));
  Port& watcher = *port;
  auto queue = make_ref<CompletionQueue>(std::move(port), options);
  watcher.watch(*queue);
  return EventBridge(std::move(queue));
}

}  // namespace millrace
