// Execution: results, events, and whose the arrays of a call are.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

Status result(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldBuffer a, rig.put(numbers()));
  MILLRACE_TRY(const HeldBuffer b, rig.put(Floats{10, 20, 30, 40}));
  MILLRACE_TRY(const Run run, rig.execute(add.get(), {{a.get(), b.get()}}));
  MILLRACE_TRY(const Floats got, rig.get(run.outputs[0].get()));
  return expect_floats(got, Floats{11, 22, 33, 44}, "the sum");
}

Status complete_event(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const Run run, rig.execute(increment.get(), {{x.get()}}));
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

Status without_event(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  Call call(increment.get(), x.get());
  MILLRACE_TRY_STATUS(rig.table().call(call.args));
  const HeldBuffer y = rig.hold(call.outputs[0]);
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  return expect_floats(got, Floats{2, 3, 4, 5}, "the result");
}

Status arrays_of_call(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  Call call(increment.get(), x.get());
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
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  MILLRACE_TRY_STATUS(expect_floats(got, Floats{2, 3, 4, 5}, "the result"));
  if (call.arguments[0] == mine && call.outputs[0] == mine && call.done[0] == nullptr) return {};
  return broken("the caller's arrays are written after the call");
}

Status two_results(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded split, rig.compile(split_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const Run run, rig.execute(split.get(), {{x.get()}}, {.outputs = 2}));
  MILLRACE_TRY(const Floats sum, rig.get(run.outputs[0].get()));
  MILLRACE_TRY_STATUS(expect_floats(sum, Floats{2, 4, 6, 8}, "the first result"));
  MILLRACE_TRY(const Floats product, rig.get(run.outputs[1].get()));
  return expect_floats(product, Floats{1, 4, 9, 16}, "the second result");
}

Status no_arguments(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.devices());
  MILLRACE_TRY(const HeldLoaded constant, rig.compile_for(constant_program(), {{all[0]}}));
  MILLRACE_TRY(const Run run, rig.execute(constant.get(), {}));
  MILLRACE_TRY(const Floats got, rig.get(run.outputs[0].get()));
  return expect_floats(got, Floats{7, 7, 7, 7}, "the constant");
}

Status identity(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded program, rig.compile(identity_program()));
  MILLRACE_TRY(HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(program.get(), x.get()));
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  x.reset();
  MILLRACE_TRY(const bool gone, rig.is_deleted(y.get()));
  if (gone) return broken("the result is deleted with the argument");
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  return expect_floats(got, numbers(), "the result");
}

Status same_argument(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const Run run, rig.execute(add.get(), {{x.get(), x.get()}}));
  MILLRACE_TRY(const Floats got, rig.get(run.outputs[0].get()));
  return expect_floats(got, Floats{2, 4, 6, 8}, "x + x");
}

Status chain(Rig& rig) {
  constexpr int kSteps = 1000;
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(HeldBuffer x, rig.put(numbers()));
  for (int i = 0; i < kSteps; ++i) {
    MILLRACE_TRY(x, rig.apply(increment.get(), x.get()));
  }
  MILLRACE_TRY(const Floats got, rig.get(x.get()));
  return expect_floats(got, Floats{1001, 1002, 1003, 1004}, "the sum of 1000 executions");
}

}  // namespace

std::vector<Check> execute_checks() {
  std::vector<Check> list = {
      {.name = "execute.result", .wants = "a + b is right", .run = &result, .need = Need::kMust},
      {.name = "execute.complete_event",
       .wants = "the event of an execution is set, without an error",
       .run = &complete_event,
       .need = Need::kMust},
      {.name = "execute.without_event",
       .wants = "nobody need ask for the event of an execution",
       .run = &without_event},
      {.name = "execute.arrays_of_call",
       .wants = "the arrays of a call are the caller's again when it returns",
       .run = &arrays_of_call,
       .after = {"execute.complete_event"}},
      {.name = "execute.two_results",
       .wants = "two results come in their order",
       .run = &two_results},
      {.name = "execute.no_arguments",
       .wants = "a program need not have arguments",
       .run = &no_arguments,
       .after = {"device.ids"}},
      {.name = "execute.identity",
       .wants = "a result that is an argument outlives it",
       .run = &identity},
      {.name = "execute.same_argument",
       .wants = "one buffer may be two arguments",
       .run = &same_argument},
      {.name = "execute.chain",
       .wants = "1000 executions, each of the result before, need not be waited for",
       .run = &chain},
  };
  for (std::size_t i = 1; i < list.size(); ++i) list[i].after.push_back("execute.result");
  return after({"host.round_trip", "compile.text"}, std::move(list));
}

}  // namespace millrace::conform
