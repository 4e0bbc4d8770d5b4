// Several devices of one client.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

// Different on every device.
Floats numbers_of(std::size_t device) {
  Floats values = numbers();
  for (float& v : values) v += static_cast<float>(100 * device);
  return values;
}

Floats plus_one(Floats values) {
  for (float& v : values) v += 1;
  return values;
}

Result<abi::Device*> device_of(Rig& rig, abi::Buffer* buffer) {
  abi::BufferDeviceArgs args;
  args.buffer = buffer;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return args.device;
}

Status compiled_for_each(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.several(2));
  for (std::size_t d = 0; d < all.size(); ++d) {
    MILLRACE_TRY(const HeldLoaded increment, rig.compile_for(increment_program(), {{all[d]}}));
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers_of(d), all[d]));
    MILLRACE_TRY(const HeldBuffer y, rig.apply(increment.get(), x.get()));
    MILLRACE_TRY(const Floats got, rig.get(y.get()));
    MILLRACE_TRY_STATUS(expect_floats(got, plus_one(numbers_of(d)), "the result of a device"));
  }
  rig.note(std::to_string(all.size()) + " devices");
  return {};
}

Status portable(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldLoaded increment, rig.compile_portable(increment_program()));
  for (std::size_t d = 0; d < all.size(); ++d) {
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers_of(d), all[d]));
    MILLRACE_TRY(const Run run,
                 rig.execute(increment.get(), {{x.get()}}, {.execute_device = all[d]}));
    MILLRACE_TRY(abi::Device* const where, device_of(rig, run.outputs[0].get()));
    if (where != all[d]) return broken("a result is on another device than its program ran on");
    MILLRACE_TRY(const Floats got, rig.get(run.outputs[0].get()));
    MILLRACE_TRY_STATUS(expect_floats(got, plus_one(numbers_of(d)), "the result of a device"));
  }
  return {};
}

Status copy_to_device(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(HeldBuffer x, rig.put(numbers(), all[0]));
  abi::BufferCopyToDeviceArgs args;
  args.buffer = x.get();
  args.dst_device = all[1];
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldBuffer y = rig.hold(args.dst_buffer);
  x.reset();  // the copy has begun: it keeps what it needs
  MILLRACE_TRY(abi::Device* const where, device_of(rig, y.get()));
  if (where != all[1]) return broken("the copy is on another device than it should be");
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  return expect_floats(got, numbers(), "the copy");
}

Status copy_to_memory(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers(), all[0]));
  abi::BufferCopyToMemoryArgs args;
  args.buffer = x.get();
  MILLRACE_TRY(args.dst_memory, rig.memory(all[1]));
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldBuffer y = rig.hold(args.dst_buffer);
  MILLRACE_TRY(abi::Device* const where, device_of(rig, y.get()));
  if (where != all[1]) return broken("the copy is on another device than its memory");
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  return expect_floats(got, numbers(), "the copy");
}

Status wrong_device(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.several(2));
  MILLRACE_TRY(const HeldLoaded increment, rig.compile_for(increment_program(), {{all[0]}}));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers(), all[1]));
  const Result<Run> run = rig.execute(increment.get(), {{x.get()}});
  if (!run) return expect_refused(std::unexpected(run.error()), "it");
  return expect_refused(rig.wait_ready(run->outputs[0].get()), "an argument of another device");
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

Status replicas(Rig& rig) {
  MILLRACE_TRY(const auto results, replicas_run(rig, increment_program()));
  for (std::size_t d = 0; d < 2; ++d) {
    MILLRACE_TRY_STATUS(
        expect_floats(results[d], plus_one(numbers_of(d)), "the result of a replica"));
  }
  return {};
}

Status all_reduce(Rig& rig) {
  MILLRACE_TRY(const auto results, replicas_run(rig, sum_over_replicas_program()));
  for (const Floats& result : results) {
    MILLRACE_TRY_STATUS(
        expect_floats(result, Floats{102, 104, 106, 108}, "the sum over two replicas"));
  }
  return {};
}

}  // namespace

std::vector<Check> several_checks() {
  return after({"execute.result", "device.ids", "buffer.device", "execute.complete_event"},
               {
                   {.name = "several.compiled_for_each",
                    .wants = "every device runs a program that was compiled for it",
                    .run = &compiled_for_each},
                   {.name = "several.portable",
                    .wants = "a portable program runs on the device that the launch names",
                    .run = &portable},
                   {.name = "several.copy_to_device",
                    .wants = "a copy is on the other device and outlives its source",
                    .run = &copy_to_device},
                   {.name = "several.copy_to_memory",
                    .wants = "a copy is in the other device's memory",
                    .run = &copy_to_memory},
                   {.name = "several.wrong_device",
                    .wants = "an argument on another device than the program's is refused",
                    .run = &wrong_device},
                   {.name = "several.replicas",
                    .wants = "two replicas run in one launch, each on its device",
                    .run = &replicas},
                   {.name = "several.all_reduce",
                    .wants = "replicas add what they have",
                    .run = &all_reduce,
                    .after = {"several.replicas"}},
               });
}

}  // namespace millrace::conform
