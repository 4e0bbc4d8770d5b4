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

bool contains(const std::vector<BufferId>& list, BufferId b) {
  return std::find(list.begin(), list.end(), b) != list.end();
}

void run_moves(const StepFrame& f, const std::vector<Move>& moves) {
  for (const Move& m : moves) {
    if (m.bytes > 0 && f.at(m.to) != f.at(m.from)) std::memcpy(f.at(m.to), f.at(m.from), m.bytes);
  }
}

}  // namespace

std::set<ValueId> Emitter::storages_around(const Node& n) const {
  std::set<ValueId> values, storages;
  for (const Block& block : n.blocks) captured(block, values);
  for (ValueId v : values) {
    storages.insert(storage(v));
    for (const Node* p = graph_.producer(v); p != nullptr && is_view(p->kind);
         p = graph_.producer(p->inputs[0])) {
      storages.insert(storage(p->inputs[0]));
    }
  }
  return storages;
}

bool Emitter::is_output_place(BufferId b, int output) const {
  return out_.buffers[b].home == Home::kOutput && out_.buffers[b].index == output;
}

// The value that a loop begins with is made where the loop's result goes, if nobody reads it but
// the loop and what comes before it.
void Emitter::place_in_outputs(BlockState& s, const std::vector<int>& order) {
  std::vector<int> place_of(s.units.size(), -1);
  for (std::size_t i = 0; i < order.size(); ++i)
    place_of[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  std::vector<std::pair<ValueId, int>> todo(result_index_.begin(), result_index_.end());
  while (!todo.empty()) {
    const auto [result, output] = todo.back();
    todo.pop_back();
    const Node* n = graph_.producer(result);
    if (n == nullptr || n->kind != NodeKind::kWhile) continue;
    const auto at = std::find(n->outputs.begin(), n->outputs.end(), result) - n->outputs.begin();
    const ValueId operand = storage(n->inputs[static_cast<std::size_t>(at)]);
    const auto last = s.last_read.find(operand);
    const int loop = place_of[static_cast<std::size_t>(s.writer.at(result))];
    if (!s.writer.contains(operand) || result_index_.contains(operand) ||
        bytes(operand) != bytes(result) || last == s.last_read.end() || last->second != loop ||
        storages_around(*n).contains(operand)) {
      continue;
    }
    result_index_[operand] = output;
    todo.emplace_back(operand, output);
  }
}

// Each carried value has one place: the bodies read it as their parameter, at the end of a round
// the new value moves there, and the loop's users read it as the result. The place is
// - that of the operand, where the loop is the operand's last reader and no body reads it by name;
// - else a new one, the output's where the result is one, into which the operand is copied before
//   the first round. A donated input that is that output's memory is there already.
// New values that another parameter still holds go through a buffer of their own.
Status Emitter::emit_while(BlockState& s, const Node& n, StepList& to) {
  const std::size_t count = n.inputs.size();
  const std::set<ValueId> around = storages_around(n);
  std::vector<BufferId> carried;
  std::vector<Move> start;
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId operand = n.inputs[i], result = n.outputs[i];
    const BufferId from = buffer_of(operand);
    const auto output = s.root ? result_index_.find(result) : result_index_.end();
    const bool is_output = output != result_index_.end();
    const bool whole =
        out_.buffers[from].root == from && out_.buffers[from].bytes == bytes(operand);
    const bool free = whole && !around.contains(storage(operand)) && !contains(carried, from);
    BufferId own = -1;
    if (free && (is_output ? is_output_place(from, output->second) : dies_here(s, operand))) {
      own = from;
      set_buffer(result, own);
    } else {
      own = new_buffer(s, result);
      start.push_back({from, own, bytes(operand)});
      if (is_output && whole && out_.buffers[from].home == Home::kInput)
        in_place_.emplace(output->second, out_.buffers[from].index);
    }
    carried.push_back(own);
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
