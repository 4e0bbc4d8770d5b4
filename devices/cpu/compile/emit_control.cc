// while and case: nested step lists over buffers of the same arena.
#include <algorithm>
#include <cstring>

#include "millrace/devices/cpu/compile/emit.h"

namespace millrace::devices::cpu::compiler {
namespace {

bool contains(const std::vector<BufferId>& list, BufferId b) {
  return std::find(list.begin(), list.end(), b) != list.end();
}

}  // namespace

struct Emitter::Move {
  BufferId from, to;
  std::size_t bytes;

  void run(const StepFrame& f) const {
    if (bytes > 0 && f.at(to) != f.at(from)) std::memcpy(f.at(to), f.at(from), bytes);
  }
};

// What puts values where they are wanted after a block: those that lie where another goes are first
// put aside.
std::vector<Emitter::Move> Emitter::moves_to(const std::vector<BufferId>& places,
                                             const std::vector<ValueId>& values) {
  std::vector<BufferId> from;
  from.reserve(values.size());
  for (ValueId v : values) from.push_back(storage_.of(v));
  std::vector<Move> moves, last;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (from[i] == places[i]) continue;
    bool overwritten = false;
    for (std::size_t k = 0; k < places.size(); ++k)
      overwritten |= places[k] == storage_.buffers[from[i]].root && from[k] != places[k];
    const std::size_t size = storage_.bytes(values[i]);
    if (overwritten) {
      const BufferId side = storage_.buffers.add(Home::kArena, 0, size);
      moves.push_back({from[i], side, size});
      last.push_back({side, places[i], size});
    } else {
      last.push_back({from[i], places[i], size});
    }
  }
  moves.insert(moves.end(), last.begin(), last.end());
  return moves;
}

// Each carried value has one place: the bodies read it as their parameter, at the end of a round
// the new value moves there, and the loop's users read it as the result. The place is
// - that of the operand, where the loop is the operand's last reader and no body reads it by name;
// - else a new one, the output's where the result is one, into which the operand is copied before
//   the first round. A donated input that is that output's memory is there already.
// New values that another parameter still holds go through a buffer of their own.
Status Emitter::emit_while(const Node& n) {
  const std::size_t count = n.inputs.size();
  const std::set<ValueId> around = storage_.owners.around(n);
  std::vector<BufferId> carried;
  std::vector<Move> start;
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId operand = n.inputs[i], result = n.outputs[i];
    const BufferId from = storage_.of(operand);
    BufferId own = from;
    if (!around.contains(storage_.owners.of(operand)) && !contains(carried, from) &&
        places_.may_become(operand, result)) {
      places_.set(result, own);
    } else {
      own = places_.new_buffer(result);
      start.push_back({from, own, storage_.bytes(operand)});
      storage_.write_output(own, from);
    }
    carried.push_back(own);
    for (const Block& block : n.blocks) storage_.set(block.parameters[i], own);
  }
  auto condition = std::make_shared<StepList>(), body = std::make_shared<StepList>();
  const std::size_t copies = storage_.copies();
  storage_.buffers.open_loop();
  MILLRACE_TRY_STATUS(Emitter(all_, n.blocks[0], *condition, {}).run());
  storage_.buffers.advance();
  const BufferId proceeds = storage_.of(n.blocks[0].results[0]);
  MILLRACE_TRY_STATUS(Emitter(all_, n.blocks[1], *body, {.own = n.blocks[1].parameters}).run());
  storage_.buffers.advance();
  const std::vector<Move> moves = moves_to(carried, n.blocks[1].results);
  storage_.erase_copies(copies);
  for (BufferId b : carried) storage_.buffers.touch(b);
  storage_.buffers.close_loop();
  for (BufferId b : carried) storage_.buffers.touch(b);
  const auto run = [condition, body, proceeds, start, moves](const StepFrame& f) -> Status {
    for (const Move& move : start) move.run(f);
    while (true) {
      MILLRACE_TRY_STATUS(f.nested(*condition));
      if (*f.at<const std::uint8_t>(proceeds) == 0) return {};
      MILLRACE_TRY_STATUS(f.nested(*body));
      for (const Move& move : moves) move.run(f);
    }
  };
  add_step(std::string(n.name), n.location, run, {}, {});
  return {};
}

// Where the branches make a result: over a value that they capture and that nothing reads
// afterwards, if the result may be made of it; else where it is wanted, or anywhere.
BufferId Emitter::place_branches(const Node& n, ValueId result, const std::set<ValueId>& around,
                                 Surroundings& inside) {
  std::vector<ValueId> candidates = places_.origins(n, result, around);
  if (const BufferId wanted = places_.wanted(result); wanted >= 0) {
    candidates.clear();
    if (const ValueId holder = places_.holder(wanted); around.contains(holder))
      candidates.push_back(holder);
  }
  for (ValueId v : candidates) {
    if (!places_.may_become(v, result)) continue;
    const BufferId b = storage_.of(v);
    if (contains(inside.wanted, b)) continue;
    places_.set(result, b);
    inside.held.push_back(v);
    return b;
  }
  inside.held.push_back(-1);
  return places_.new_place(result);
}

// The branches make the results where the case's users read them, each as if it were the only one;
// what is made elsewhere, or not made by the branch, moves there at its end. An index out of range
// takes the last branch.
Status Emitter::emit_case(const Node& n) {
  const BufferId selector = storage_.of(n.inputs[0]);
  const std::set<ValueId> around = storage_.owners.around(n);
  Surroundings inside;
  for (ValueId v : around) {
    if (places_.dies_here(v)) inside.own.push_back(v);
  }
  for (ValueId v : n.outputs) inside.wanted.push_back(place_branches(n, v, around, inside));
  struct Branch {
    std::shared_ptr<StepList> steps;
    std::vector<Move> moves;
  };
  std::vector<Branch> branches;
  for (const Block& block : n.blocks) {
    Branch branch{.steps = std::make_shared<StepList>(), .moves = {}};
    const std::size_t copies = storage_.copies();
    const int begin = storage_.buffers.advance();
    MILLRACE_TRY_STATUS(Emitter(all_, block, *branch.steps, inside).run());
    storage_.buffers.advance();
    branch.moves = moves_to(inside.wanted, block.results);
    for (std::size_t i = 0; i < inside.wanted.size(); ++i) {
      const BufferId from = storage_.of(block.results[i]), place = inside.wanted[i];
      if (from != place) storage_.write_output(place, from);
      storage_.buffers.touch(place);
    }
    storage_.end_writes(inside.wanted, begin);
    storage_.erase_copies(copies);
    branches.push_back(std::move(branch));
  }
  storage_.buffers.advance();
  for (BufferId b : inside.wanted) {
    storage_.buffers.touch(b);
    storage_.write_output(b);
  }
  auto run = [branches = std::move(branches), selector](const StepFrame& f) -> Status {
    const std::int32_t index = *f.at<const std::int32_t>(selector);
    const auto last = static_cast<std::int32_t>(branches.size()) - 1;
    const Branch& chosen =
        branches[static_cast<std::size_t>(index < 0 || index > last ? last : index)];
    MILLRACE_TRY_STATUS(f.nested(*chosen.steps));
    for (const Move& move : chosen.moves) move.run(f);
    return {};
  };
  add_step(std::string(n.name), n.location, std::move(run), {}, {});
  return {};
}

}  // namespace millrace::devices::cpu::compiler
