// Events: when they are ready, whom they call, on which thread, and what they tell of errors.
#include <optional>

#include "millrace/tools/conform/callbacks.h"
#include "millrace/tools/conform/error_source.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

// A launch that takes a while, and its result's event.
struct Pending {
  Floats source;
  HeldLoaded program;
  HeldBuffer x, y;
  HeldEvent ready;
};

Result<Pending> start_long(Rig& rig) {
  Pending p;
  MILLRACE_TRY(p.program, rig.compile(long_program()));
  p.source.assign(kLongLength, 0);
  MILLRACE_TRY(p.x, rig.put(p.source));
  MILLRACE_TRY(p.y, rig.apply(p.program.get(), p.x.get()));
  MILLRACE_TRY(p.ready, rig.ready_event(p.y.get()));
  return p;
}

Status await(Rig& rig, abi::Event* event) {
  abi::EventAwaitArgs args;
  args.event = event;
  return rig.table().call(args);
}

Status event_error(Rig& rig, abi::Event* event) {
  abi::EventErrorArgs args;
  args.event = event;
  return rig.table().call(args);
}

Status completes(Rig& rig) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY(const bool at_once, rig.is_ready(p.ready.get()));
  Callback& callback = Callback::make();
  MILLRACE_TRY_STATUS(callback.attach(rig, p.ready.get()));
  MILLRACE_TRY_STATUS(callback.wait(rig, 1, "the event of a result"));
  const bool inline_call = callback.thread() == std::this_thread::get_id();
  rig.note(std::string(at_once ? "ready at once" : "ready later") + ", called " +
           (inline_call ? "inline" : "on another thread"));
  return {};
}

Status is_ready(Rig& rig) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY_STATUS(rig.wait(p.ready, "a result"));
  for (int i = 0; i < 3; ++i) {
    MILLRACE_TRY(const bool ready, rig.is_ready(p.ready.get()));
    if (!ready) return broken("it is not ready, though it has called back");
  }
  return {};
}

Status no_error(Rig& rig) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY_STATUS(rig.wait(p.ready, "a result"));
  return event_error(rig, p.ready.get());
}

Status awaited(Rig& rig) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY_STATUS(await(rig, p.ready.get()));
  MILLRACE_TRY(const bool ready, rig.is_ready(p.ready.get()));
  if (!ready) return broken("PJRT_Event_Await returns before the event is ready");
  return {};
}

Status called_when_ready(Rig& rig) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY_STATUS(await(rig, p.ready.get()));
  MILLRACE_TRY_STATUS(rig.is_ready(p.ready.get()));
  Callback& callback = Callback::make();
  MILLRACE_TRY_STATUS(callback.attach(rig, p.ready.get()));
  MILLRACE_TRY_STATUS(callback.wait(rig, 1, "an event that was ready before"));
  rig.note(callback.thread() == std::this_thread::get_id() ? "inline" : "on another thread");
  return {};
}

Status called_once(Rig& rig) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  Callback& callback = Callback::make();
  MILLRACE_TRY_STATUS(callback.attach(rig, p.ready.get()));
  MILLRACE_TRY_STATUS(callback.wait(rig, 1, "the event of a result"));
  // What comes twice comes before these, which are asked for later.
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  for (int i = 0; i < 20; ++i) {
    MILLRACE_TRY(const HeldBuffer y, rig.apply(increment.get(), x.get()));
    MILLRACE_TRY_STATUS(rig.wait_ready(y.get()));
  }
  if (callback.calls() == 1) return {};
  return broken("one callback has come " + std::to_string(callback.calls()) + " times");
}

Status every_callback(Rig& rig) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  Callback& callback = Callback::make();
  for (int i = 0; i < 3; ++i) MILLRACE_TRY_STATUS(callback.attach(rig, p.ready.get()));
  return callback.wait(rig, 3, "one event");
}

Status destroyed_in_callback(Rig& rig) {
  MILLRACE_TRY(Pending p, start_long(rig));
  abi::Event* const event = p.ready.release();
  std::optional<Status> destroyed;
  Callback& callback = Callback::make([&rig, &destroyed, event](abi::Error* /*error*/) {
    if (destroyed) return;  // that it comes twice fails another check
    abi::EventDestroyArgs args;
    args.event = event;
    destroyed = rig.table().call(args);
  });
  MILLRACE_TRY_STATUS(callback.attach(rig, event));
  MILLRACE_TRY_STATUS(callback.wait(rig, 1, "the event of a result"));
  return *destroyed;
}

Status destroyed_before(Rig& rig) {
  MILLRACE_TRY(Pending p, start_long(rig));
  Callback& callback = Callback::make();
  MILLRACE_TRY_STATUS(callback.attach(rig, p.ready.get()));
  p.ready.reset();
  return callback.wait(rig, 1, "an event that was destroyed after it was asked to call");
}

Status calls_in_callback(Rig& rig) {
  MILLRACE_TRY(Pending p, start_long(rig));
  std::optional<Status> made;
  HeldBuffer launched;
  Callback& callback = Callback::make([&](abi::Error* /*error*/) {
    if (made) return;
    made = [&]() -> Status {
      MILLRACE_TRY(const HeldBuffer other, rig.put(numbers()));
      MILLRACE_TRY(const HeldEvent ready, rig.ready_event(other.get()));
      MILLRACE_TRY_STATUS(rig.is_ready(ready.get()));
      MILLRACE_TRY(launched, rig.apply(p.program.get(), p.x.get()));
      p.y.reset();
      return {};
    }();
  });
  MILLRACE_TRY_STATUS(callback.attach(rig, p.ready.get()));
  MILLRACE_TRY_STATUS(callback.wait(rig, 1, "a callback that puts, launches and destroys"));
  MILLRACE_TRY_STATUS(*made);
  return rig.wait_ready(launched.get());
}

Status error_path(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer.get()));
  return expect_that_error(rig.wait(ready, "PJRT_Event_OnReady"), "the callback");
}

Status error_awaited(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer.get()));
  return expect_that_error(await(rig, ready.get()), "PJRT_Event_Await");
}

Status error_read(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer.get()));
  // By its callback: that, and not its error, is checked elsewhere.
  static_cast<void>(rig.wait(ready, "an event"));
  MILLRACE_TRY_STATUS(expect_that_error(event_error(rig, ready.get()), "PJRT_Event_Error"));
  abi::EventErrorArgs args;
  args.event = ready.get();
  MILLRACE_TRY(abi::Error* const first, rig.table().raw(args));
  MILLRACE_TRY(abi::Error* const second, rig.table().raw(args));
  const bool distinct = first != second && first != nullptr && second != nullptr;
  if (!distinct) return broken("PJRT_Event_Error gives one error to two callers, who both free it");
  MILLRACE_TRY_STATUS(rig.table().destroy(first));
  return rig.table().destroy(second);
}

// What is computed from a buffer that failed may have an error of its own, which tells of the
// first.
Status expect_caused(Rig& rig, const Status& status, std::string_view where) {
  if (status) return broken(std::string(where) + " tells no error where there is one");
  if (status.error().detail<PluginError>() == nullptr) return status;
  if (!status.error().message().contains(kErrorText)) {
    return broken(std::string(where) +
                  " does not tell of the error that there was: " + status.error().message());
  }
  rig.note("as " + std::string(millrace::to_string(status.error().code())));
  return {};
}

Status error_propagates(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  const Result<Run> run = rig.execute(increment.get(), {{buffer.get()}});
  if (!run) return expect_caused(rig, std::unexpected(run.error()), "the launch");
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(run->outputs[0].get()));
  return expect_caused(rig, rig.wait(ready, "a result"), "the result");
}

Status error_reaches_host(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  const Result<Floats> got = rig.get(buffer.get());
  return expect_caused(rig, got ? Status() : std::unexpected(got.error()), "reading it");
}

Status promised(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.client());
  for (const int code : {0, kErrorCode}) {
    abi::EventCreateArgs create;
    MILLRACE_TRY_STATUS(rig.table().call(create));
    const HeldEvent event = rig.hold(create.event);
    MILLRACE_TRY(const bool early, rig.is_ready(event.get()));
    if (early) return broken("an event is ready before its maker sets it");
    abi::EventSetArgs set;
    set.event = event.get();
    set.error_code = code;
    set.error_message = code == 0 ? nullptr : kErrorText.data();
    set.error_message_size = code == 0 ? 0 : kErrorText.size();
    MILLRACE_TRY_STATUS(rig.table().call(set));
    const Status told = await(rig, event.get());
    if (code == 0) {
      MILLRACE_TRY_STATUS(told);
    } else {
      MILLRACE_TRY_STATUS(expect_that_error(told, "an event that was set to an error"));
    }
  }
  return {};
}

}  // namespace

std::vector<Check> event_checks() {
  std::vector<Check> list = {
      {.name = "events.completes",
       .wants = "the event of a result calls back",
       .run = &completes,
       .need = Need::kMust},
      {.name = "events.is_ready",
       .wants = "an event that has called back is ready",
       .run = &is_ready,
       .need = Need::kMust},
      {.name = "events.no_error",
       .wants = "the event of something that went well has no error",
       .run = &no_error,
       .need = Need::kMust},
      {.name = "events.await",
       .wants = "PJRT_Event_Await returns when the event is ready",
       .run = &awaited,
       .after = {"events.is_ready"}},
      {.name = "events.called_when_ready",
       .wants = "an event that is ready already calls back, too",
       .run = &called_when_ready,
       .after = {"events.await"},
       .need = Need::kMust},
      {.name = "events.called_once",
       .wants = "a callback comes once",
       .run = &called_once,
       .need = Need::kMust},
      {.name = "events.every_callback",
       .wants = "each of several callbacks of one event comes",
       .run = &every_callback},
      {.name = "events.destroyed_in_callback",
       .wants = "an event may be destroyed by its own callback",
       .run = &destroyed_in_callback,
       .need = Need::kMust},
      {.name = "events.destroyed_before",
       .wants = "an event that is destroyed after it was asked to call still calls",
       .run = &destroyed_before,
       .need = Need::kMust},
      {.name = "events.calls_in_callback",
       .wants = "a callback may call the plugin: it is called without a lock",
       .run = &calls_in_callback},
      {.name = "events.error_path",
       .wants = "the callback of an event that failed has the error, with its code and text",
       .run = &error_path},
      {.name = "events.error_awaited",
       .wants = "PJRT_Event_Await gives the error",
       .run = &error_awaited},
      {.name = "events.error_read",
       .wants = "PJRT_Event_Error gives the error, another object to each caller",
       .run = &error_read},
      {.name = "events.error_propagates",
       .wants = "what is computed from a buffer that failed fails, and tells of its error",
       .run = &error_propagates,
       .after = {"events.error_path"}},
      {.name = "events.error_reaches_host",
       .wants = "reading a buffer that failed fails, and tells of its error",
       .run = &error_reaches_host,
       .after = {"events.error_path"}},
      {.name = "events.promised",
       .wants = "an event of the caller's own is ready when the caller sets it, as it is set",
       .run = &promised,
       .after = {"events.is_ready", "events.error_awaited"}},
  };
  for (std::size_t i = 1; i < list.size(); ++i) list[i].after.push_back("events.completes");
  return after({"execute.result"}, std::move(list));
}

}  // namespace millrace::conform
