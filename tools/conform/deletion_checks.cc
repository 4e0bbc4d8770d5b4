// Deletion, also of what is in use; then donation: arguments that a program may overwrite.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family deletion_family("execute.result events.completes");
Family donation_family("execute.result");

namespace {

Result<Launch> launch(Rig& rig) { return rig.launch(long_program(), Floats(kLongLength, 3)); }

Status expect_result(Rig& rig, const Launch& l) {
  return rig.expect(l.y, Floats(kLongLength, 4), "the result");
}

MILLRACE_CONFORM(deletion, is_deleted, "a buffer says whether it is deleted") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.expect_deleted(x, false, "a new buffer"));
  MILLRACE_TRY_STATUS(rig.remove(x));
  return rig.expect_deleted(x, true, "a buffer that was deleted");
}

MILLRACE_CONFORM(deletion, twice, "a buffer may be deleted twice") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x));
  return rig.remove(x);
}

MILLRACE_CONFORM(deletion, then_read, "a deleted buffer cannot be read") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x));
  const Result<Floats> got = rig.get(x);
  return expect_refused(got, "reading what is deleted");
}

MILLRACE_CONFORM(deletion, then_executed, "a deleted buffer cannot be an argument") {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x));
  return rig.expect_refused_run(rig.execute(increment, {{x}}), "an argument that is deleted");
}

MILLRACE_CONFORM(deletion, while_executing, "an argument may be deleted while the program runs") {
  MILLRACE_TRY(const Launch l, launch(rig));
  MILLRACE_TRY_STATUS(rig.remove(l.x));
  return expect_result(rig, l);
}

MILLRACE_CONFORM(deletion, destroyed_while_executing,
                 "an argument may be destroyed while the program runs") {
  MILLRACE_TRY(Launch l, launch(rig));
  l.x.reset();
  return expect_result(rig, l);
}

MILLRACE_CONFORM(deletion, while_reading,
                 "a buffer may be deleted and destroyed while it is read") {
  MILLRACE_TRY(Launch l, launch(rig));
  Floats target(kLongLength);
  MILLRACE_TRY(const HeldEvent read,
               rig.start_get(l.y, target.data(), target.size() * sizeof(float)));
  MILLRACE_TRY_STATUS(rig.remove(l.y));
  l.y.reset();
  MILLRACE_TRY_STATUS(rig.wait(read, "PJRT_Buffer_ToHostBuffer"));
  return expect_floats(target, Floats(kLongLength, 4), "what was being read when it was deleted");
}

MILLRACE_CONFORM(deletion, while_referenced,
                 "memory that is held from outside stays when its buffer is deleted",
                 .after = "buffer.external_reference", .need = kMay) {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(x));
  std::vector<HeldBuffer> others;
  MILLRACE_TRY(const Floats seen, rig.with_memory_held(x, [&]() -> Status {
    MILLRACE_TRY_STATUS(rig.remove(x));
    // Memory that was released is soon another buffer's.
    for (int i = 0; i < 16; ++i) {
      MILLRACE_TRY(HeldBuffer other, rig.put(Floats(kLength, -1)));
      MILLRACE_TRY_STATUS(rig.wait_ready(other));
      others.push_back(std::move(other));
    }
    return {};
  }));
  return expect_floats(seen, numbers(), "what was held from outside when it was deleted");
}

MILLRACE_CONFORM(deletion, program_while_executing,
                 "an executable may be destroyed while it runs") {
  MILLRACE_TRY(Launch l, launch(rig));
  l.program.reset();
  return expect_result(rig, l);
}

MILLRACE_CONFORM(deletion, result_before_ready,
                 "the event of a result that was destroyed is set without an error") {
  MILLRACE_TRY(Launch l, launch(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(l.y));
  l.y.reset();
  return rig.wait(ready, "a result that was destroyed before it was ready");
}

MILLRACE_CONFORM(deletion, client_with_work, "a client may be destroyed while programs run") {
  MILLRACE_TRY(Launch l, launch(rig));
  l.x.reset();
  l.y.reset();
  l.program.reset();
  return rig.close();
}

MILLRACE_CONFORM(donation, result,
                 "a program that may overwrite its argument gives the right result") {
  MILLRACE_TRY(const Launch d, rig.launch(donated_increment_program(), numbers()));
  return rig.expect(d.y, numbers(1), "the result");
}

MILLRACE_CONFORM(donation, deletes, "a donated argument is deleted when the launch returns",
                 .after = "deletion.is_deleted") {
  MILLRACE_TRY(const Launch d, rig.launch(donated_increment_program(), numbers()));
  return rig.expect_deleted(d.x, true, "after the launch the argument");
}

MILLRACE_CONFORM(donation, used_again, "a donated argument cannot be used again",
                 .after = "donation.deletes") {
  MILLRACE_TRY(const Launch d, rig.launch(donated_increment_program(), numbers()));
  return rig.expect_refused_run(rig.execute(d.program, {{d.x}}), "a donated argument");
}

MILLRACE_CONFORM(donation, kept, "an argument that is said not to be donated stays as it was",
                 .after = "donation.result") {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_increment_program(), numbers()));
  MILLRACE_TRY(const Run run, rig.execute(d.program, {{d.x}}, {.kept = {0}}));
  MILLRACE_TRY_STATUS(rig.expect_deleted(d.x, false, "an argument that is not to be donated"));
  MILLRACE_TRY_STATUS(rig.expect(run.outputs[0], numbers(1), "the result"));
  return rig.expect(d.x, numbers(), "an argument that is not to be donated");
}

MILLRACE_CONFORM(donation, twice, "one buffer donated twice is refused, or copied") {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_pair_program(), numbers()));
  const Result<Run> run = rig.execute(d.program, {{d.x, d.x}}, {.outputs = 2});
  if (!run) {
    static_cast<void>(rig.note("refused"));
    return expect_refused(run, "it");
  }
  for (const HeldBuffer& y : run->outputs) {
    MILLRACE_TRY_STATUS(
        rig.expect(y, numbers(1), "of one buffer that was donated twice, a result"));
  }
  return rig.note("copied");
}

MILLRACE_CONFORM(donation, refused_keeps, "a launch that is refused takes no argument",
                 .after = "errors.argument_count") {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_pair_program(), numbers()));
  const Result<Run> run = rig.execute(d.program, {{d.x}}, {.outputs = 2});
  MILLRACE_TRY_STATUS(expect_refused(run, "one argument where there are two"));
  MILLRACE_TRY_STATUS(rig.expect_deleted(d.x, false, "the argument of a launch that was refused"));
  return rig.expect(d.x, numbers(), "the argument of a launch that was refused");
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
  MILLRACE_TRY(const HeldBuffer y, rig.apply(program, put.buffer));
  MILLRACE_TRY_STATUS(rig.expect(y, numbers(1), "the result"));
  return expect_floats(lent->values, numbers(), "the caller's array, which was lent unchangeable,");
}

MILLRACE_CONFORM(donation, while_read, "what is being read may be donated") {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_increment_program(), numbers()));
  Floats target(kLength);
  MILLRACE_TRY(const HeldEvent read, rig.start_get(d.x, target.data(), 4 * sizeof(float)));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(d.program, d.x));
  MILLRACE_TRY_STATUS(rig.wait(read, "PJRT_Buffer_ToHostBuffer"));
  MILLRACE_TRY_STATUS(rig.wait_ready(y));
  return expect_floats(target, numbers(), "what was being read when it was donated");
}

MILLRACE_CONFORM(donation, while_referenced,
                 "what is held from outside is not overwritten when it is donated",
                 .after = "donation.result buffer.external_reference", .need = kMay) {
  MILLRACE_TRY(const Launch d, rig.prepare(donated_increment_program(), numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(d.x));
  Result<HeldBuffer> y;
  MILLRACE_TRY(const Floats seen, rig.with_memory_held(d.x, [&]() -> Status {
    y = rig.apply(d.program, d.x);
    return y ? rig.wait_ready(*y) : Status();
  }));
  MILLRACE_TRY_STATUS(
      expect_floats(seen, numbers(), "what was held from outside when it was donated"));
  return y ? Status() : expect_refused(y, "the launch");
}

}  // namespace
}  // namespace millrace::conform
