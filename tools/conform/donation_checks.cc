// Donation: arguments that a program may overwrite.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family donation_family("execute.result");

namespace {

MILLRACE_CONFORM(donation, result,
                 "a program that may overwrite its argument gives the right result") {
  MILLRACE_TRY(const Launch d, rig.launch(donated_increment_program(), numbers()));
  return rig.expect(d.y.get(), numbers(1), "the result");
}

MILLRACE_CONFORM(donation, deletes, "a donated argument is deleted when the launch returns",
                 .after = "deletion.is_deleted") {
  MILLRACE_TRY(const Launch d, rig.launch(donated_increment_program(), numbers()));
  MILLRACE_TRY(const bool gone, rig.is_deleted(d.x.get()));
  return expect(gone, "the argument says after the launch that it is not deleted");
}

MILLRACE_CONFORM(donation, used_again, "a donated argument cannot be used again",
                 .after = "donation.deletes") {
  MILLRACE_TRY(const Launch d, rig.launch(donated_increment_program(), numbers()));
  return rig.expect_refused_run(rig.execute(d.program.get(), {{d.x.get()}}), "a donated argument");
}

MILLRACE_CONFORM(donation, kept, "an argument that is said not to be donated stays as it was",
                 .after = "donation.result") {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_increment_program(), numbers()));
  MILLRACE_TRY(const Run run, rig.execute(d.program.get(), {{d.x.get()}}, {.kept = {0}}));
  MILLRACE_TRY(const bool gone, rig.is_deleted(d.x.get()));
  if (gone) return broken("an argument that is not to be donated is deleted");
  MILLRACE_TRY_STATUS(rig.expect(run.outputs[0].get(), numbers(1), "the result"));
  return rig.expect(d.x.get(), numbers(), "an argument that is not to be donated");
}

MILLRACE_CONFORM(donation, twice, "one buffer donated twice is refused, or copied") {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_pair_program(), numbers()));
  const Result<Run> run = rig.execute(d.program.get(), {{d.x.get(), d.x.get()}}, {.outputs = 2});
  if (!run) {
    static_cast<void>(rig.note("refused"));
    return expect_refused(run, "it");
  }
  for (const HeldBuffer& y : run->outputs) {
    MILLRACE_TRY_STATUS(
        rig.expect(y.get(), numbers(1), "of one buffer that was donated twice, a result"));
  }
  return rig.note("copied");
}

MILLRACE_CONFORM(donation, refused_keeps, "a launch that is refused takes no argument",
                 .after = "errors.argument_count") {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_pair_program(), numbers()));
  const Result<Run> run = rig.execute(d.program.get(), {{d.x.get()}}, {.outputs = 2});
  MILLRACE_TRY_STATUS(expect_refused(run, "one argument where there are two"));
  MILLRACE_TRY(const bool gone, rig.is_deleted(d.x.get()));
  if (gone) return broken("a launch that was refused has taken its argument");
  return rig.expect(d.x.get(), numbers(), "the argument of a launch that was refused");
}

MILLRACE_CONFORM(donation, lent_memory, "memory that was lent unchangeable is not overwritten",
                 .after = "donation.result") {
  struct alignas(128) Lent {
    float values[kLength] = {1, 2, 3, 4};
  };
  const auto lent = std::make_unique<Lent>();
  MILLRACE_TRY(const HeldLoaded program, rig.compile(donated_increment_program()));
  MILLRACE_TRY(const Put put,
               rig.put_any(lent->values, {.semantics = kImmutableZeroCopy, .dims = {kLength}}));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(program.get(), put.buffer.get()));
  MILLRACE_TRY_STATUS(rig.expect(y.get(), numbers(1), "the result"));
  return expect_floats(lent->values, numbers(), "the caller's array, which was lent unchangeable,");
}

MILLRACE_CONFORM(donation, while_read, "what is being read may be donated") {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_increment_program(), numbers()));
  Floats target(kLength);
  MILLRACE_TRY(const Put read, rig.start_get(d.x.get(), target.data(), 4 * sizeof(float)));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(d.program.get(), d.x.get()));
  MILLRACE_TRY_STATUS(rig.wait(read.done, "PJRT_Buffer_ToHostBuffer"));
  MILLRACE_TRY_STATUS(rig.wait_ready(y.get()));
  return expect_floats(target, numbers(), "what was being read when it was donated");
}

MILLRACE_CONFORM(donation, while_referenced,
                 "what is held from outside is not overwritten when it is donated",
                 .after = "donation.result buffer.external_reference", .need = kMay) {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_increment_program(), numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(d.x.get()));
  MILLRACE_TRY(const float* const memory, rig.hold_memory(d.x.get()));
  const Result<HeldBuffer> y = rig.apply(d.program.get(), d.x.get());
  if (y) MILLRACE_TRY_STATUS(rig.wait_ready(y->get()));
  const Floats seen = memory == nullptr ? numbers() : Floats(memory, memory + kLength);
  MILLRACE_TRY_STATUS(rig.let_go_of_memory(d.x.get()));
  MILLRACE_TRY_STATUS(
      expect_floats(seen, numbers(), "what was held from outside when it was donated"));
  return y ? Status() : expect_refused(y, "the launch");
}

}  // namespace
}  // namespace millrace::conform
