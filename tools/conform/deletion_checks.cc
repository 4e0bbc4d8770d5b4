// Deletion, also of what is in use.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family deletion_family("execute.result events.completes");

namespace {

Result<Launch> launch(Rig& rig) { return rig.launch(long_program(), Floats(kLongLength, 3)); }

Status expect_result(Rig& rig, const Launch& l) {
  return rig.expect(l.y.get(), Floats(kLongLength, 4), "the result");
}

MILLRACE_CONFORM(deletion, is_deleted, "a buffer says whether it is deleted") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const bool before, rig.is_deleted(x.get()));
  if (before) return broken("a buffer says that it is deleted when it is not");
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  MILLRACE_TRY(const bool after, rig.is_deleted(x.get()));
  return expect(after, "a buffer says that it is not deleted when it is");
}

MILLRACE_CONFORM(deletion, twice, "a buffer may be deleted twice") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  return rig.remove(x.get());
}

MILLRACE_CONFORM(deletion, then_read, "a deleted buffer cannot be read") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  const Result<Floats> got = rig.get(x.get());
  return expect_refused(got, "reading what is deleted");
}

MILLRACE_CONFORM(deletion, then_executed, "a deleted buffer cannot be an argument") {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  return rig.expect_refused_run(rig.execute(increment.get(), {{x.get()}}),
                                "an argument that is deleted");
}

MILLRACE_CONFORM(deletion, while_executing, "an argument may be deleted while the program runs") {
  MILLRACE_TRY(const Launch l, launch(rig));
  MILLRACE_TRY_STATUS(rig.remove(l.x.get()));
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
  MILLRACE_TRY(const Put read,
               rig.start_get(l.y.get(), target.data(), target.size() * sizeof(float)));
  MILLRACE_TRY_STATUS(rig.remove(l.y.get()));
  l.y.reset();
  MILLRACE_TRY_STATUS(rig.wait(read.done, "PJRT_Buffer_ToHostBuffer"));
  return expect_floats(target, Floats(kLongLength, 4), "what was being read when it was deleted");
}

MILLRACE_CONFORM(deletion, while_referenced,
                 "memory that is held from outside stays when its buffer is deleted",
                 .after = "buffer.external_reference", .need = kMay) {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(x.get()));
  MILLRACE_TRY(const float* const memory, rig.hold_memory(x.get()));
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  // Memory that was let go of is soon another buffer's.
  std::vector<HeldBuffer> others;
  for (int i = 0; i < 16; ++i) {
    MILLRACE_TRY(HeldBuffer other, rig.put(Floats(kLength, -1)));
    MILLRACE_TRY_STATUS(rig.wait_ready(other.get()));
    others.push_back(std::move(other));
  }
  const Floats seen = memory == nullptr ? numbers() : Floats(memory, memory + kLength);
  MILLRACE_TRY_STATUS(rig.let_go_of_memory(x.get()));
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
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(l.y.get()));
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

}  // namespace
}  // namespace millrace::conform
