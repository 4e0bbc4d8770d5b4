// Donation: arguments that a program may overwrite.
#include <cstring>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

struct Donated {
  HeldLoaded program;
  HeldBuffer x;
};

Result<Donated> prepare(Rig& rig) {
  Donated d;
  MILLRACE_TRY(d.program, rig.compile(donated_increment_program()));
  MILLRACE_TRY(d.x, rig.put(numbers()));
  return d;
}

Status result(Rig& rig) {
  MILLRACE_TRY(const Donated d, prepare(rig));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(d.program.get(), d.x.get()));
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  return expect_floats(got, Floats{2, 3, 4, 5}, "the result");
}

Status deletes(Rig& rig) {
  MILLRACE_TRY(const Donated d, prepare(rig));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(d.program.get(), d.x.get()));
  MILLRACE_TRY(const bool gone, rig.is_deleted(d.x.get()));
  return gone ? Status() : broken("the argument says after the launch that it is not deleted");
}

Status used_again(Rig& rig) {
  MILLRACE_TRY(const Donated d, prepare(rig));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(d.program.get(), d.x.get()));
  const Result<Run> again = rig.execute(d.program.get(), {{d.x.get()}});
  if (!again) return expect_refused(std::unexpected(again.error()), "it");
  return expect_refused(rig.wait_ready(again->outputs[0].get()), "a donated argument");
}

Status kept(Rig& rig) {
  MILLRACE_TRY(const Donated d, prepare(rig));
  MILLRACE_TRY(const Run run, rig.execute(d.program.get(), {{d.x.get()}}, {.kept = {0}}));
  MILLRACE_TRY(const bool gone, rig.is_deleted(d.x.get()));
  if (gone) return broken("an argument that is not to be donated is deleted");
  MILLRACE_TRY(const Floats y, rig.get(run.outputs[0].get()));
  MILLRACE_TRY_STATUS(expect_floats(y, Floats{2, 3, 4, 5}, "the result"));
  MILLRACE_TRY(const Floats x, rig.get(d.x.get()));
  return expect_floats(x, numbers(), "an argument that is not to be donated");
}

Status twice(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded pair, rig.compile(donated_pair_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  const Result<Run> run = rig.execute(pair.get(), {{x.get(), x.get()}}, {.outputs = 2});
  if (!run) {
    rig.note("refused");
    return expect_refused(std::unexpected(run.error()), "it");
  }
  for (const HeldBuffer& y : run->outputs) {
    MILLRACE_TRY(const Floats got, rig.get(y.get()));
    MILLRACE_TRY_STATUS(
        expect_floats(got, Floats{2, 3, 4, 5}, "of one buffer that was donated twice, a result"));
  }
  rig.note("copied");
  return {};
}

Status refused_keeps(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded pair, rig.compile(donated_pair_program()));
  MILLRACE_TRY(const HeldBuffer good, rig.put(numbers()));
  const Result<Run> run = rig.execute(pair.get(), {{good.get()}}, {.outputs = 2});
  MILLRACE_TRY_STATUS(expect_refused(run ? Status() : std::unexpected(run.error()),
                                     "one argument where there are two"));
  MILLRACE_TRY(const bool gone, rig.is_deleted(good.get()));
  if (gone) return broken("a launch that was refused has taken its argument");
  MILLRACE_TRY(const Floats got, rig.get(good.get()));
  return expect_floats(got, numbers(), "the argument of a launch that was refused");
}

Status lent_memory(Rig& rig) {
  struct alignas(128) Lent {
    float values[kLength] = {1, 2, 3, 4};
  };
  const auto lent = std::make_unique<Lent>();
  MILLRACE_TRY(const HeldLoaded program, rig.compile(donated_increment_program()));
  MILLRACE_TRY(const Put put,
               rig.put_any(lent->values, {.semantics = kImmutableZeroCopy, .dims = {kLength}}));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(program.get(), put.buffer.get()));
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  MILLRACE_TRY_STATUS(expect_floats(got, Floats{2, 3, 4, 5}, "the result"));
  return expect_floats(lent->values, numbers(), "the caller's array, which was lent unchangeable,");
}

Status while_read(Rig& rig) {
  MILLRACE_TRY(const Donated d, prepare(rig));
  Floats target(kLength);
  MILLRACE_TRY(const Put read, rig.start_get(d.x.get(), target.data(), 4 * sizeof(float)));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(d.program.get(), d.x.get()));
  MILLRACE_TRY_STATUS(rig.wait(read.done, "PJRT_Buffer_ToHostBuffer"));
  MILLRACE_TRY_STATUS(rig.wait_ready(y.get()));
  return expect_floats(target, numbers(), "what was being read when it was donated");
}

Status while_referenced(Rig& rig) {
  MILLRACE_TRY(const Donated d, prepare(rig));
  MILLRACE_TRY_STATUS(rig.wait_ready(d.x.get()));
  MILLRACE_TRY(const float* const memory, rig.hold_memory(d.x.get()));
  const Result<HeldBuffer> y = rig.apply(d.program.get(), d.x.get());
  if (y) MILLRACE_TRY_STATUS(rig.wait_ready(y->get()));
  const Floats seen = memory == nullptr ? numbers() : Floats(memory, memory + kLength);
  MILLRACE_TRY_STATUS(rig.let_go_of_memory(d.x.get()));
  MILLRACE_TRY_STATUS(
      expect_floats(seen, numbers(), "what was held from outside when it was donated"));
  return y ? Status() : expect_refused(std::unexpected(y.error()), "the launch");
}

}  // namespace

std::vector<Check> donation_checks() {
  return after({"execute.result"},
               {
                   {.name = "donation.result",
                    .wants = "a program that may overwrite its argument gives the right result",
                    .run = &result},
                   {.name = "donation.deletes",
                    .wants = "a donated argument is deleted when the launch returns",
                    .run = &deletes,
                    .after = {"deletion.is_deleted"}},
                   {.name = "donation.used_again",
                    .wants = "a donated argument cannot be used again",
                    .run = &used_again,
                    .after = {"donation.deletes"}},
                   {.name = "donation.kept",
                    .wants = "an argument that is said not to be donated stays as it was",
                    .run = &kept,
                    .after = {"donation.result"}},
                   {.name = "donation.twice",
                    .wants = "one buffer donated twice is refused, or copied",
                    .run = &twice},
                   {.name = "donation.refused_keeps",
                    .wants = "a launch that is refused takes no argument",
                    .run = &refused_keeps,
                    .after = {"errors.argument_count"}},
                   {.name = "donation.lent_memory",
                    .wants = "memory that was lent unchangeable is not overwritten",
                    .run = &lent_memory,
                    .after = {"donation.result"}},
                   {.name = "donation.while_read",
                    .wants = "what is being read may be donated",
                    .run = &while_read},
                   {.name = "donation.while_referenced",
                    .wants = "what is held from outside is not overwritten when it is donated",
                    .run = &while_referenced,
                    .after = {"donation.result", "buffer.external_reference"},
                    .need = Check::Need::kMay},
               });
}

}  // namespace millrace::conform
