// Deletion, also of what is in use.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

// What goes through long_program.
struct Launched {
  HeldLoaded program;
  HeldBuffer x, y;
};

Result<Launched> launch(Rig& rig) {
  Launched l;
  MILLRACE_TRY(l.program, rig.compile(long_program()));
  MILLRACE_TRY(l.x, rig.put(Floats(kLongLength, 3)));
  MILLRACE_TRY(l.y, rig.apply(l.program.get(), l.x.get()));
  return l;
}

Status expect_result(Rig& rig, const Launched& l) {
  MILLRACE_TRY(const Floats got, rig.get(l.y.get(), kLongLength));
  return expect_floats(got, Floats(kLongLength, 4), "the result");
}

Status is_deleted(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const bool before, rig.is_deleted(x.get()));
  if (before) return broken("a buffer says that it is deleted when it is not");
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  MILLRACE_TRY(const bool after, rig.is_deleted(x.get()));
  return after ? Status() : broken("a buffer says that it is not deleted when it is");
}

Status twice(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  return rig.remove(x.get());
}

Status then_read(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  const Result<Floats> got = rig.get(x.get());
  return expect_refused(got ? Status() : std::unexpected(got.error()), "reading what is deleted");
}

Status then_executed(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.remove(x.get()));
  const Result<Run> run = rig.execute(increment.get(), {{x.get()}});
  if (!run) return expect_refused(std::unexpected(run.error()), "it");
  return expect_refused(rig.wait_ready(run->outputs[0].get()), "an argument that is deleted");
}

Status while_executing(Rig& rig) {
  MILLRACE_TRY(const Launched l, launch(rig));
  MILLRACE_TRY_STATUS(rig.remove(l.x.get()));
  return expect_result(rig, l);
}

Status destroyed_while_executing(Rig& rig) {
  MILLRACE_TRY(Launched l, launch(rig));
  l.x.reset();
  return expect_result(rig, l);
}

Status while_reading(Rig& rig) {
  MILLRACE_TRY(Launched l, launch(rig));
  Floats target(kLongLength);
  MILLRACE_TRY(const Put read,
               rig.start_get(l.y.get(), target.data(), target.size() * sizeof(float)));
  MILLRACE_TRY_STATUS(rig.remove(l.y.get()));
  l.y.reset();
  MILLRACE_TRY_STATUS(rig.wait(read.done, "PJRT_Buffer_ToHostBuffer"));
  return expect_floats(target, Floats(kLongLength, 4), "what was being read when it was deleted");
}

Status while_referenced(Rig& rig) {
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

Status program_while_executing(Rig& rig) {
  MILLRACE_TRY(Launched l, launch(rig));
  l.program.reset();
  return expect_result(rig, l);
}

Status result_before_ready(Rig& rig) {
  MILLRACE_TRY(Launched l, launch(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(l.y.get()));
  l.y.reset();
  return rig.wait(ready, "a result that was destroyed before it was ready");
}

Status client_with_work(Rig& rig) {
  MILLRACE_TRY(Launched l, launch(rig));
  l.x.reset();
  l.y.reset();
  l.program.reset();
  return rig.close();
}

}  // namespace

std::vector<Check> deletion_checks() {
  return after(
      {"execute.result", "events.completes"},
      {
          {.name = "deletion.is_deleted",
           .wants = "a buffer says whether it is deleted",
           .run = &is_deleted},
          {.name = "deletion.twice", .wants = "a buffer may be deleted twice", .run = &twice},
          {.name = "deletion.then_read",
           .wants = "a deleted buffer cannot be read",
           .run = &then_read},
          {.name = "deletion.then_executed",
           .wants = "a deleted buffer cannot be an argument",
           .run = &then_executed},
          {.name = "deletion.while_executing",
           .wants = "an argument may be deleted while the program runs",
           .run = &while_executing},
          {.name = "deletion.destroyed_while_executing",
           .wants = "an argument may be destroyed while the program runs",
           .run = &destroyed_while_executing},
          {.name = "deletion.while_reading",
           .wants = "a buffer may be deleted and destroyed while it is read",
           .run = &while_reading},
          {.name = "deletion.while_referenced",
           .wants = "memory that is held from outside stays when its buffer is deleted",
           .run = &while_referenced,
           .after = {"buffer.external_reference"},
           .need = Check::Need::kMay},
          {.name = "deletion.program_while_executing",
           .wants = "an executable may be destroyed while it runs",
           .run = &program_while_executing},
          {.name = "deletion.result_before_ready",
           .wants = "the event of a result that was destroyed is set without an error",
           .run = &result_before_ready},
          {.name = "deletion.client_with_work",
           .wants = "a client may be destroyed while programs run",
           .run = &client_with_work},
      });
}

}  // namespace millrace::conform
