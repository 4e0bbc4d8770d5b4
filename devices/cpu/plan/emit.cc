#include "millrace/devices/cpu/plan/emit.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "millrace/core/check.h"

namespace millrace::devices::cpu::plan {

Result<Emitted> Emitter::run() {
  for (std::size_t i = 0; i < graph_.root.parameters.size(); ++i) {
    const ValueId v = graph_.root.parameters[i];
    set_buffer(v, out_.buffers.add(Home::kInput, static_cast<int>(i), bytes(v)));
  }
  MILLRACE_TRY_STATUS(emit_block(graph_.root, out_.steps, true, {}));
  find_aliases();
  return std::move(out_);
}

Status Emitter::emit_block(const Block& block, StepList& to, bool root,
                           const std::vector<ValueId>& own) {
  const Uses uses(graph_, block);
  BlockState s{.block = block,
               .uses = uses,
               .groups = fuse(graph_, block, uses),
               .units = {},
               .writer = {},
               .last_read = {},
               .dense = {},
               .own = {own.begin(), own.end()},
               .root = root};
  make_units(s);
  const std::vector<int> order = schedule(s);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (ValueId v : s.units[static_cast<std::size_t>(order[i])].reads)
      s.last_read[v] = static_cast<int>(i);
  }
  for (ValueId v : block.results) s.last_read[storage(v)] = std::numeric_limits<int>::max();
  if (root) place_in_outputs(s, order);
  for (std::size_t i = 0; i < order.size(); ++i) {
    s.place = static_cast<int>(i);
    // Most of a compilation is here: oneDNN makes its kernels.
    if (options_.stop.stop_requested()) return fail(ErrorCode::kCancelled, "stopped on request");
    MILLRACE_TRY_STATUS(emit_unit(s, order[i], to));
  }
  return {};
}

// The value that owns v's bytes: through reshapes, and views that are a dense piece of something.
ValueId Emitter::storage(ValueId v) const {
  ValueId& known = storages_[static_cast<std::size_t>(v)];
  if (known < 0) known = find_storage(v);
  return known;
}

ValueId Emitter::find_storage(ValueId v) const {
  while (const Node* p = graph_.producer(v)) {
    if (p->kind == NodeKind::kReshape) {
      v = p->inputs[0];
    } else if (is_view(p->kind)) {
      const View view = resolve(graph_, v, true);
      if (!view.dense(squeezed(graph_.shape(v)))) return v;
      v = view.base;
    } else {
      return v;
    }
  }
  return v;
}

BufferId Emitter::buffer_of(ValueId v) {
  const ValueId original = v;
  std::size_t offset = 0;
  while (const Node* p = graph_.producer(v)) {
    if (p->kind == NodeKind::kReshape) {
      v = p->inputs[0];
    } else if (is_view(p->kind)) {
      const View view = resolve(graph_, v, true);
      if (!view.dense(squeezed(graph_.shape(v)))) break;
      offset += static_cast<std::size_t>(view.offset) * byte_width(graph_.shape(v).dtype());
      v = view.base;
    } else {
      break;
    }
  }
  const Node* p = graph_.producer(v);
  BufferId b;
  if (p != nullptr && p->kind == NodeKind::kConstant && !is_made_by_runs(graph_, *p)) {
    b = constant_buffer(*p, graph_.shape(v));
  } else {
    const auto it = value_buffers_.find(v);
    MILLRACE_CHECK(it != value_buffers_.end(), "a value is read before it is stored");
    b = it->second;
  }
  if (offset != 0) {
    const auto [it, inserted] = aliases_.emplace(std::pair(b, offset), -1);
    if (inserted) it->second = out_.buffers.add_alias(b, offset, bytes(original));
    b = it->second;
  }
  out_.buffers.touch(b);
  if (out_.buffers[b].home == Home::kInput)
    input_last_read_[out_.buffers[b].index] = out_.buffers.now();
  return b;
}

BufferId Emitter::constant_buffer(const Node& node, const Shape& shape) {
  const std::size_t size = shape.size_bytes();
  const auto key = node.data.get();
  // A splat is expanded, so it is told apart by its shape too.
  const bool expand = node.splat && shape.elements() > 1;
  if (!expand) {
    if (const auto it = constants_.find(key); it != constants_.end()) return it->second;
  } else if (const auto it = value_buffers_.find(node.outputs[0]); it != value_buffers_.end()) {
    return it->second;
  }
  // oneDNN and the loops want aligned memory.
  auto* copy = static_cast<std::byte*>(
      std::aligned_alloc(64, (std::max<std::size_t>(size, 1) + 63) & ~std::size_t{63}));
  MILLRACE_CHECK(copy != nullptr, "no memory for a constant");
  if (expand)
    fill_splat(copy, node.data.get(), byte_width(shape.dtype()), shape.elements());
  else
    std::memcpy(copy, node.data.get(), size);
  out_.constants.emplace_back(copy, [](std::byte* p) { std::free(p); });
  out_.constant_bytes += size;
  const BufferId b =
      out_.buffers.add(Home::kConstant, static_cast<int>(out_.constants.size()) - 1, size);
  if (expand)
    set_buffer(node.outputs[0], b);
  else
    constants_[key] = b;
  return b;
}

BufferId Emitter::new_buffer(BlockState& s, ValueId v) {
  const auto it = s.root ? result_index_.find(v) : result_index_.end();
  const bool output = it != result_index_.end();
  const BufferId b =
      out_.buffers.add(output ? Home::kOutput : Home::kArena, output ? it->second : 0, bytes(v));
  if (output) output_first_write_.emplace(it->second, out_.buffers.now());
  set_buffer(v, b);
  return b;
}

bool Emitter::dies_here(const BlockState& s, ValueId v) const {
  const ValueId owner = storage(v);
  if (!s.own.contains(owner)) return false;
  const auto last = s.last_read.find(owner);
  if (last != s.last_read.end() && last->second > s.place) return false;
  const auto it = value_buffers_.find(owner);
  if (it == value_buffers_.end()) return false;
  // Inside a loop, an output's memory is that of a carried value, whose new one comes at the end.
  const Home home = out_.buffers[it->second].home;
  return home == Home::kArena || (home == Home::kOutput && !s.root);
}

Step& Emitter::add_step(StepList& to, const std::string& name, ir::Location location,
                        std::size_t scratch_bytes) {
  Step step;
  step.info = {.name = name,
               .line = location.line,
               .column = location.column,
               .scratch_bytes = scratch_bytes,
               .position = out_.buffers.now()};
  if (scratch_bytes > 0) step.scratch = out_.buffers.add(Home::kArena, 0, scratch_bytes);
  to.steps.push_back(std::move(step));
  return to.steps.back();
}

void Emitter::require(BlockState& s, ValueId v) {
  const ValueId owner = storage(v);
  const Node* p = graph_.producer(owner);
  if (p == nullptr || value_buffers_.contains(owner) || s.dense.contains(owner)) return;
  if (!is_view(p->kind) && p->kind != NodeKind::kIota && !is_made_by_runs(graph_, *p)) return;
  s.dense.insert(owner);
  Unit unit{.copy = owner,
            .writes = {owner},
            .cost = static_cast<double>(graph_.shape(owner).elements())};
  const View view = resolve(graph_, owner, true);
  if (!view.iota && splat_constant(graph_, owner) == nullptr) read(s, unit, view.base);
  s.units.push_back(std::move(unit));
}

void Emitter::read(BlockState& s, Unit& unit, ValueId v) {
  require(s, v);
  unit.reads.insert(storage(v));
}

void Emitter::read_view(BlockState& s, Unit& unit, ValueId v) {
  if (splat_constant(graph_, v) != nullptr) return;
  const View view = resolve(graph_, v);
  if (!view.iota) read(s, unit, view.base);
}

// Values of outer blocks that `inner` reads.
void Emitter::captured(const Block& inner, std::set<ValueId>& values) const {
  std::set<ValueId> made(inner.parameters.begin(), inner.parameters.end());
  std::set<ValueId> wanted(inner.results.begin(), inner.results.end());
  for (NodeId id : inner.nodes) {
    const Node& n = graph_.node(id);
    made.insert(n.outputs.begin(), n.outputs.end());
    wanted.insert(n.inputs.begin(), n.inputs.end());
    for (const Block& deeper : n.blocks) captured(deeper, wanted);
  }
  for (ValueId v : wanted) {
    if (!made.contains(v)) values.insert(v);
  }
}

void Emitter::make_units(BlockState& s) {
  std::vector<int> group_of(graph_.nodes.size(), -1);
  for (std::size_t g = 0; g < s.groups.size(); ++g) {
    for (NodeId id : s.groups[g].nodes)
      group_of[static_cast<std::size_t>(id)] = static_cast<int>(g);
  }
  const auto group = [&](NodeId id) {
    return id < 0 ? -1 : group_of[static_cast<std::size_t>(id)];
  };
  const std::function<bool(ValueId, int)> leaves = [&](ValueId v, int g) {
    if (s.uses.is_result(v)) return true;
    for (NodeId u : s.uses.of(v)) {
      if (is_unit_reshape(graph_, graph_.node(u)) ? leaves(graph_.node(u).outputs[0], g)
                                                  : group(u) != g)
        return true;
    }
    return false;
  };
  for (std::size_t g = 0; g < s.groups.size(); ++g) {
    Unit unit{.group = static_cast<int>(g)};
    double elements = 1;
    for (std::int64_t d : s.groups[g].dims) elements *= static_cast<double>(d);
    unit.cost = elements * static_cast<double>(s.groups[g].nodes.size());
    for (NodeId id : s.groups[g].nodes) {
      const Node& n = graph_.node(id);
      const std::size_t operands = n.kind == NodeKind::kReduce ? 1 : n.inputs.size();
      for (std::size_t i = 0; i < operands; ++i) {
        const ValueId stripped = strip(graph_, n.inputs[i]);
        if (group(graph_.values[static_cast<std::size_t>(stripped)].producer) !=
            static_cast<int>(g)) {
          read_view(s, unit, n.inputs[i]);
        }
      }
      if (n.kind == NodeKind::kReduce) read(s, unit, n.inputs[1]);
      if (n.kind == NodeKind::kReduce || leaves(n.outputs[0], static_cast<int>(g)))
        unit.writes.push_back(n.outputs[0]);
    }
    s.units.push_back(std::move(unit));
  }
  for (NodeId id : s.block.nodes) {
    const Node& n = graph_.node(id);
    if (group(id) >= 0 || n.kind <= NodeKind::kIota || is_view(n.kind)) continue;
    Unit unit{.node = id, .writes = n.outputs};
    for (ValueId v : n.outputs) unit.cost += static_cast<double>(graph_.shape(v).elements());
    for (ValueId v : n.inputs) {
      read(s, unit, v);
      unit.cost += static_cast<double>(graph_.shape(v).elements());
      const Node* p = graph_.producer(v);
      // A convolution may take the weights before they are reversed.
      if (n.kind == NodeKind::kConvolution && p != nullptr && p->kind == NodeKind::kReverse)
        read(s, unit, p->inputs[0]);
    }
    std::set<ValueId> outer;
    for (const Block& inner : n.blocks) captured(inner, outer);
    for (ValueId v : outer) {
      read(s, unit, v);
      read_view(s, unit, v);
      // A view in the block, of this one, may be read from further below.
      if (const View all = resolve(graph_, v, true);
          !all.iota && splat_constant(graph_, v) == nullptr) {
        read(s, unit, all.base);
      }
    }
    if (n.kind == NodeKind::kConvolution || n.kind == NodeKind::kDot) unit.cost *= 32;
    s.units.push_back(std::move(unit));
  }
  for (std::size_t i = 0; i < s.block.results.size(); ++i) {
    const ValueId v = s.block.results[i];
    require(s, v);
    if (!s.root) continue;
    const ValueId owner = storage(v);
    const Node* p = graph_.producer(owner);
    const bool constant = p != nullptr && p->kind == NodeKind::kConstant;
    const bool direct = p != nullptr && (!constant || is_made_by_runs(graph_, *p)) &&
                        p->kind != NodeKind::kCase && bytes(owner) == bytes(v) &&
                        !result_index_.contains(owner);
    if (direct) {
      result_index_[owner] = static_cast<int>(i);
    } else {
      Unit unit{.result = static_cast<int>(i)};
      unit.reads.insert(owner);
      s.units.push_back(std::move(unit));
    }
  }
  for (std::size_t u = 0; u < s.units.size(); ++u) {
    for (ValueId v : s.units[u].writes) {
      s.writer[v] = static_cast<int>(u);
      s.own.insert(v);
    }
  }
}

// Outputs whose computation is cheapest come first, each followed only by what it still needs: a
// gradient is written as soon as it can be, and the cheap ones do not wait for the dear ones.
std::vector<int> Emitter::schedule(const BlockState& s) const {
  const std::size_t n = s.units.size();
  std::vector<std::vector<int>> needs(n);
  for (std::size_t u = 0; u < n; ++u) {
    for (ValueId v : s.units[u].reads) {
      const auto it = s.writer.find(v);
      if (it != s.writer.end() && it->second != static_cast<int>(u)) needs[u].push_back(it->second);
    }
  }
  const auto has_effect = [this](const Unit& unit) {
    return unit.node >= 0 && plan::has_effect(graph_, graph_.node(unit.node));
  };
  // Effects come in the order of the program.
  int before = -1;
  for (std::size_t u = 0; u < n; ++u) {
    if (!has_effect(s.units[u])) continue;
    if (before >= 0) needs[u].push_back(before);
    before = static_cast<int>(u);
  }
  const auto collect = [&](int unit, std::vector<bool>& seen,
                           const std::function<void(int)>& done) {
    std::vector<std::pair<int, std::size_t>> stack{{unit, 0}};
    if (seen[static_cast<std::size_t>(unit)]) return;
    seen[static_cast<std::size_t>(unit)] = true;
    while (!stack.empty()) {
      auto& [u, next] = stack.back();
      if (next < needs[static_cast<std::size_t>(u)].size()) {
        const int child = needs[static_cast<std::size_t>(u)][next++];
        if (!seen[static_cast<std::size_t>(child)]) {
          seen[static_cast<std::size_t>(child)] = true;
          stack.emplace_back(child, 0);
        }
      } else {
        const int finished = u;
        stack.pop_back();
        done(finished);
      }
    }
  };
  std::vector<std::pair<double, int>> targets;
  const auto add_target = [&](int unit) {
    std::vector<bool> seen(n, false);
    double cost = 0;
    collect(unit, seen, [&](int u) { cost += s.units[static_cast<std::size_t>(u)].cost; });
    targets.emplace_back(cost, unit);
  };
  for (std::size_t u = 0; u < n; ++u) {
    if (s.units[u].result >= 0 || has_effect(s.units[u])) add_target(static_cast<int>(u));
  }
  for (ValueId v : s.block.results) {
    const auto it = s.writer.find(storage(v));
    if (it != s.writer.end()) add_target(it->second);
  }
  // Ties keep the order of the results.
  std::vector<std::size_t> by_cost(targets.size());
  std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
  std::sort(by_cost.begin(), by_cost.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(targets[a].first, a) < std::pair(targets[b].first, b);
  });
  std::vector<int> order;
  std::vector<bool> seen(n, false);
  for (std::size_t t : by_cost)
    collect(targets[t].second, seen, [&](int u) { order.push_back(u); });
  return order;
}

Status Emitter::emit_unit(BlockState& s, int index, StepList& to) {
  const Unit& unit = s.units[static_cast<std::size_t>(index)];
  out_.buffers.advance();
  const std::size_t before = to.steps.size();
  if (unit.group >= 0) {
    MILLRACE_TRY_STATUS(emit_group(s, unit, to));
  } else if (unit.copy >= 0) {
    MILLRACE_TRY_STATUS(emit_copy(s, unit.copy, to));
  } else if (unit.node >= 0) {
    MILLRACE_TRY_STATUS(emit_node(s, graph_.node(unit.node), to));
  } else {
    const BufferId from = buffer_of(s.block.results[static_cast<std::size_t>(unit.result)]);
    const std::size_t size = bytes(s.block.results[static_cast<std::size_t>(unit.result)]);
    const BufferId target = out_.buffers.add(Home::kOutput, unit.result, size);
    output_first_write_[unit.result] = out_.buffers.now();
    // A donated input that is returned as it is.
    if (out_.buffers[from].home == Home::kInput)
      in_place_.emplace(unit.result, out_.buffers[from].index);
    add_step(to, "copy to output", {}, 0).run = [from, target, size](const StepFrame& f) -> Status {
      // Of no elements, either may be null.
      if (size > 0 && f.at(target) != f.at(from)) std::memcpy(f.at(target), f.at(from), size);
      return {};
    };
    to.steps.back().outputs_written.push_back(unit.result);
    to.steps.back().info.bytes = 2 * size;
    return {};
  }
  MILLRACE_CHECK(to.steps.size() > before, "a unit without a step");
  count_work(s, unit, to.steps.back().info);
  if (unit.node >= 0 && !graph_.node(unit.node).inputs.empty()) {
    // What is updated is copied first where something else still reads it.
    const std::size_t operand = bytes(graph_.node(unit.node).inputs[0]);
    for (std::size_t i = before; i + 1 < to.steps.size(); ++i) {
      if (to.steps[i].info.name == "copy") to.steps[i].info.bytes = 2 * operand;
    }
  }
  for (ValueId v : unit.writes) {
    const auto it = s.root ? result_index_.find(v) : result_index_.end();
    if (it == result_index_.end()) continue;
    // Not so for what a loop still changes there.
    const ValueId final = storage(s.block.results[static_cast<std::size_t>(it->second)]);
    if (final == v) to.steps.back().outputs_written.push_back(it->second);
  }
  return {};
}

// Of a node that moves a part of an array, the rest of which it neither reads nor writes; nullopt
// for all others. The copy that an update in place may need before it is a step of its own.
static std::optional<std::size_t> bytes_touched(const Graph& graph, NodeId id) {
  if (id < 0) return std::nullopt;
  const Node& n = graph.node(id);
  const auto bytes = [&graph](ValueId v) { return graph.shape(v).size_bytes(); };
  switch (n.kind) {
    case NodeKind::kDynamicSlice:
      return 2 * bytes(n.outputs[0]);
    case NodeKind::kDynamicUpdateSlice:
      return 2 * bytes(n.inputs[1]);
    case NodeKind::kGather:
      return bytes(n.inputs[1]) + 2 * bytes(n.outputs[0]);
    case NodeKind::kScatter: {
      const std::size_t count = n.outputs.size();
      std::size_t touched = bytes(n.inputs[count]);  // the indices
      for (std::size_t i = 0; i < count; ++i) touched += 3 * bytes(n.inputs[count + 1 + i]);
      return touched;
    }
    default:
      return std::nullopt;
  }
}

// What the unit's last step does; those before it only lay out operands.
void Emitter::count_work(const BlockState& s, const Unit& unit, StepInfo& info) const {
  const auto elements = [this](ValueId v) {
    return static_cast<double>(graph_.shape(v).elements());
  };
  const auto of_node = [&](const Node& n) -> double {
    switch (n.kind) {
      case NodeKind::kElementwise:
        return elements(n.outputs[0]);
      case NodeKind::kReduce:
        return elements(n.inputs[0]);
      case NodeKind::kReduceWindow: {
        double window = elements(n.outputs[0]);
        for (const std::int64_t d : n.window.size) window *= static_cast<double>(d);
        return window;
      }
      case NodeKind::kDot: {
        double work = 2 * elements(n.outputs[0]);
        for (const std::int64_t d : n.dot.lhs_contract)
          work *= static_cast<double>(graph_.shape(n.inputs[0]).dim(static_cast<int>(d)));
        return work;
      }
      default:
        return 0;
    }
  };
  if (unit.node >= 0) {
    const Node& n = graph_.node(unit.node);
    if (n.kind == NodeKind::kWhile || n.kind == NodeKind::kCase) return;
    if (info.operations == 0) info.operations = of_node(n);
  }
  if (unit.group >= 0) {
    for (const NodeId id : s.groups[static_cast<std::size_t>(unit.group)].nodes)
      info.operations += of_node(graph_.node(id));
  }
  if (unit.copy >= 0) {
    info.bytes += bytes(unit.copy) + std::min(bytes(unit.copy), bytes(storage(unit.copy)));
    return;
  }
  if (const auto touched = bytes_touched(graph_, unit.node)) {
    info.bytes += *touched;
    return;
  }
  for (const ValueId v : unit.reads) info.bytes += bytes(v);
  for (const ValueId v : unit.writes) info.bytes += bytes(v);
}

// An output may take over an input that nothing reads once the output's first byte is written.
void Emitter::find_aliases() {
  std::set<int> taken;
  const auto fits = [&](int output, int input) {
    const ValueId in = graph_.root.parameters[static_cast<std::size_t>(input)];
    const ValueId out = graph_.root.results[static_cast<std::size_t>(output)];
    if (!(graph_.shape(in) == graph_.shape(out)) || taken.contains(output) ||
        clash_.contains({output, input}))
      return false;
    const auto last = input_last_read_.find(input);
    if (last == input_last_read_.end()) return true;
    const int first = output_first_write_.at(output);
    return last->second < first || (last->second == first && in_place_.contains({output, input}));
  };
  const auto give = [&](int output, int input) {
    taken.insert(output);
    out_.aliases.push_back({.output = output, .input = input});
  };
  for (std::size_t i = 0; i < donors_.size(); ++i) {
    if (donors_[i] >= 0 && fits(donors_[i], static_cast<int>(i)))
      give(donors_[i], static_cast<int>(i));
  }
  for (std::size_t i = 0; i < donors_.size(); ++i) {
    if (donors_[i] != -1) continue;
    for (std::size_t o = 0; o < graph_.root.results.size(); ++o) {
      if (!fits(static_cast<int>(o), static_cast<int>(i))) continue;
      give(static_cast<int>(o), static_cast<int>(i));
      break;
    }
  }
}

}  // namespace millrace::devices::cpu::plan
