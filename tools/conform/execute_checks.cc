// Execution: results, events, and whose the arrays of a call are; then several devices of one
// client.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family execute_family("execute.result host.round_trip compile.text");
Family several_family("execute.result device.ids buffer.device execute.complete_event");

namespace {

MILLRACE_CONFORM(execute, result, "a + b is right", .need = kMust) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldBuffer a, rig.put(numbers()));
  MILLRACE_TRY(const HeldBuffer b, rig.put(Floats{10, 20, 30, 40}));
  MILLRACE_TRY(const Run run, rig.execute(add, {{a, b}}));
  return rig.expect(run.outputs[0], Floats{11, 22, 33, 44}, "the sum");
}

MILLRACE_CONFORM(execute, complete_event, "the event of an execution is set, without an error",
                 .need = kMust) {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), numbers()));
  MILLRACE_TRY(const Run run, rig.execute(l.program, {{l.x}}));
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

MILLRACE_CONFORM(execute, without_event, "a caller need not ask for the event of an execution") {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), numbers()));
  Call call(l.program, l.x);
  MILLRACE_TRY_STATUS(rig.table().call(call.args));
  const HeldBuffer y = rig.hold(call.outputs[0]);
  return rig.expect(y, numbers(1), "the result");
}

MILLRACE_CONFORM(execute, arrays_of_call,
                 "the arrays of a call are the caller's again when it returns",
                 .after = "execute.complete_event") {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), numbers()));
  Call call(l.program, l.x);
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
  MILLRACE_TRY_STATUS(rig.expect(y, numbers(1), "the result"));
  return expect(call.arguments[0] == mine && call.outputs[0] == mine && call.done[0] == nullptr,
                "the caller's arrays are written after the call");
}

MILLRACE_CONFORM(execute, two_results, "two results come in their order") {
  MILLRACE_TRY(const Launch l, rig.prepare(split_program(), numbers()));
  MILLRACE_TRY(const Run run, rig.execute(l.program, {{l.x}}, {.outputs = 2}));
  MILLRACE_TRY_STATUS(rig.expect(run.outputs[0], Floats{2, 4, 6, 8}, "the first result"));
  return rig.expect(run.outputs[1], Floats{1, 4, 9, 16}, "the second result");
}

MILLRACE_CONFORM(execute, no_arguments, "a program need not have arguments",
                 .after = "device.ids") {
  MILLRACE_TRY(const HeldLoaded constant, rig.compile(constant_program()));
  MILLRACE_TRY(const Run run, rig.execute(constant, {}));
  return rig.expect(run.outputs[0], Floats{7, 7, 7, 7}, "the constant");
}

MILLRACE_CONFORM(execute, identity, "a result that is an argument outlives it") {
  MILLRACE_TRY(Launch l, rig.prepare(identity_program(), numbers()));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(l.program, l.x));
  MILLRACE_TRY_STATUS(rig.remove(l.x));
  l.x.reset();
  MILLRACE_TRY_STATUS(rig.expect_deleted(y, false, "the result of a deleted argument"));
  return rig.expect(y, numbers(), "the result");
}

MILLRACE_CONFORM(execute, same_argument, "one buffer may be two arguments") {
  MILLRACE_TRY(const Launch l, rig.prepare(add_program(), numbers()));
  MILLRACE_TRY(const Run run, rig.execute(l.program, {{l.x, l.x}}));
  return rig.expect(run.outputs[0], Floats{2, 4, 6, 8}, "x + x");
}

MILLRACE_CONFORM(execute, chain,
                 "1000 executions, each of the result before, need not be waited for") {
  constexpr int kSteps = 1000;
  MILLRACE_TRY(Launch l, rig.prepare(increment_program(), numbers()));
  for (int i = 0; i < kSteps; ++i) {
    MILLRACE_TRY(l.x, rig.apply(l.program, l.x));
  }
  return rig.expect(l.x, Floats{1001, 1002, 1003, 1004}, "the sum of 1000 executions");
}

Result<abi::Device*> device_of(Rig& rig, abi::Buffer* buffer) {
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferDeviceArgs>(buffer));
  return args.device;
}

MILLRACE_CONFORM(several, compiled_for_each,
                 "every device runs a program that was compiled for it") {
  MILLRACE_TRY(const auto all, rig.several(2));
  for (std::size_t d = 0; d < all.size(); ++d) {
    MILLRACE_TRY(const HeldLoaded increment, rig.compile_for(increment_program(), {{all[d]}}));
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers_of(d), all[d]));
    MILLRACE_TRY(const HeldBuffer y, rig.apply(increment, x));
    MILLRACE_TRY_STATUS(rig.expect(y, numbers_of(d, 1), "the result of a device"));
  }
  return rig.note(all.size(), " devices");
}

MILLRACE_CONFORM(several, portable, "a portable program runs on the device that the launch names") {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldLoaded increment,
               rig.compile_raw(increment_program(), "mlir", rig.portable_options()));
  for (std::size_t d = 0; d < all.size(); ++d) {
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers_of(d), all[d]));
    MILLRACE_TRY(const Run run, rig.execute(increment, {{x}}, {.execute_device = all[d]}));
    MILLRACE_TRY(abi::Device* const where, device_of(rig, run.outputs[0]));
    if (where != all[d]) return broken("a result is on another device than its program ran on");
    MILLRACE_TRY_STATUS(rig.expect(run.outputs[0], numbers_of(d, 1), "the result of a device"));
  }
  return {};
}

MILLRACE_CONFORM(several, copy_to_device, "a copy is on the other device and outlives its source") {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(HeldBuffer x, rig.put(numbers(), all[0]));
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferCopyToDeviceArgs>(x, all[1]));
  const HeldBuffer y = rig.hold(args.dst_buffer);
  x.reset();  // the copy has begun: it keeps what it needs
  MILLRACE_TRY(abi::Device* const where, device_of(rig, y));
  if (where != all[1]) return broken("the copy is on another device than it should be");
  return rig.expect(y, numbers(), "the copy");
}

MILLRACE_CONFORM(several, copy_to_memory, "a copy is in the other device's memory") {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers(), all[0]));
  MILLRACE_TRY(abi::Memory* const memory, rig.memory(all[1]));
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferCopyToMemoryArgs>(x, memory));
  const HeldBuffer y = rig.hold(args.dst_buffer);
  MILLRACE_TRY(abi::Device* const where, device_of(rig, y));
  if (where != all[1]) return broken("the copy is on another device than its memory");
  return rig.expect(y, numbers(), "the copy");
}

MILLRACE_CONFORM(several, wrong_device,
                 "an argument on another device than the program's is refused") {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldLoaded increment, rig.compile_for(increment_program(), {{all[0]}}));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers(), all[1]));
  return rig.expect_refused_run(rig.execute(increment, {{x}}), "an argument of another device");
}

// One launch of two replicas; each device's results.
Result<std::vector<Floats>> replicas_run(Rig& rig, const std::string& program) {
  MILLRACE_TRY(auto all, rig.several(2));
  all.resize(2);
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile_for(program, all, 2));
  std::vector<HeldBuffer> x;
  for (std::size_t d = 0; d < 2; ++d) {
    MILLRACE_TRY(HeldBuffer one, rig.put(numbers_of(d), all[d]));
    x.push_back(std::move(one));
  }
  MILLRACE_TRY(const std::vector<Run> runs, rig.execute_all(loaded, {{x[0]}, {x[1]}}));
  std::vector<Floats> results;
  for (std::size_t d = 0; d < 2; ++d) {
    MILLRACE_TRY_STATUS(rig.wait(runs[d].done, "PJRT_LoadedExecutable_Execute"));
    MILLRACE_TRY(abi::Device* const where, device_of(rig, runs[d].outputs[0]));
    if (where != all[d]) return broken("a result is on another device than its replica");
    MILLRACE_TRY(Floats got, rig.get(runs[d].outputs[0]));
    results.push_back(std::move(got));
  }
  return results;
}

MILLRACE_CONFORM(several, replicas, "two replicas run in one launch, each on its device") {
  MILLRACE_TRY(const auto results, replicas_run(rig, increment_program()));
  for (std::size_t d = 0; d < 2; ++d) {
    MILLRACE_TRY_STATUS(expect_floats(results[d], numbers_of(d, 1), "the result of a replica"));
  }
  return {};
}

MILLRACE_CONFORM(several, all_reduce, "replicas add what they have", .after = "several.replicas") {
  MILLRACE_TRY(const auto results, replicas_run(rig, sum_over_replicas_program()));
  for (const Floats& result : results) {
    MILLRACE_TRY_STATUS(
        expect_floats(result, Floats{1002, 1004, 1006, 1008}, "the sum over two replicas"));
  }
  return {};
}

}  // namespace
}  // namespace millrace::conform
