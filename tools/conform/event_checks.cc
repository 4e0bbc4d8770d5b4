// Events: when they are ready, whom they call, on which thread, and what they report of errors;
// then that mistakes are refused, and how they are reported.
#include <optional>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family events_family("events.completes execute.result");
Family errors_family("compile.text");

namespace {

// A launch that takes a while, and its result's event.
struct Pending : Launch {
  HeldEvent ready;
};

Result<Pending> start_long(Rig& rig) {
  MILLRACE_TRY(Launch launch, rig.launch(long_program(), Floats(kLongLength, 0)));
  MILLRACE_TRY(HeldEvent ready, rig.ready_event(launch.y));
  return Pending{std::move(launch), std::move(ready)};
}

Status await(Rig& rig, abi::Event* event) { return rig.call<abi::EventAwaitArgs>(event); }

Status event_error(Rig& rig, abi::Event* event) { return rig.call<abi::EventErrorArgs>(event); }

MILLRACE_CONFORM(events, completes, "the event of a result calls back", .need = kMust) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY(const bool at_once, rig.is_ready(p.ready));
  const Callback callback;
  MILLRACE_TRY_STATUS(callback.attach(rig.table(), p.ready));
  MILLRACE_TRY_STATUS(rig.wait(callback, 1, "the event of a result"));
  const bool inline_call = callback.inline_call();
  return rig.note((at_once ? "ready at once" : "ready later"), ", called ",
                  (inline_call ? "inline" : "on another thread"));
}

MILLRACE_CONFORM(events, is_ready, "an event that has called back is ready", .need = kMust) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY_STATUS(rig.wait(p.ready, "a result"));
  for (int i = 0; i < 3; ++i) {
    MILLRACE_TRY(const bool ready, rig.is_ready(p.ready));
    if (!ready) return broken("it is not ready, though it has called back");
  }
  return {};
}

MILLRACE_CONFORM(events, no_error, "the event of something that went well has no error",
                 .need = kMust) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY_STATUS(rig.wait(p.ready, "a result"));
  return event_error(rig, p.ready);
}

MILLRACE_CONFORM(events, await, "PJRT_Event_Await returns when the event is ready",
                 .after = "events.is_ready") {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY_STATUS(await(rig, p.ready));
  MILLRACE_TRY(const bool ready, rig.is_ready(p.ready));
  if (!ready) return broken("PJRT_Event_Await returns before the event is ready");
  return {};
}

MILLRACE_CONFORM(events, called_when_ready, "an event that is ready already calls back, too",
                 .after = "events.await", .need = kMust) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  MILLRACE_TRY_STATUS(await(rig, p.ready));
  MILLRACE_TRY_STATUS(rig.is_ready(p.ready));
  const Callback callback;
  MILLRACE_TRY_STATUS(callback.attach(rig.table(), p.ready));
  MILLRACE_TRY_STATUS(rig.wait(callback, 1, "an event that was ready before"));
  return rig.note(callback.inline_call() ? "inline" : "on another thread");
}

MILLRACE_CONFORM(events, called_once, "a callback comes once", .need = kMust) {
  MILLRACE_TRY(const Pending p, start_long(rig));
  const Callback callback;
  MILLRACE_TRY_STATUS(callback.attach(rig.table(), p.ready));
  MILLRACE_TRY_STATUS(rig.wait(callback, 1, "the event of a result"));
  // What comes twice comes before these, which are asked for later.
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  for (int i = 0; i < 20; ++i) {
    MILLRACE_TRY(const HeldBuffer y, rig.apply(increment, x));
    MILLRACE_TRY_STATUS(rig.wait_ready(y));
  }
  return expect(callback.calls() == 1, "one callback has come ", callback.calls(), " times");
}

MILLRACE_CONFORM(events, every_callback, "each of several callbacks of one event comes") {
  MILLRACE_TRY(const Pending p, start_long(rig));
  const Callback callback;
  for (int i = 0; i < 3; ++i) MILLRACE_TRY_STATUS(callback.attach(rig.table(), p.ready));
  return rig.wait(callback, 3, "one event");
}

MILLRACE_CONFORM(events, destroyed_in_callback, "an event may be destroyed by its own callback",
                 .need = kMust) {
  MILLRACE_TRY(Pending p, start_long(rig));
  abi::Event* const event = p.ready.release();
  std::optional<Status> destroyed;
  const Callback callback([&rig, &destroyed, event] {
    if (destroyed) return;  // that it comes twice fails another check
    abi::EventDestroyArgs args;
    args.event = event;
    destroyed = rig.table().call(args);
  });
  MILLRACE_TRY_STATUS(callback.attach(rig.table(), event));
  MILLRACE_TRY_STATUS(rig.wait(callback, 1, "the event of a result"));
  return *destroyed;
}

MILLRACE_CONFORM(events, destroyed_before,
                 "an event that is destroyed after it was asked to call still calls",
                 .after = "events.is_ready", .need = kMust) {
  // A try in which the callback may have come before the event was destroyed shows nothing. A
  // plugin that has every result at once shows nothing in any.
  for (int tries = 0; tries < 20; ++tries) {
    MILLRACE_TRY(Pending p, start_long(rig));
    MILLRACE_TRY(const HeldEvent same, rig.ready_event(p.y));
    const Callback callback;
    MILLRACE_TRY_STATUS(callback.attach(rig.table(), p.ready));
    p.ready.reset();
    MILLRACE_TRY(const bool was_ready, rig.is_ready(same));
    MILLRACE_TRY_STATUS(
        rig.wait(callback, 1, "an event that was destroyed after it was asked to call"));
    if (!was_ready) return {};
  }
  return rig.note("the event was ready each time");
}

MILLRACE_CONFORM(events, calls_in_callback,
                 "a callback may call the plugin: it is called without a lock") {
  MILLRACE_TRY(Pending p, start_long(rig));
  std::optional<Status> made;
  HeldBuffer launched;
  const Callback callback([&] {
    if (made) return;
    made = [&]() -> Status {
      MILLRACE_TRY(const HeldBuffer other, rig.put(numbers()));
      MILLRACE_TRY(const HeldEvent ready, rig.ready_event(other));
      MILLRACE_TRY_STATUS(rig.is_ready(ready));
      MILLRACE_TRY(launched, rig.apply(p.program, p.x));
      p.y.reset();
      return {};
    }();
  });
  MILLRACE_TRY_STATUS(callback.attach(rig.table(), p.ready));
  MILLRACE_TRY_STATUS(rig.wait(callback, 1, "a callback that puts, launches and destroys"));
  MILLRACE_TRY_STATUS(*made);
  return rig.wait_ready(launched);
}

MILLRACE_CONFORM(events, error_path,
                 "the callback of an event that failed has the error, with its code and text") {
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer));
  return expect_that_error(rig.wait(ready, "PJRT_Event_OnReady"), "the callback");
}

MILLRACE_CONFORM(events, error_awaited, "PJRT_Event_Await gives the error") {
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer));
  return expect_that_error(await(rig, ready), "PJRT_Event_Await");
}

MILLRACE_CONFORM(events, error_read,
                 "PJRT_Event_Error gives the error, another object to each caller") {
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer));
  // By its callback: that, and not its error, is checked elsewhere.
  static_cast<void>(rig.wait(ready, "an event"));
  MILLRACE_TRY_STATUS(expect_that_error(event_error(rig, ready), "PJRT_Event_Error"));
  abi::EventErrorArgs args;
  args.event = ready;
  MILLRACE_TRY(abi::Error* const first, rig.table().raw(args));
  MILLRACE_TRY(abi::Error* const second, rig.table().raw(args));
  const bool distinct = first != second && first != nullptr && second != nullptr;
  if (!distinct) return broken("PJRT_Event_Error gives one error to two callers, who both free it");
  MILLRACE_TRY_STATUS(rig.table().destroy(first));
  return rig.table().destroy(second);
}

// What is computed from a buffer that failed may have an error of its own, which reports the
// first.
Status expect_caused(Rig& rig, const Status& status, std::string_view where) {
  MILLRACE_TRY_STATUS(expect_that_error(status, where, true));
  return rig.note("as ", millrace::to_string(status.error().code()));
}

MILLRACE_CONFORM(events, error_propagates,
                 "what is computed from a buffer that failed fails, and reports its error",
                 .after = "events.error_path") {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  const Result<Run> run = rig.execute(increment, {{buffer}});
  if (!run) return expect_caused(rig, std::unexpected(run.error()), "the launch");
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(run->outputs[0]));
  return expect_caused(rig, rig.wait(ready, "a result"), "the result");
}

MILLRACE_CONFORM(events, error_reaches_host,
                 "reading a buffer that failed fails, and reports its error",
                 .after = "events.error_path") {
  MILLRACE_TRY(const HeldBuffer buffer, error_buffer(rig));
  const Result<Floats> got = rig.get(buffer);
  return expect_caused(rig, got ? Status() : std::unexpected(got.error()), "reading it");
}

MILLRACE_CONFORM(events, promised,
                 "an event of the caller's own is ready when the caller sets it, as it is set",
                 .after = "events.is_ready events.error_awaited") {
  MILLRACE_TRY_STATUS(rig.client());
  for (const int code : {0, kErrorCode}) {
    MILLRACE_TRY(const auto create, rig.ask<abi::EventCreateArgs>());
    const HeldEvent event = rig.hold(create.event);
    MILLRACE_TRY(const bool early, rig.is_ready(event));
    if (early) return broken("an event is ready before its maker sets it");
    MILLRACE_TRY_STATUS(rig.call<abi::EventSetArgs>(
        event, code, code == 0 ? nullptr : kErrorText.data(), code == 0 ? 0 : kErrorText.size()));
    const Status reported = await(rig, event);
    MILLRACE_TRY_STATUS(
        code == 0 ? reported : expect_that_error(reported, "an event that was set to an error"));
  }
  return {};
}

constexpr const char* kNoProgram = "this is no program";

// The plugin's own error of a program that cannot be compiled.
Result<abi::Error*> error_of_bad_program(Rig& rig) {
  std::string text = kNoProgram;
  const std::string format = "mlir";
  const std::string options = rig.portable_options();
  abi::Program program = borrowed_program(text, format);
  MILLRACE_TRY(abi::Client* const client, rig.client());
  abi::ClientCompileArgs args{{}, client, &program, options.data(), options.size()};
  MILLRACE_TRY(abi::Error* const error, rig.table().raw(args));
  if (error == nullptr) return broken("a text that is no program is compiled");
  return error;
}

MILLRACE_CONFORM(errors, bad_program, "a text that is no program is refused", .need = kMust) {
  return expect_refused(rig.compile(kNoProgram), "a text that is no program");
}

MILLRACE_CONFORM(errors, message, "an error has a message, which stays",
                 .after = "errors.bad_program", .need = kMust) {
  MILLRACE_TRY(abi::Error* const error, error_of_bad_program(rig));
  abi::ErrorMessageArgs args;
  args.error = error;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.message == nullptr || args.message_size == 0) return broken("an error has no message");
  const std::string first(args.message, args.message_size);
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const std::string second(args.message, args.message_size);
  MILLRACE_TRY_STATUS(rig.table().destroy(error));
  return expect(first == second, "an error has another message the second time");
}

MILLRACE_CONFORM(errors, code, "an error has one of the sixteen codes",
                 .after = "errors.bad_program", .need = kMust) {
  MILLRACE_TRY(abi::Error* const error, error_of_bad_program(rig));
  MILLRACE_TRY(const auto args, rig.ask<abi::ErrorGetCodeArgs>(error));
  MILLRACE_TRY_STATUS(rig.table().destroy(error));
  if (args.code < static_cast<int>(ErrorCode::kCancelled) ||
      args.code > static_cast<int>(ErrorCode::kUnauthenticated)) {
    return broken("an error has the code ", args.code);
  }
  return rig.note("a bad program is ", millrace::to_string(static_cast<ErrorCode>(args.code)));
}

MILLRACE_CONFORM(errors, bad_format, "a format that does not exist is refused") {
  return expect_refused(rig.compile_raw(add_program(), "no such format", rig.portable_options()),
                        "a format that does not exist");
}

MILLRACE_CONFORM(errors, bad_options, "compile options that cannot be read are refused") {
  return expect_refused(rig.compile_raw(add_program(), "mlir", "\xff\xff no options"),
                        "compile options that are none");
}

MILLRACE_CONFORM(errors, unknown_device, "a device that does not exist is not found") {
  for (const int id : {-7, 1 << 20}) {
    MILLRACE_TRY_STATUS(expect_refused(rig.ask_client<abi::ClientLookupDeviceArgs>(id),
                                       "device " + std::to_string(id)));
  }
  return {};
}

MILLRACE_CONFORM(errors, argument_count, "a launch with too few arguments is refused",
                 .after = "execute.result") {
  MILLRACE_TRY(const Launch l, rig.prepare(add_program(), numbers()));
  return expect_refused(rig.execute(l.program, {{l.x}}), "one argument where there are two");
}

MILLRACE_CONFORM(errors, argument_shape, "an argument of another shape is refused",
                 .after = "execute.result") {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), Floats(8, 1)));
  return rig.expect_refused_run(rig.execute(l.program, {{l.x}}),
                                "an argument of 8 elements where there are 4");
}

}  // namespace
}  // namespace millrace::conform
