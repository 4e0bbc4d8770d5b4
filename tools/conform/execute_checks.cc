// Execution: results, events, and whose the arrays of a call are.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family execute_family("execute.result host.round_trip compile.text");

namespace {

MILLRACE_CONFORM(execute, result, "a + b is right", .need = kMust) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldBuffer a, rig.put(numbers()));
  MILLRACE_TRY(const HeldBuffer b, rig.put(Floats{10, 20, 30, 40}));
  MILLRACE_TRY(const Run run, rig.execute(add.get(), {{a.get(), b.get()}}));
  return rig.expect(run.outputs[0].get(), Floats{11, 22, 33, 44}, "the sum");
}

MILLRACE_CONFORM(execute, complete_event, "the event of an execution is set, without an error",
                 .need = kMust) {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), numbers()));
  MILLRACE_TRY(const Run run, rig.execute(l.program.get(), {{l.x.get()}}));
  return rig.wait(run.done, "PJRT_LoadedExecutable_Execute");
}

// A call that states everything itself.
struct Call {
  abi::ExecuteOptions options;
  abi::LoadedExecutableExecuteArgs args;
  abi::Buffer* arguments[2] = {};
  abi::Buffer* const* argument_lists[1] = {arguments};
  abi::Buffer* outputs[2] = {};
  abi::Buffer** output_lists[1] = {outputs};
  abi::Event* done[1] = {};

  Call(abi::LoadedExecutable* executable, abi::Buffer* argument) {
    options.struct_size = abi::kStructSize<abi::ExecuteOptions>;
    arguments[0] = argument;
    args.executable = executable;
    args.options = &options;
    args.argument_lists = argument_lists;
    args.num_devices = 1;
    args.num_args = 1;
    args.output_lists = output_lists;
  }
};

MILLRACE_CONFORM(execute, without_event, "nobody need ask for the event of an execution") {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), numbers()));
  Call call(l.program.get(), l.x.get());
  MILLRACE_TRY_STATUS(rig.table().call(call.args));
  const HeldBuffer y = rig.hold(call.outputs[0]);
  return rig.expect(y.get(), numbers(1), "the result");
}

MILLRACE_CONFORM(execute, arrays_of_call,
                 "the arrays of a call are the caller's again when it returns",
                 .after = "execute.complete_event") {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), numbers()));
  Call call(l.program.get(), l.x.get());
  call.options.launch_id = 4242;
  call.args.device_complete_events = call.done;
  MILLRACE_TRY_STATUS(rig.table().call(call.args));
  const HeldBuffer y = rig.hold(call.outputs[0]);
  const HeldEvent done = rig.hold(call.done[0]);
  // The caller has other uses for its arrays.
  auto* const mine = reinterpret_cast<abi::Buffer*>(&call);
  call.arguments[0] = call.outputs[0] = mine;
  call.argument_lists[0] = nullptr;
  call.output_lists[0] = nullptr;
  call.done[0] = nullptr;
  MILLRACE_TRY_STATUS(rig.wait(done, "PJRT_LoadedExecutable_Execute"));
  MILLRACE_TRY_STATUS(rig.expect(y.get(), numbers(1), "the result"));
  return expect(call.arguments[0] == mine && call.outputs[0] == mine && call.done[0] == nullptr,
                "the caller's arrays are written after the call");
}

MILLRACE_CONFORM(execute, two_results, "two results come in their order") {
  MILLRACE_TRY(const Launch l, rig.prepare(split_program(), numbers()));
  MILLRACE_TRY(const Run run, rig.execute(l.program.get(), {{l.x.get()}}, {.outputs = 2}));
  MILLRACE_TRY_STATUS(rig.expect(run.outputs[0].get(), Floats{2, 4, 6, 8}, "the first result"));
  return rig.expect(run.outputs[1].get(), Floats{1, 4, 9, 16}, "the second result");
}

MILLRACE_CONFORM(execute, no_arguments, "a program need not have arguments",
                 .after = "device.ids") {
  MILLRACE_TRY(const HeldLoaded constant, rig.compile(constant_program()));
  MILLRACE_TRY(const Run run, rig.execute(constant.get(), {}));
  return rig.expect(run.outputs[0].get(), Floats{7, 7, 7, 7}, "the constant");
}

MILLRACE_CONFORM(execute, identity, "a result that is an argument outlives it") {
  MILLRACE_TRY(Launch l, rig.prepare(identity_program(), numbers()));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(l.program.get(), l.x.get()));
  MILLRACE_TRY_STATUS(rig.remove(l.x.get()));
  l.x.reset();
  MILLRACE_TRY(const bool gone, rig.is_deleted(y.get()));
  if (gone) return broken("the result is deleted with the argument");
  return rig.expect(y.get(), numbers(), "the result");
}

MILLRACE_CONFORM(execute, same_argument, "one buffer may be two arguments") {
  MILLRACE_TRY(const Launch l, rig.prepare(add_program(), numbers()));
  MILLRACE_TRY(const Run run, rig.execute(l.program.get(), {{l.x.get(), l.x.get()}}));
  return rig.expect(run.outputs[0].get(), Floats{2, 4, 6, 8}, "x + x");
}

MILLRACE_CONFORM(execute, chain,
                 "1000 executions, each of the result before, need not be waited for") {
  constexpr int kSteps = 1000;
  MILLRACE_TRY(Launch l, rig.prepare(increment_program(), numbers()));
  for (int i = 0; i < kSteps; ++i) {
    MILLRACE_TRY(l.x, rig.apply(l.program.get(), l.x.get()));
  }
  return rig.expect(l.x.get(), Floats{1001, 1002, 1003, 1004}, "the sum of 1000 executions");
}

}  // namespace
}  // namespace millrace::conform
