#include "millrace/devices/cpu/compile/placement.h"

#include <algorithm>
#include <set>
#include <utility>

#include "millrace/devices/cpu/compile/storage.h"

namespace millrace::devices::cpu::compiler {
namespace {

bool holds(const std::vector<BufferId>& list, BufferId b) {
  return std::ranges::find(list, b) != list.end();
}

// What puts values where they are wanted after a block: those that lie where another goes are first
// put aside.
std::vector<Copy> copies_to(Storage& storage, const std::vector<BufferId>& places,
                            const std::vector<ValueId>& values) {
  std::vector<BufferId> from;
  from.reserve(values.size());
  for (ValueId v : values) from.push_back(storage.of(v));
  std::vector<Copy> copies, last;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (from[i] == places[i]) continue;
    bool overwritten = false;
    for (std::size_t k = 0; k < places.size(); ++k)
      overwritten |= places[k] == storage.buffers[from[i]].root && from[k] != places[k];
    const std::size_t size = storage.bytes(values[i]);
    if (overwritten) {
      const BufferId side = storage.buffers.add(Home::kArena, 0, size);
      copies.push_back({from[i], side, size});
      last.push_back({side, places[i], size});
    } else {
      last.push_back({from[i], places[i], size});
    }
  }
  copies.insert(copies.end(), last.begin(), last.end());
  return copies;
}

// Places the units of one block. Thread-safety: external.
class BlockPlacer {
 public:
  BlockPlacer(Storage& storage, const Graph& graph, const Block& block, const Units& units,
              const Surroundings& around)
      : storage_(storage),
        graph_(graph),
        block_(block),
        units_(units),
        root_(around.root),
        places_(storage, graph, block, units, around) {}
  std::vector<UnitPlaces> place(const std::vector<UnitKernel>& kernels);

 private:
  UnitPlaces place_result(int result);
  UnitPlaces place_kernel(const Needs& needs);
  // Where output o of a loop is made: over an input, where that may be, else in a place of its own.
  BufferId place_output(const Needs& needs, std::size_t o, const UnitPlaces& at);
  // Where what output i updates lies: in the operand's own place if that dies here, else in a new
  // one, into which it is copied before.
  BufferId place_update(const Needs& needs, std::size_t i, UnitPlaces& at);
  UnitPlaces place_while(int unit, const UnitKernel& kernel);
  UnitPlaces place_case(int unit, const UnitKernel& kernel);
  BufferId place_branches(const Node& n, ValueId result, const std::set<ValueId>& around,
                          Surroundings& inside);
  UnitPlaces::Block place_block(const Block& block, const Units& units,
                                const std::vector<UnitKernel>& kernels,
                                const Surroundings& around) {
    UnitPlaces::Block made{BlockPlacer(storage_, graph_, block, units, around).place(kernels), {}};
    storage_.buffers.advance();
    return made;
  }

  Storage& storage_;
  const Graph& graph_;
  const Block& block_;
  const Units& units_;
  const bool root_;
  BlockStorage places_;
};

std::vector<UnitPlaces> BlockPlacer::place(const std::vector<UnitKernel>& kernels) {
  std::vector<UnitPlaces> placed;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    places_.begin(static_cast<int>(i));
    storage_.buffers.advance();
    const UnitKernel& kernel = kernels[i];
    const int unit = units_.order[i];
    const Unit& what = units_.list[static_cast<std::size_t>(unit)];
    placed.push_back(what.result >= 0        ? place_result(what.result)
                     : kernel.blocks.empty() ? place_kernel(kernel.needs)
                     : kernel.is_while       ? place_while(unit, kernel)
                                             : place_case(unit, kernel));
    placed.back().position = storage_.buffers.now();
    if (!root_) continue;
    for (ValueId v : what.writes) {
      const BufferId place = places_.wanted(v);
      if (place < 0) continue;
      const int output = storage_.buffers[place].index;
      // Not so for what a loop or a branch still changes there.
      if (storage_.owners.of(block_.results[static_cast<std::size_t>(output)]) == v)
        placed.back().outputs_written.push_back(output);
    }
  }
  return placed;
}

UnitPlaces BlockPlacer::place_result(int result) {
  const ValueId v = block_.results[static_cast<std::size_t>(result)];
  const BufferId from = storage_.of(v);
  const BufferId target = storage_.buffers.add(Home::kOutput, result, storage_.bytes(v));
  // A donated input may be returned as it is.
  storage_.write_output(target, from);
  return {.before = {{from, target, storage_.bytes(v)}}, .outputs_written = {result}};
}

UnitPlaces BlockPlacer::place_kernel(const Needs& needs) {
  UnitPlaces at;
  for (ValueId v : needs.inputs) at.inputs.push_back(storage_.of(v));
  for (std::size_t o = 0; o < needs.outputs.size(); ++o) {
    at.outputs.push_back(o < needs.updated.size() ? place_update(needs, o, at)
                                                  : place_output(needs, o, at));
  }
  if (needs.scratch_bytes > 0)
    at.scratch = storage_.buffers.add(Home::kArena, 0, needs.scratch_bytes);
  return at;
}

BufferId BlockPlacer::place_output(const Needs& needs, std::size_t o, const UnitPlaces& at) {
  const ValueId v = needs.outputs[o];
  const auto inputs_in = [&](BufferId root) {
    return std::ranges::count_if(at.inputs,
                                 [&](BufferId b) { return storage_.buffers[b].root == root; });
  };
  std::vector<BufferId> donors;
  for (const auto& [output, input] : needs.overwrites) {
    if (output != o) continue;
    const BufferId b = at.inputs[input];
    if (inputs_in(storage_.buffers[b].root) != 1 || holds(at.outputs, b)) continue;
    donors.push_back(b);
    if (!places_.may_become(needs.inputs[input], v)) continue;
    places_.set(v, b);
    return b;
  }
  const BufferId target = places_.new_buffer(v);
  for (BufferId b : donors) storage_.write_output(target, b);
  return target;
}

BufferId BlockPlacer::place_update(const Needs& needs, std::size_t i, UnitPlaces& at) {
  const ValueId operand = needs.updated[i], output = needs.outputs[i];
  const BufferId from = storage_.of(operand);
  const auto shares = [&](ValueId v) {
    return storage_.owners.of(v) == storage_.owners.of(operand);
  };
  // Another operand that is a piece of this one would be overwritten before it is read.
  const bool alone = std::ranges::count_if(needs.updated, shares) == 1 &&
                     std::ranges::none_of(needs.inputs, shares);
  if (alone && places_.may_become(operand, output)) {
    places_.set(output, from);
    return from;
  }
  const BufferId target = places_.new_buffer(output);
  // The copy is skipped when a donated input is the output: the step then updates it in place.
  if (alone) storage_.write_output(target, from);
  at.before.push_back({from, target, storage_.bytes(output)});
  return target;
}

// Each carried value has one place: the bodies read it as their parameter, at the end of a round
// the new value moves there, and the loop's users read it as the result. The place is
// - that of the operand, where the loop is the operand's last reader and no body reads it by name;
// - else a new one, the output's where the result is one, into which the operand is copied before
//   the first round. A donated input that is that output's memory is there already.
// New values that another parameter still holds go through a buffer of their own.
UnitPlaces BlockPlacer::place_while(int unit, const UnitKernel& kernel) {
  const Node& n = graph_.node(units_.list[static_cast<std::size_t>(unit)].node);
  const Block &condition = n.blocks[0], &body = n.blocks[1];
  const std::vector<Units>& inside = units_.blocks.at(unit);
  const std::set<ValueId> around = storage_.owners.around(n);
  UnitPlaces at;
  std::vector<BufferId> carried;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const ValueId operand = n.inputs[i], result = n.outputs[i];
    const BufferId from = storage_.of(operand);
    BufferId own = from;
    if (!around.contains(storage_.owners.of(operand)) && !holds(carried, from) &&
        places_.may_become(operand, result)) {
      places_.set(result, own);
    } else {
      own = places_.new_buffer(result);
      at.before.push_back({from, own, storage_.bytes(operand)});
      storage_.write_output(own, from);
    }
    carried.push_back(own);
    for (const Block& block : n.blocks) storage_.set(block.parameters[i], own);
  }
  storage_.buffers.open_loop();
  at.blocks.push_back(place_block(condition, inside[0], kernel.blocks[0], {}));
  at.decider = storage_.of(condition.results[0]);
  at.blocks.push_back(place_block(body, inside[1], kernel.blocks[1], {.own = body.parameters}));
  at.blocks[1].after = copies_to(storage_, carried, body.results);
  for (const Units& units : inside) storage_.erase(units.dense);
  for (BufferId b : carried) storage_.buffers.touch(b);
  storage_.buffers.close_loop();
  for (BufferId b : carried) storage_.buffers.touch(b);
  return at;
}

// Where the branches make a result: over a value that they capture and that nothing reads
// afterwards, if the result may be made of it; else where it is wanted, or anywhere.
BufferId BlockPlacer::place_branches(const Node& n, ValueId result, const std::set<ValueId>& around,
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
    if (holds(inside.wanted, b)) continue;
    places_.set(result, b);
    inside.held.push_back(v);
    return b;
  }
  inside.held.push_back(-1);
  return places_.new_place(result);
}

// The branches make the results where the case's users read them, each as if it were the only one;
// what is made elsewhere, or not made by the branch, moves there at its end.
UnitPlaces BlockPlacer::place_case(int unit, const UnitKernel& kernel) {
  const Node& n = graph_.node(units_.list[static_cast<std::size_t>(unit)].node);
  UnitPlaces at{.decider = storage_.of(n.inputs[0])};
  const std::set<ValueId> around = storage_.owners.around(n);
  Surroundings inside;
  for (ValueId v : around) {
    if (places_.dies_here(v)) inside.own.push_back(v);
  }
  for (ValueId v : n.outputs) inside.wanted.push_back(place_branches(n, v, around, inside));
  for (std::size_t branch = 0; branch < n.blocks.size(); ++branch) {
    const Block& block = n.blocks[branch];
    const Units& units = units_.blocks.at(unit)[branch];
    const int begin = storage_.buffers.advance();
    at.blocks.push_back(place_block(block, units, kernel.blocks[branch], inside));
    at.blocks.back().after = copies_to(storage_, inside.wanted, block.results);
    for (std::size_t i = 0; i < inside.wanted.size(); ++i) {
      const BufferId from = storage_.of(block.results[i]), place = inside.wanted[i];
      if (from != place) storage_.write_output(place, from);
      storage_.buffers.touch(place);
    }
    storage_.end_writes(inside.wanted, begin);
    storage_.erase(units.dense);
  }
  storage_.buffers.advance();
  for (BufferId b : inside.wanted) {
    storage_.buffers.touch(b);
    storage_.write_output(b);
  }
  return at;
}

}  // namespace

Placement place(const Graph& graph, const Owners& owners, const Units& units,
                const std::vector<UnitKernel>& kernels, const std::vector<int>& donors) {
  Storage storage(graph, owners);
  for (std::size_t i = 0; i < graph.root.parameters.size(); ++i) {
    const ValueId v = graph.root.parameters[i];
    storage.set(v, storage.buffers.add(Home::kInput, static_cast<int>(i), storage.bytes(v)));
  }
  Surroundings around{.root = true};
  for (std::size_t i = 0; i < graph.root.results.size(); ++i) {
    const std::size_t bytes = storage.bytes(graph.root.results[i]);
    around.wanted.push_back(storage.buffers.add(Home::kOutput, static_cast<int>(i), bytes));
    around.held.push_back(-1);
  }
  Placement made;
  made.units = BlockPlacer(storage, graph, graph.root, units, around).place(kernels);
  made.aliases = storage.aliases(donors);
  made.arena_bytes = storage.buffers.assign_arena();
  made.buffers = std::move(storage.buffers);
  made.constants = std::move(storage.constants);
  return made;
}

}  // namespace millrace::devices::cpu::compiler
