#include "millrace/devices/cpu/compile/units.h"

#include <algorithm>

#include "millrace/core/base/function_ref.h"

namespace millrace::devices::cpu::compiler {
namespace {

class Maker {
 public:
  // dense: the views and constants that have been made dense before the block.
  Maker(const Graph& graph, const Owners& owners, const Block& block,
        const std::set<ValueId>& dense)
      : graph_(graph), owners_(owners), block_(block), dense_before_(dense) {
    made_.groups = fuse(graph, block);
  }

  Units make(bool root) {
    group_of_.assign(graph_.nodes.size(), -1);
    for (std::size_t g = 0; g < made_.groups.size(); ++g) {
      for (NodeId id : made_.groups[g].nodes)
        group_of_[static_cast<std::size_t>(id)] = static_cast<int>(g);
    }
    for (std::size_t g = 0; g < made_.groups.size(); ++g) add_group(static_cast<int>(g));
    for (NodeId id : block_.nodes) {
      const Node& n = graph_.node(id);
      if (group(id) < 0 && n.kind > NodeKind::kIota && !is_view(n.kind)) add_node(id, n);
    }
    for (ValueId v : block_.results) require(v);
    for (std::size_t u = 0; u < made_.list.size(); ++u) {
      for (ValueId v : made_.list[u].writes) made_.writer[v] = static_cast<int>(u);
    }
    for (std::size_t i = 0; i < block_.results.size(); ++i) add_result(static_cast<int>(i), root);
    return std::move(made_);
  }

 private:
  int group(NodeId id) const { return id < 0 ? -1 : group_of_[static_cast<std::size_t>(id)]; }

  double elements(ValueId v) const { return static_cast<double>(graph_.shape(v).elements()); }

  // Makes v's owner dense, if it is not stored otherwise.
  void require(ValueId v) {
    const ValueId owner = owners_.of(v);
    const Node* p = graph_.producer(owner);
    if (p == nullptr || dense_before_.contains(owner) || made_.dense.contains(owner)) return;
    if (!is_view(p->kind) && p->kind != NodeKind::kIota && !is_made_by_runs(graph_, *p)) return;
    made_.dense.insert(owner);
    Unit unit{.copy = owner, .writes = {owner}, .cost = elements(owner)};
    read_view(unit, owner, true);
    made_.list.push_back(std::move(unit));
  }

  void read(Unit& unit, ValueId v) {
    require(v);
    unit.reads.insert(owners_.of(v));
  }

  // What v is a view of; nothing for a splat or an iota.
  void read_view(Unit& unit, ValueId v, bool all = false) {
    if (splat_constant(graph_, v) != nullptr) return;
    const View view = resolve(graph_, v, all);
    if (!view.iota) read(unit, view.base);
  }

  void add_group(int g) {
    const Group& group = made_.groups[static_cast<std::size_t>(g)];
    Unit unit{.group = g};
    for (std::int64_t d : group.dims) unit.cost *= static_cast<double>(d);
    unit.cost *= static_cast<double>(group.nodes.size());
    for (ValueId v : group.loop.arrays) read(unit, v);
    unit.writes = group.loop.results;
    made_.list.push_back(std::move(unit));
  }

  void add_node(NodeId id, const Node& n) {
    Unit unit{.node = id, .writes = n.outputs};
    for (ValueId v : n.outputs) unit.cost += elements(v);
    for (ValueId v : n.inputs) {
      read(unit, v);
      unit.cost += elements(v);
      const Node* p = graph_.producer(v);
      // A convolution may take the weights before they are reversed.
      if (n.kind == NodeKind::kConvolution && p != nullptr && p->kind == NodeKind::kReverse)
        read(unit, p->inputs[0]);
    }
    for (ValueId v : captured(graph_, n)) {
      read(unit, v);
      read_view(unit, v);
      // A view in the block, of this one, may be read from further below.
      read_view(unit, v, true);
    }
    unit.reads.merge(owners_.around(n));
    if (n.kind == NodeKind::kConvolution || n.kind == NodeKind::kDot) unit.cost *= 32;
    made_.list.push_back(std::move(unit));
  }

  void add_result(int i, bool root) {
    const ValueId v = block_.results[static_cast<std::size_t>(i)], owner = owners_.of(v);
    const bool whole = graph_.shape(owner).size_bytes() == graph_.shape(v).size_bytes();
    if (made_.writer.contains(owner) && whole && made_.made_results.emplace(owner, i).second)
      return;
    if (root) made_.list.push_back({.result = i, .reads = {owner}, .writes = {}});
  }

  const Graph& graph_;
  const Owners& owners_;
  const Block& block_;
  const std::set<ValueId>& dense_before_;
  std::vector<int> group_of_;  // by node; -1: none
  Units made_;
};

// Outputs whose computation is cheapest come first, each followed only by what it still needs: a
// gradient is written as soon as it can be, and the cheap ones do not wait for the dear ones.
std::vector<int> order_units(const Graph& graph, const Owners& owners, const Block& block,
                             const Units& units) {
  const std::size_t n = units.list.size();
  std::vector<std::vector<int>> needs(n);
  std::vector<int> wanted;
  int before = -1;
  for (std::size_t u = 0; u < n; ++u) {
    const Unit& unit = units.list[u];
    for (ValueId v : unit.reads) {
      const auto it = units.writer.find(v);
      if (it != units.writer.end() && it->second != static_cast<int>(u))
        needs[u].push_back(it->second);
    }
    const bool acts = unit.node >= 0 && has_effect(graph, graph.node(unit.node));
    if (acts || unit.result >= 0) wanted.push_back(static_cast<int>(u));
    // Effects come in the order of the program.
    if (acts && before >= 0) needs[u].push_back(before);
    if (acts) before = static_cast<int>(u);
  }
  for (ValueId v : block.results) {
    const auto it = units.writer.find(owners.of(v));
    if (it != units.writer.end()) wanted.push_back(it->second);
  }
  const auto collect = [&](int unit, std::vector<bool>& seen, FunctionRef<void(int)> done) {
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
  for (int unit : wanted) {
    std::vector<bool> seen(n, false);
    double cost = 0;
    collect(unit, seen, [&](int u) { cost += units.list[static_cast<std::size_t>(u)].cost; });
    targets.emplace_back(cost, unit);
  }
  // Ties keep the order of the results.
  std::ranges::stable_sort(targets, {}, &std::pair<double, int>::first);
  std::vector<int> order;
  std::vector<bool> seen(n, false);
  for (const auto& [cost, unit] : targets) collect(unit, seen, [&](int u) { order.push_back(u); });
  return order;
}

// dense: what is made dense before the block, and afterwards by its units too.
Units units_of(const Graph& graph, const Owners& owners, const Block& block, bool root,
               std::set<ValueId>& dense) {
  Units units = Maker(graph, owners, block, dense).make(root);
  units.order = order_units(graph, owners, block, units);
  for (const int u : units.order) {
    const Unit& unit = units.list[static_cast<std::size_t>(u)];
    if (unit.copy >= 0) dense.insert(unit.copy);
    if (unit.node < 0 || graph.node(unit.node).blocks.empty()) continue;
    const Node& n = graph.node(unit.node);
    std::vector<Units>& inside = units.blocks[u];
    const auto leave = [&dense](const Units& left) {
      for (ValueId v : left.dense) dense.erase(v);
    };
    for (const Block& inner : n.blocks) {
      inside.push_back(units_of(graph, owners, inner, false, dense));
      // The body of a while finds what its condition has made.
      if (n.kind == NodeKind::kCase) leave(inside.back());
    }
    std::ranges::for_each(inside, leave);
  }
  return units;
}

}  // namespace

const Owners::Piece& Owners::piece(ValueId v) const {
  Piece& known = known_[static_cast<std::size_t>(v)];
  if (known.owner >= 0) return known;
  known.owner = v;
  while (const Node* p = graph_.producer(known.owner)) {
    const ValueId at = known.owner;
    if (p->kind == NodeKind::kReshape) {
      known.owner = p->inputs[0];
    } else if (is_view(p->kind)) {
      const View view = resolve(graph_, at, true);
      if (!view.dense(squeezed(graph_.shape(at)))) break;
      known.offset += static_cast<std::size_t>(view.offset) * byte_width(graph_.shape(at).dtype());
      known.owner = view.base;
    } else {
      break;
    }
  }
  return known;
}

std::set<ValueId> Owners::around(const Node& n) const {
  std::set<ValueId> owners;
  for (ValueId v : captured(graph_, n)) {
    owners.insert(of(v));
    for (const Node* p = graph_.producer(v); p != nullptr && is_view(p->kind);
         p = graph_.producer(p->inputs[0])) {
      owners.insert(of(p->inputs[0]));
    }
  }
  return owners;
}

Units make_units(const Graph& graph, const Owners& owners) {
  std::set<ValueId> dense;
  return units_of(graph, owners, graph.root, true, dense);
}

}  // namespace millrace::devices::cpu::compiler
