#include "millrace/tools/pjrt_plugin/event.h"

#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/tools/pjrt_plugin/error.h"

namespace millrace::pjrt_plugin {
namespace {

using Callback = void (*)(abi::Error* error, void* user_arg);

abi::Error* error_of(const Result<void>& result) {
  return result ? nullptr : make_error(result.error());
}

// One callback that waits. It holds the cell, so the event may go.
class CallbackWaiter final : public Waiter, public Work, public Pooled {
 public:
  CallbackWaiter(Ref<Cell<void>> cell, Callback callback, void* user_arg)
      : cell_(std::move(cell)), callback_(callback), user_arg_(user_arg) {}

  void on_complete(AsyncValue& /*value*/) noexcept override { callbacks().submit(this); }
  void run() noexcept override {
    const Ref<Cell<void>> cell = std::move(cell_);
    const Callback callback = callback_;
    void* const user_arg = user_arg_;
    delete this;
    callback(error_of(cell->result()), user_arg);
  }
  void drop() noexcept override { run(); }  // the thread never closes

 private:
  Ref<Cell<void>> cell_;
  const Callback callback_;
  void* const user_arg_;
};

}  // namespace

Executor& callbacks() {
  static PoolExecutor* const thread =
      make_executor(ExecutorBackend::kThreads, 1, "millrace-calls").release();
  return *thread;
}

abi::Event* make_event(Future<void> done) {
  done.ignore();
  return new abi::Event(std::move(done));
}

void add_events(abi::Api& api) {
  add<&abi::EventDestroyArgs::event, "event">(api, [](abi::EventDestroyArgs& a) -> Status {
    MILLRACE_GIVEN(event, event);
    delete &event;
    return {};
  });
  add<&abi::EventIsReadyArgs::is_ready, "is_ready">(api, [](abi::EventIsReadyArgs& a) -> Status {
    MILLRACE_GIVEN(event, event);
    a.is_ready = event.done.ready();
    return {};
  });
  add<&abi::EventErrorArgs::event, "event">(api, [](abi::EventErrorArgs& a) -> Status {
    MILLRACE_GIVEN(event, event);
    if (event.done.ready()) return event.done.result();
    return fail(ErrorCode::kFailedPrecondition,
                "PJRT_Event_Error of an event that is not ready: await it first");
  });
  add<&abi::EventAwaitArgs::event, "event">(api, [](abi::EventAwaitArgs& a) -> Status {
    MILLRACE_GIVEN(event, event);
    const Future<void> done = event.done;  // a callback may destroy the event meanwhile
    return wait_blocking(done);
  });
  add<&abi::EventOnReadyArgs::user_arg, "user_arg">(api, [](abi::EventOnReadyArgs& a) -> Status {
    MILLRACE_GIVEN(event, event);
    if (a.callback == nullptr)
      return fail(ErrorCode::kInvalidArgument, "PJRT_Event_OnReady was given no callback");
    const Ref<Cell<void>> cell = event.done.cell();
    if (cell->complete()) {
      a.callback(error_of(cell->result()), a.user_arg);
    } else {
      cell->add_waiter(new CallbackWaiter(cell, a.callback, a.user_arg));
    }
    return {};
  });
  add<&abi::EventCreateArgs::event, "event">(api, [](abi::EventCreateArgs& a) {
    Promise<void> promise;
    a.event = make_event(promise.future());
    a.event->promise = std::move(promise);
  });
  add<&abi::EventSetArgs::error_code, "error_code">(api, [](abi::EventSetArgs& a) -> Status {
    MILLRACE_GIVEN(event, event);
    if (!event.promise.valid()) {
      return fail(ErrorCode::kFailedPrecondition,
                  "PJRT_Event_Set of an event that is set already, or is not the caller's");
    }
    Promise<void> promise = std::move(event.promise);  // a callback may destroy the event
    if (a.error_code == 0) {
      promise.set_value();
    } else {
      promise.set_error(from_caller(a.error_code, a.error_message, a.error_message_size));
    }
    return {};
  });
}

}  // namespace millrace::pjrt_plugin
