// Several devices of one client.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family several_family("execute.result device.ids buffer.device execute.complete_event");

namespace {

// Different on every device.
Floats numbers_of(std::size_t device, float more = 0) {
  return numbers(100 * static_cast<float>(device) + more);
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
    MILLRACE_TRY(const HeldBuffer y, rig.apply(increment.get(), x.get()));
    MILLRACE_TRY_STATUS(rig.expect(y.get(), numbers_of(d, 1), "the result of a device"));
  }
  return rig.note(all.size(), " devices");
}

MILLRACE_CONFORM(several, portable, "a portable program runs on the device that the launch names") {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldLoaded increment, rig.compile_portable(increment_program()));
  for (std::size_t d = 0; d < all.size(); ++d) {
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers_of(d), all[d]));
    MILLRACE_TRY(const Run run,
                 rig.execute(increment.get(), {{x.get()}}, {.execute_device = all[d]}));
    MILLRACE_TRY(abi::Device* const where, device_of(rig, run.outputs[0].get()));
    if (where != all[d]) return broken("a result is on another device than its program ran on");
    MILLRACE_TRY_STATUS(
        rig.expect(run.outputs[0].get(), numbers_of(d, 1), "the result of a device"));
  }
  return {};
}

MILLRACE_CONFORM(several, copy_to_device, "a copy is on the other device and outlives its source") {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(HeldBuffer x, rig.put(numbers(), all[0]));
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferCopyToDeviceArgs>(x.get(), all[1]));
  const HeldBuffer y = rig.hold(args.dst_buffer);
  x.reset();  // the copy has begun: it keeps what it needs
  MILLRACE_TRY(abi::Device* const where, device_of(rig, y.get()));
  if (where != all[1]) return broken("the copy is on another device than it should be");
  return rig.expect(y.get(), numbers(), "the copy");
}

MILLRACE_CONFORM(several, copy_to_memory, "a copy is in the other device's memory") {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers(), all[0]));
  MILLRACE_TRY(abi::Memory* const memory, rig.memory(all[1]));
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferCopyToMemoryArgs>(x.get(), memory));
  const HeldBuffer y = rig.hold(args.dst_buffer);
  MILLRACE_TRY(abi::Device* const where, device_of(rig, y.get()));
  if (where != all[1]) return broken("the copy is on another device than its memory");
  return rig.expect(y.get(), numbers(), "the copy");
}

MILLRACE_CONFORM(several, wrong_device,
                 "an argument on another device than the program's is refused") {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldLoaded increment, rig.compile_for(increment_program(), {{all[0]}}));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers(), all[1]));
  return rig.expect_refused_run(rig.execute(increment.get(), {{x.get()}}),
                                "an argument of another device");
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
  MILLRACE_TRY(const std::vector<Run> runs,
               rig.execute_all(loaded.get(), {{x[0].get()}, {x[1].get()}}));
  std::vector<Floats> results;
  for (std::size_t d = 0; d < 2; ++d) {
    MILLRACE_TRY_STATUS(rig.wait(runs[d].done, "PJRT_LoadedExecutable_Execute"));
    MILLRACE_TRY(abi::Device* const where, device_of(rig, runs[d].outputs[0].get()));
    if (where != all[d]) return broken("a result is on another device than its replica");
    MILLRACE_TRY(Floats got, rig.get(runs[d].outputs[0].get()));
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
        expect_floats(result, Floats{102, 104, 106, 108}, "the sum over two replicas"));
  }
  return {};
}

}  // namespace
}  // namespace millrace::conform
