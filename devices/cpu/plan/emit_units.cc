// The part of Emitter that cuts a block into units and puts them in order.
#include <algorithm>
#include <functional>
#include <numeric>

#include "millrace/devices/cpu/plan/emit.h"

namespace millrace::devices::cpu::plan {

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
    // And from whatever lies between the two.
    unit.reads.merge(storages_around(n));
    if (n.kind == NodeKind::kConvolution || n.kind == NodeKind::kDot) unit.cost *= 32;
    s.units.push_back(std::move(unit));
  }
  for (ValueId v : s.block.results) require(s, v);
  for (std::size_t u = 0; u < s.units.size(); ++u) {
    for (ValueId v : s.units[u].writes) {
      s.writer[v] = static_cast<int>(u);
      s.own.insert(v);
    }
  }
}

// What a unit makes whole is made where the result is wanted; a result of the program that is
// something else is copied there by a unit of its own.
void Emitter::place_results(BlockState& s, const std::vector<BufferId>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ValueId v = s.block.results[i], owner = storage(v);
    if (s.writer.contains(owner) && bytes(owner) == bytes(v) && !s.places.contains(owner)) {
      s.places[owner] = wanted[i];
    } else if (s.root) {
      Unit unit{.result = static_cast<int>(i)};
      unit.reads.insert(owner);
      s.units.push_back(std::move(unit));
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

}  // namespace millrace::devices::cpu::plan
