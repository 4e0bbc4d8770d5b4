// The part of Emitter for while and case: nested step lists over buffers of the same arena.
#include <algorithm>
#include <cstring>

#include "millrace/devices/cpu/plan/emit.h"

namespace millrace::devices::cpu::plan {
namespace {

struct Move {
  BufferId from, to;
  std::size_t bytes;
};

void run_moves(const StepFrame& f, const std::vector<Move>& moves) {
  for (const Move& m : moves) {
    if (f.at(m.to) != f.at(m.from)) std::memcpy(f.at(m.to), f.at(m.from), m.bytes);
  }
}

}  // namespace

// The carried values have a buffer each, which the bodies read as their parameters and the loop's
// users as its results. At the end of a round the new values move there; those that another
// parameter still holds go through a buffer of their own.
Status Emitter::emit_while(const Node& n, StepList& to) {
  const std::size_t count = n.inputs.size();
  std::vector<BufferId> carried;
  std::vector<Move> start;
  for (std::size_t i = 0; i < count; ++i) {
    const BufferId from = buffer_of(n.inputs[i]);
    const BufferId own = out_.buffers.add(Home::kArena, 0, bytes(n.inputs[i]));
    carried.push_back(own);
    start.push_back({from, own, bytes(n.inputs[i])});
    set_buffer(n.outputs[i], own);
    for (const Block& block : n.blocks) set_buffer(block.parameters[i], own);
  }
  auto condition = std::make_shared<StepList>(), body = std::make_shared<StepList>();
  out_.buffers.open_loop();
  MILLRACE_TRY_STATUS(emit_block(n.blocks[0], *condition, false, {}));
  out_.buffers.advance();
  const BufferId go_on = buffer_of(n.blocks[0].results[0]);
  MILLRACE_TRY_STATUS(emit_block(n.blocks[1], *body, false, n.blocks[1].parameters));
  out_.buffers.advance();
  std::vector<Move> aside, back;
  for (std::size_t i = 0; i < count; ++i) {
    const BufferId from = buffer_of(n.blocks[1].results[i]);
    if (from == carried[i]) continue;
    const bool held = std::any_of(carried.begin(), carried.end(),
                                  [&](BufferId c) { return out_.buffers[from].root == c; });
    if (held) {
      const BufferId side = out_.buffers.add(Home::kArena, 0, bytes(n.inputs[i]));
      aside.push_back({from, side, bytes(n.inputs[i])});
      back.push_back({side, carried[i], bytes(n.inputs[i])});
    } else {
      back.push_back({from, carried[i], bytes(n.inputs[i])});
    }
  }
  for (BufferId b : carried) out_.buffers.touch(b);
  out_.buffers.close_loop();
  for (BufferId b : carried) out_.buffers.touch(b);
  add_step(to, std::string(n.name), n.location, 0).run = [condition, body, go_on, start, aside,
                                                          back](const StepFrame& f) -> Status {
    run_moves(f, start);
    while (true) {
      MILLRACE_TRY_STATUS(f.nested(*condition));
      if (*f.at<const std::uint8_t>(go_on) == 0) return {};
      MILLRACE_TRY_STATUS(f.nested(*body));
      run_moves(f, aside);
      run_moves(f, back);
    }
  };
  return {};
}

// An index out of range takes the last branch.
Status Emitter::emit_case(BlockState& s, const Node& n, StepList& to) {
  const BufferId selector = buffer_of(n.inputs[0]);
  std::vector<BufferId> results;
  results.reserve(n.outputs.size());
  for (ValueId v : n.outputs) results.push_back(new_buffer(s, v));
  struct Branch {
    std::shared_ptr<StepList> steps;
    std::vector<Move> moves;
  };
  std::vector<Branch> branches;
  for (const Block& block : n.blocks) {
    Branch branch{.steps = std::make_shared<StepList>(), .moves = {}};
    out_.buffers.advance();
    MILLRACE_TRY_STATUS(emit_block(block, *branch.steps, false, {}));
    out_.buffers.advance();
    for (std::size_t i = 0; i < results.size(); ++i) {
      branch.moves.push_back({buffer_of(block.results[i]), results[i], bytes(n.outputs[i])});
    }
    branches.push_back(std::move(branch));
  }
  for (BufferId b : results) out_.buffers.touch(b);
  add_step(to, std::string(n.name), n.location, 0).run = [branches = std::move(branches),
                                                          selector](const StepFrame& f) -> Status {
    const std::int32_t index = *f.at<const std::int32_t>(selector);
    const auto last = static_cast<std::int32_t>(branches.size()) - 1;
    const Branch& chosen =
        branches[static_cast<std::size_t>(index < 0 || index > last ? last : index)];
    MILLRACE_TRY_STATUS(f.nested(*chosen.steps));
    run_moves(f, chosen.moves);
    return {};
  };
  return {};
}

}  // namespace millrace::devices::cpu::plan
