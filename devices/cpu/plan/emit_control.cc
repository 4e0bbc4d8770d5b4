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

std::vector<ValueId> Emitter::origins(const Node& n, ValueId result,
                                      const std::set<ValueId>& around) const {
  constexpr std::size_t kMostSteps = 64;
  std::vector<ValueId> found, todo;
  const auto into = [&](const Node& from, ValueId of) {
    const auto at = static_cast<std::size_t>(
        std::find(from.outputs.begin(), from.outputs.end(), of) - from.outputs.begin());
    switch (from.kind) {
      case NodeKind::kWhile:
      case NodeKind::kScatter:
      case NodeKind::kDynamicUpdateSlice:
        todo.push_back(from.inputs[at]);
        break;
      case NodeKind::kElementwise:
        todo.insert(todo.end(), from.inputs.rbegin(), from.inputs.rend());
        break;
      case NodeKind::kCase:
        for (const Block& block : from.blocks) todo.push_back(block.results[at]);
        break;
      default:
        break;
    }
  };
  into(n, result);
  if (n.kind == NodeKind::kWhile) {
    const ValueId operand = storage(todo[0]);
    return around.contains(operand) ? std::vector<ValueId>() : std::vector{operand};
  }
  for (std::size_t step = 0; step < kMostSteps && !todo.empty(); ++step) {
    const ValueId v = storage(todo.back());
    todo.pop_back();
    if (bytes(v) != bytes(result)) continue;
    if (around.contains(v)) {
      found.push_back(v);
    } else if (const Node* p = graph_.producer(v)) {
      into(*p, v);
    }
  }
  return found;
}

// The value that a loop begins with, or that branches update, is made where the result goes, if
// nobody reads it but the loop or branches and what comes before them.
void Emitter::place_operands(BlockState& s, const std::vector<int>& order) {
  std::vector<int> place_of(s.units.size(), -1);
  for (std::size_t i = 0; i < order.size(); ++i)
    place_of[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  std::map<const Node*, std::set<ValueId>> around;
  std::vector<std::pair<ValueId, BufferId>> todo(s.places.begin(), s.places.end());
  while (!todo.empty()) {
    const auto [result, place] = todo.back();
    todo.pop_back();
    const Node* n = graph_.producer(result);
    if (n == nullptr || (n->kind != NodeKind::kWhile && n->kind != NodeKind::kCase)) continue;
    const int at = place_of[static_cast<std::size_t>(s.writer.at(result))];
    if (!around.contains(n)) around[n] = storages_around(*n);
    for (ValueId operand : origins(*n, result, around[n])) {
      const auto last = s.last_read.find(operand);
      if (!s.writer.contains(operand) || s.places.contains(operand) ||
          bytes(operand) != bytes(result) || last == s.last_read.end() || last->second != at) {
        continue;
      }
      s.places[operand] = place;
      todo.emplace_back(operand, place);
      break;
    }
  }
}

// What puts values where they are wanted after a block: those that lie where another goes are first
// put aside.
struct Emitter::Moves {
  std::vector<Move> aside, back;

  void run(const StepFrame& f) const {
    run_moves(f, aside);
    run_moves(f, back);
  }
};

Emitter::Moves Emitter::moves_to(const std::vector<BufferId>& places,
                                 const std::vector<ValueId>& values) {
  std::vector<BufferId> from;
  from.reserve(values.size());
  for (ValueId v : values) from.push_back(buffer_of(v));
  Moves moves;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (from[i] == places[i]) continue;
    bool overwritten = false;
    for (std::size_t k = 0; k < places.size(); ++k)
      overwritten |= places[k] == out_.buffers[from[i]].root && from[k] != places[k];
    const std::size_t size = bytes(values[i]);
    if (overwritten) {
      const BufferId side = out_.buffers.add(Home::kArena, 0, size);
      moves.aside.push_back({from[i], side, size});
      moves.back.push_back({side, places[i], size});
    } else {
      moves.back.push_back({from[i], places[i], size});
    }
  }
  return moves;
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
    BufferId own = from;
    if (!around.contains(storage(operand)) && !contains(carried, from) &&
        may_become(s, operand, result)) {
      set_buffer(s, result, own);
    } else {
      own = new_buffer(s, result);
      start.push_back({from, own, bytes(operand)});
      if (out_.buffers[from].home == Home::kInput && out_.buffers[from].root == from)
        write_output(own, out_.buffers[from].index);
    }
    carried.push_back(own);
    for (const Block& block : n.blocks) value_buffers_[block.parameters[i]] = own;
  }
  auto condition = std::make_shared<StepList>(), body = std::make_shared<StepList>();
  const std::size_t copies = copies_inside_.size();
  out_.buffers.open_loop();
  MILLRACE_TRY_STATUS(emit_block(n.blocks[0], *condition, {}));
  out_.buffers.advance();
  const BufferId go_on = buffer_of(n.blocks[0].results[0]);
  MILLRACE_TRY_STATUS(emit_block(n.blocks[1], *body, {.own = n.blocks[1].parameters}));
  out_.buffers.advance();
  const Moves moves = moves_to(carried, n.blocks[1].results);
  forget_copies(copies);
  for (BufferId b : carried) out_.buffers.touch(b);
  out_.buffers.close_loop();
  for (BufferId b : carried) out_.buffers.touch(b);
  add_step(to, std::string(n.name), n.location, 0).run = [condition, body, go_on, start,
                                                          moves](const StepFrame& f) -> Status {
    run_moves(f, start);
    while (true) {
      MILLRACE_TRY_STATUS(f.nested(*condition));
      if (*f.at<const std::uint8_t>(go_on) == 0) return {};
      MILLRACE_TRY_STATUS(f.nested(*body));
      moves.run(f);
    }
  };
  return {};
}

// Where the branches make a result: over a value that they capture and that nobody reads
// afterwards, if the result may be made of it; else where it is wanted, or anywhere.
BufferId Emitter::place_branches(BlockState& s, const Node& n, ValueId result,
                                 const std::set<ValueId>& around, Surroundings& inside) {
  std::vector<ValueId> candidates = origins(n, result, around);
  if (const auto wanted = s.places.find(result); wanted != s.places.end()) {
    const auto holder = s.holders.find(wanted->second);
    candidates.clear();
    if (holder != s.holders.end() && around.contains(holder->second))
      candidates.push_back(holder->second);
  }
  for (ValueId v : candidates) {
    if (!may_become(s, v, result)) continue;
    const BufferId b = buffer_of(v);
    if (contains(inside.wanted, b)) continue;
    set_buffer(s, result, b);
    inside.held.push_back(v);
    return b;
  }
  inside.held.push_back(-1);
  return new_place(s, result);
}

// The branches make the results where the case's users read them, each as if it were the only one;
// what is made elsewhere, or not made by the branch, moves there at its end. An index out of range
// takes the last branch.
Status Emitter::emit_case(BlockState& s, const Node& n, StepList& to) {
  const BufferId selector = buffer_of(n.inputs[0]);
  const std::set<ValueId> around = storages_around(n);
  Surroundings inside;
  for (ValueId v : around) {
    if (dies_here(s, v)) inside.own.push_back(v);
  }
  for (ValueId v : n.outputs) inside.wanted.push_back(place_branches(s, n, v, around, inside));
  struct Branch {
    std::shared_ptr<StepList> steps;
    Moves moves;
  };
  std::vector<Branch> branches;
  for (const Block& block : n.blocks) {
    Branch branch{.steps = std::make_shared<StepList>(), .moves = {}};
    const std::size_t copies = copies_inside_.size();
    const int begin = out_.buffers.advance();
    MILLRACE_TRY_STATUS(emit_block(block, *branch.steps, inside));
    out_.buffers.advance();
    branch.moves = moves_to(inside.wanted, block.results);
    for (std::size_t i = 0; i < inside.wanted.size(); ++i) {
      const BufferId from = buffer_of(block.results[i]), place = inside.wanted[i];
      if (from != place) {
        const bool input = out_.buffers[from].home == Home::kInput;
        write_output(place, input ? out_.buffers[from].index : -1);
      }
      out_.buffers.touch(place);
    }
    end_writes(inside.wanted, begin);
    forget_copies(copies);
    branches.push_back(std::move(branch));
  }
  out_.buffers.advance();
  for (BufferId b : inside.wanted) {
    out_.buffers.touch(b);
    write_output(b);
  }
  add_step(to, std::string(n.name), n.location, 0).run = [branches = std::move(branches),
                                                          selector](const StepFrame& f) -> Status {
    const std::int32_t index = *f.at<const std::int32_t>(selector);
    const auto last = static_cast<std::int32_t>(branches.size()) - 1;
    const Branch& chosen =
        branches[static_cast<std::size_t>(index < 0 || index > last ? last : index)];
    MILLRACE_TRY_STATUS(f.nested(*chosen.steps));
    chosen.moves.run(f);
    return {};
  };
  return {};
}

}  // namespace millrace::devices::cpu::plan
