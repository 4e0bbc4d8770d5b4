#include "millrace/devices/cpu/compile/units.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/function_ref.h"

namespace millrace::devices::cpu::compiler {
namespace {

constexpr std::size_t kMaxNodes = 192;
constexpr std::size_t kMaxMergedNodes = 48;
constexpr std::size_t kMaxReads = 24;

std::vector<bool> squeezed_reduced(const Graph& graph, const Node& n) {
  const Shape& operand = graph.shape(n.inputs[0]);
  std::vector<bool> reduced;
  for (int d = 0; d < operand.rank(); ++d) {
    if (operand.dim(d) != 1)
      reduced.push_back(std::find(n.dims.begin(), n.dims.end(), d) != n.dims.end());
  }
  return reduced;
}

// A reduction that a loop can do as it is.
bool is_loop_reduce(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::kReduce || node.outputs.size() != 1 || !node.region->kind)
    return false;
  const Shape& operand = graph.shape(node.inputs[0]);
  if (!find_reduce_loops(*node.region->kind, operand.dtype())) return false;
  return LoopKernel::can_reduce(squeezed(operand), squeezed_reduced(graph, node));
}

// Who reads what in one block. Values that nested blocks read count as read by the node that holds
// the block.
class Uses {
 public:
  Uses(const Graph& graph, const Block& block)
      : graph_(graph), results_(block.results.begin(), block.results.end()) {
    for (NodeId id : block.nodes) {
      const Node& n = graph.node(id);
      for (ValueId v : n.inputs) add(v, id);
      for (ValueId v : captured(graph, n)) add(v, id);
    }
  }
  // Nodes that read v.
  const std::vector<NodeId>& of(ValueId v) const {
    const auto it = users_.find(v);
    return it == users_.end() ? none_ : it->second;
  }
  // Whether v is a result or a node outside of a group reads it, if only through unit reshapes.
  bool leaves(ValueId v, FunctionRef<bool(NodeId)> is_inside) const {
    return results_.contains(v) || std::ranges::any_of(of(v), [&](NodeId u) {
             const Node& user = graph_.node(u);
             return is_unit_reshape(graph_, user) ? leaves(user.outputs[0], is_inside)
                                                  : !is_inside(u);
           });
  }

 private:
  void add(ValueId v, NodeId user) {
    std::vector<NodeId>& list = users_[v];
    if (list.empty() || list.back() != user) list.push_back(user);
  }
  const Graph& graph_;
  std::map<ValueId, std::vector<NodeId>> users_;
  std::set<ValueId> results_;
  std::vector<NodeId> none_;
};

class Fuser {
 public:
  Fuser(const Graph& graph, const Block& block, const Uses& uses)
      : graph_(graph),
        uses_(uses),
        group_(graph.nodes.size(), -1),
        position_(graph.nodes.size(), 0),
        readers_(graph.nodes.size()),
        writers_(graph.nodes.size()) {
    NodeId effect = -1;
    for (std::size_t i = 0; i < block.nodes.size(); ++i) {
      const NodeId id = block.nodes[i];
      position_[at(id)] = static_cast<int>(i);
      // Effects come in the order of the program, as if each read something of the one before.
      if (has_effect(graph, graph.node(id))) {
        if (effect >= 0) readers_[at(effect)].push_back(id);
        if (effect >= 0) writers_[at(id)].push_back(effect);
        effect = id;
      }
      for (ValueId v : graph.node(id).outputs) add_readers(v, readers_[at(id)]);
      for (NodeId reader : readers_[at(id)]) writers_[at(reader)].push_back(id);
    }
    for (auto it = block.nodes.rbegin(); it != block.nodes.rend(); ++it) {
      assign(*it);
      settle(*it);
    }
    merge_siblings();
  }

  std::vector<Group> take() {
    std::vector<Group> taken;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!is_loop_[g] || groups_[g].nodes.empty()) continue;
      std::ranges::sort(groups_[g].nodes, {}, [&](NodeId n) { return position_[at(n)]; });
      taken.push_back(std::move(groups_[g]));
    }
    return taken;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int group_of(NodeId n) const { return group_[at(n)]; }

  void assign(NodeId id) {
    const Node& n = graph_.node(id);
    if (n.kind == NodeKind::kReduce && is_loop_reduce(graph_, n)) {
      start(id, true, squeezed(graph_.shape(n.inputs[0])), squeezed_reduced(graph_, n));
    } else if (n.kind == NodeKind::kElementwise) {
      const std::vector<std::int64_t> dims = squeezed(graph_.shape(n.outputs[0]));
      std::set<int> candidates;
      for (NodeId user : readers_[at(id)]) {
        const int g = group_of(user);
        if (is_loop_[at(g)] && groups_[at(g)].dims == dims) candidates.insert(g);
      }
      // Later groups were made first: the earliest user is the one with the highest number.
      for (auto it = candidates.rbegin(); it != candidates.rend(); ++it) {
        Group& g = groups_[at(*it)];
        if (g.nodes.size() >= kMaxNodes || reaches({id}, *it, -1)) continue;
        g.nodes.push_back(id);
        group_[at(id)] = *it;
        return;
      }
      start(id, true, dims, {});
    } else {
      start(id, false, {}, {});
    }
  }

  void start(NodeId id, bool is_loop, std::vector<std::int64_t> dims, std::vector<bool> reduced) {
    group_[at(id)] = static_cast<int>(groups_.size());
    groups_.push_back({{id}, std::move(dims), std::move(reduced)});
    is_loop_.push_back(is_loop);
    heights_.push_back(-1);
  }

  // Readers of v, looking through unit reshapes.
  void add_readers(ValueId v, std::vector<NodeId>& readers) const {
    for (NodeId u : uses_.of(v)) {
      if (is_unit_reshape(graph_, graph_.node(u)))
        add_readers(graph_.node(u).outputs[0], readers);
      else
        readers.push_back(u);
    }
  }

  // After `id` has its group: the group's height, and so that of the groups above it.
  void settle(NodeId id) {
    int own = 0;
    for (NodeId u : readers_[at(id)]) {
      if (group_of(u) != group_of(id)) own = std::max(own, heights_[at(group_of(u))] + 1);
    }
    raise(group_of(id), own);
  }

  // The group is at least so high.
  void raise(int group, int least) {
    std::vector<std::pair<int, int>> todo = {{group, least}};
    while (!todo.empty()) {
      const auto [g, wanted] = todo.back();
      todo.pop_back();
      if (heights_[at(g)] >= wanted) continue;
      heights_[at(g)] = wanted;
      for (NodeId member : groups_[at(g)].nodes) {
        for (NodeId w : writers_[at(member)]) {
          const int above = group_of(w);  // -1: not settled yet
          if (above >= 0 && above != g && heights_[at(above)] <= wanted)
            todo.push_back({above, wanted + 1});
        }
      }
    }
  }

  // Whether u needs all of what n makes before its own first element: a reduction's result, or its
  // initial value. No loop makes both.
  bool needs_whole(NodeId u, NodeId n) const {
    const Node &reader = graph_.node(u), &maker = graph_.node(n);
    return maker.kind == NodeKind::kReduce || (reader.kind == NodeKind::kReduce &&
                                               strip(graph_, reader.inputs[1]) == maker.outputs[0]);
  }

  // Whether a path leaves `from` (and group `a`), passes a node outside groups a and b, and enters
  // a or b; or one between them needs the whole of another. `from` is in these groups, or nothing
  // above it is settled.
  bool reaches(const std::vector<NodeId>& from, int a, int b) const {
    const int floor = b < 0 ? heights_[at(a)] : std::min(heights_[at(a)], heights_[at(b)]);
    std::vector<int> stack;
    std::set<int> seen = {a, b};
    const auto push = [&](int g) {
      if (heights_[at(g)] > floor && seen.insert(g).second) stack.push_back(g);
    };
    for (NodeId n : from) {
      for (NodeId u : readers_[at(n)]) {
        const int g = group_of(u);
        if ((g == a || g == b) && needs_whole(u, n)) return true;
        push(g);
      }
    }
    while (!stack.empty()) {
      const int g = stack.back();
      stack.pop_back();
      for (NodeId n : groups_[at(g)].nodes) {
        for (NodeId u : readers_[at(n)]) {
          if (group_of(u) == a || group_of(u) == b) return true;
          push(group_of(u));
        }
      }
    }
    return false;
  }

  // The arrays that a group reads from outside as a whole, or a good part of. Loops of one element,
  // of which each costs a step, have kOneElement in common.
  static constexpr ValueId kOneElement = -1;
  std::set<ValueId> reads(const Group& g) const {
    std::set<ValueId> read;
    std::int64_t elements = 1;
    for (std::int64_t d : g.dims) elements *= d;
    if (elements == 1) read.insert(kOneElement);
    for (NodeId id : g.nodes) {
      const Node& n = graph_.node(id);
      for (std::size_t i = 0; i < (n.kind == NodeKind::kReduce ? 1 : n.inputs.size()); ++i) {
        const View view = resolve(graph_, n.inputs[i]);
        const NodeId p = graph_.values[at(view.base)].producer;
        if (p >= 0 && group_of(p) >= 0 && &groups_[at(group_of(p))] == &g) continue;
        const std::int64_t all = graph_.shape(view.base).elements();
        if (!view.iota && all >= elements && all / 8 <= elements) read.insert(view.base);
      }
    }
    return read;
  }

  // Loops that read the same array, and one that reads what another makes of each element.
  void merge_siblings() {
    std::map<ValueId, std::vector<int>> readers;
    std::vector<std::set<ValueId>> read(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (is_loop_[g]) read[g] = reads(groups_[g]);
      for (ValueId v : read[g]) {
        std::vector<int>& list = readers[v];
        const NodeId maker = v == kOneElement ? -1 : graph_.values[at(v)].producer;
        if (list.empty() && maker >= 0 && group_of(maker) >= 0 && is_loop_[at(group_of(maker))] &&
            graph_.node(maker).kind == NodeKind::kElementwise)
          list.push_back(group_of(maker));
        list.push_back(static_cast<int>(g));
      }
    }
    // A program may have thousands of loops with something in common: each looks at its neighbours.
    constexpr int kMostRefusals = 16;
    for (const auto& [value, list] : readers) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        int refusals = 0;
        for (std::size_t j = i + 1; j < list.size() && refusals < kMostRefusals; ++j)
          refusals += merges(list[i], list[j], read) ? 0 : 1;
      }
    }
  }

  // Whether they are one now, or one of them was taken by another before.
  bool merges(int into, int other, std::vector<std::set<ValueId>>& read) {
    Group &a = groups_[at(into)], &b = groups_[at(other)];
    if (a.nodes.empty() || b.nodes.empty() || into == other) return true;
    if (a.dims != b.dims) return false;
    if (!a.reduced.empty() && !b.reduced.empty() && a.reduced != b.reduced) return false;
    if (a.nodes.size() + b.nodes.size() > kMaxMergedNodes) return false;
    if (read[at(into)].size() + read[at(other)].size() > kMaxReads) return false;
    std::vector<NodeId> all = a.nodes;
    all.insert(all.end(), b.nodes.begin(), b.nodes.end());
    if (reaches(all, into, other)) return false;
    const int higher = std::max(heights_[at(into)], heights_[at(other)]);
    heights_[at(into)] = -1;  // so that those above either are looked at
    for (NodeId n : b.nodes) group_[at(n)] = into;
    a.nodes = std::move(all);
    raise(into, higher);
    if (a.reduced.empty()) a.reduced = b.reduced;
    b.nodes.clear();
    read[at(into)].insert(read[at(other)].begin(), read[at(other)].end());
    return true;
  }

  const Graph& graph_;
  const Uses& uses_;
  std::vector<int> group_;
  std::vector<int> position_;
  std::vector<std::vector<NodeId>> readers_, writers_;  // looking through unit reshapes
  std::vector<Group>
      groups_;  // of the nodes from the last one to this; one for each that is no loop
  std::vector<bool> is_loop_;  // per group
  // Per group: the longest way down to one that nothing reads. Each is higher than its readers, so
  // a search for a way to a group need not look below it. -1 before settle().
  std::vector<int> heights_;
};

// The group's nodes as one loop.
LoopParts loop_of(const Graph& graph, const Uses& uses, const Group& group) {
  LoopParts loop;
  loop.spec.dims = group.dims;
  loop.spec.reduced = group.reduced;
  TileProgram& program = loop.spec.program;
  const std::set<NodeId> members(group.nodes.begin(), group.nodes.end());
  std::map<ValueId, int> made;  // values of the group
  std::map<std::pair<DType, std::string>, int> constants;
  std::map<std::tuple<ValueId, bool, std::int64_t, std::vector<std::int64_t>, DType>, int> loads;

  const auto operand = [&](ValueId v) {
    if (const auto it = made.find(strip(graph, v)); it != made.end()) return it->second;
    const DType type = graph.shape(v).dtype();
    if (const std::byte* value = splat_constant(graph, v)) {
      const std::string key(reinterpret_cast<const char*>(value), byte_width(type));
      const auto [it, inserted] = constants.emplace(std::pair(type, key), -1);
      if (inserted) it->second = program.add_constant(type, value);
      return it->second;
    }
    const View view = resolve(graph, v);
    const ValueId base = view.iota ? -1 : view.base;
    const auto [it, inserted] =
        loads.emplace(std::tuple(base, view.iota, view.offset, view.strides, type), -1);
    if (inserted) {
      it->second = program.add_input(type);
      loop.spec.inputs.push_back({.iota = view.iota,
                                  .buffer = view.iota ? -1 : loop.array(base),
                                  .offset = view.offset,
                                  .strides = view.strides});
    }
    return it->second;
  };

  for (NodeId id : group.nodes) {
    const Node& n = graph.node(id);
    const ValueId result = n.outputs[0];
    LoopOutput output;
    int value = -1;
    if (n.kind == NodeKind::kReduce) {
      value = operand(n.inputs[0]);
      output = {.reduce = true, .kind = *n.region->kind, .init = loop.array(n.inputs[1])};
    } else {
      std::vector<int> ins;
      ins.reserve(n.inputs.size());
      for (ValueId v : n.inputs) ins.push_back(operand(v));
      value = program.add(n.op, ins, graph.shape(result).dtype(), n.param);
      MILLRACE_CHECK(value >= 0, "an elementwise node of a type without a loop");
      made[result] = value;
      if (!uses.leaves(result, [&](NodeId u) { return members.contains(u); })) continue;
    }
    program.add_output(value);
    loop.spec.outputs.push_back(output);
    loop.results.push_back(result);
  }
  return loop;
}

// Makes the group's loop, or those of its halves. Nodes are in the block's order: then no part
// depends on one behind it.
void add_loops(const Graph& graph, const Uses& uses, Group group, std::vector<Group>& into) {
  group.loop = loop_of(graph, uses, group);
  if (group.loop.make_kernel() || group.nodes.size() == 1) {
    into.push_back(std::move(group));
    return;
  }
  const auto middle = group.nodes.begin() + std::ssize(group.nodes) / 2;
  for (auto half : {std::span(group.nodes.begin(), middle), std::span(middle, group.nodes.end())})
    add_loops(graph, uses, {{half.begin(), half.end()}, group.dims, group.reduced}, into);
}

}  // namespace

int LoopParts::array(ValueId v) {
  const auto found = std::ranges::find(arrays, v) - arrays.begin();
  if (found == std::ssize(arrays)) arrays.push_back(v);
  return static_cast<int>(found);
}

bool LoopParts::make_kernel() {
  if (!spec.program.finish()) return false;
  if (auto made = LoopKernel::make(spec))
    kernel = std::make_shared<const LoopKernel>(*std::move(made));
  return kernel != nullptr;
}

std::vector<Group> fuse(const Graph& graph, const Block& block) {
  const Uses uses(graph, block);
  std::vector<Group> fitting;
  for (Group& group : Fuser(graph, block, uses).take())
    add_loops(graph, uses, std::move(group), fitting);
  return fitting;
}

}  // namespace millrace::devices::cpu::compiler
