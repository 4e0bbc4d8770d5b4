#include "millrace/devices/cpu/compile/fuse.h"

#include <algorithm>
#include <set>

#include "millrace/devices/cpu/compile/view.h"

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

class Fuser {
 public:
  Fuser(const Graph& graph, const Block& block, const Uses& uses)
      : graph_(graph),
        uses_(uses),
        group_(graph.nodes.size(), -1),
        position_(graph.nodes.size(), 0),
        readers_(graph.nodes.size()),
        writers_(graph.nodes.size()),
        height_(graph.nodes.size(), -1) {
    for (std::size_t i = 0; i < block.nodes.size(); ++i) {
      const NodeId id = block.nodes[i];
      position_[at(id)] = static_cast<int>(i);
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
    std::erase_if(groups_, [](const Group& g) { return g.nodes.empty(); });
    for (Group& g : groups_) {
      std::sort(g.nodes.begin(), g.nodes.end(),
                [&](NodeId a, NodeId b) { return position_[at(a)] < position_[at(b)]; });
    }
    return std::move(groups_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int group_of(NodeId n) const { return group_[at(n)]; }

  void assign(NodeId id) {
    const Node& n = graph_.node(id);
    if (n.kind == NodeKind::kReduce && is_loop_reduce(graph_, n)) {
      start(id, squeezed(graph_.shape(n.inputs[0])), squeezed_reduced(graph_, n));
    } else if (n.kind == NodeKind::kElementwise) {
      const std::vector<std::int64_t> dims = squeezed(graph_.shape(n.outputs[0]));
      std::set<int> candidates;
      for (NodeId user : readers_[at(id)]) {
        const int g = group_of(user);
        if (g >= 0 && groups_[at(g)].dims == dims) candidates.insert(g);
      }
      // Later groups were made first: the earliest user is the one with the highest number.
      for (auto it = candidates.rbegin(); it != candidates.rend(); ++it) {
        Group& g = groups_[at(*it)];
        if (g.nodes.size() >= kMaxNodes || reaches({id}, *it, -1)) continue;
        g.nodes.push_back(id);
        group_[at(id)] = *it;
        return;
      }
      start(id, dims, {});
    }
  }

  void start(NodeId id, std::vector<std::int64_t> dims, std::vector<bool> reduced) {
    group_[at(id)] = static_cast<int>(groups_.size());
    groups_.push_back({{id}, std::move(dims), std::move(reduced)});
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

  // The longest way from a node or group down to one that nothing reads. Each is higher than its
  // readers, so a search for a way to a group need not look below it. -1 before settle().
  int height(NodeId n) const {
    return group_of(n) < 0 ? height_[at(n)] : heights_[at(group_of(n))];
  }

  // After `id` has its group, or none: its height, and so that of the nodes above it.
  void settle(NodeId id) {
    int own = 0;
    for (NodeId u : readers_[at(id)]) {
      if (group_of(u) < 0 || group_of(u) != group_of(id)) own = std::max(own, height(u) + 1);
    }
    height_[at(id)] = 0;  // from now on it counts
    raise(id, own);
  }

  // The node, or the group of it, is at least so high.
  void raise(NodeId id, int least) {
    std::vector<std::pair<NodeId, int>> todo = {{id, least}};
    while (!todo.empty()) {
      const auto [n, wanted] = todo.back();
      todo.pop_back();
      const int g = group_of(n);
      int& now = g < 0 ? height_[at(n)] : heights_[at(g)];
      if (now >= wanted) continue;
      now = wanted;
      lift_writers(n, g, wanted + 1, todo);
    }
  }

  void lift_writers(NodeId n, int g, int least, std::vector<std::pair<NodeId, int>>& todo) const {
    const auto lift = [&](NodeId member) {
      for (NodeId w : writers_[at(member)]) {
        const bool settled = height_[at(w)] >= 0;
        if (settled && (g < 0 || group_of(w) != g) && height(w) < least) todo.push_back({w, least});
      }
    };
    if (g < 0) {
      lift(n);
    } else {
      for (NodeId member : groups_[at(g)].nodes) lift(member);
    }
  }

  // Whether a path leaves `from` (and group `a`), passes a node outside groups a and b, and enters
  // a or b. `from` is in these groups, or nothing above it is settled.
  bool reaches(const std::vector<NodeId>& from, int a, int b) const {
    const int floor = b < 0 ? heights_[at(a)] : std::min(heights_[at(a)], heights_[at(b)]);
    const auto inside = [&](NodeId n) {
      return group_of(n) >= 0 && (group_of(n) == a || group_of(n) == b);
    };
    std::vector<NodeId> stack;
    std::set<NodeId> seen;
    const auto push = [&](NodeId n) {
      if (height(n) <= floor || seen.contains(n)) return;
      const int g = group_of(n);
      if (g < 0) {
        seen.insert(n);
        stack.push_back(n);
        return;
      }
      for (NodeId member : groups_[at(g)].nodes) {
        if (seen.insert(member).second) stack.push_back(member);
      }
    };
    for (NodeId n : from) {
      for (NodeId u : readers_[at(n)]) {
        if (!inside(u)) push(u);
      }
    }
    while (!stack.empty()) {
      const NodeId n = stack.back();
      stack.pop_back();
      for (NodeId u : readers_[at(n)]) {
        if (inside(u)) return true;
        push(u);
      }
    }
    return false;
  }

  // The whole arrays that a group reads from outside.
  std::set<ValueId> reads(const Group& g) const {
    std::set<ValueId> read;
    std::int64_t elements = 1;
    for (std::int64_t d : g.dims) elements *= d;
    for (NodeId id : g.nodes) {
      const Node& n = graph_.node(id);
      for (std::size_t i = 0; i < (n.kind == NodeKind::kReduce ? 1 : n.inputs.size()); ++i) {
        const View view = resolve(graph_, n.inputs[i]);
        const Node* p = graph_.producer(view.base);
        if (p != nullptr) {
          const auto index = static_cast<std::size_t>(graph_.values[at(view.base)].producer);
          if (group_[index] >= 0 && &groups_[at(group_[index])] == &g) continue;
        }
        if (!view.iota && graph_.shape(view.base).elements() == elements && elements > 1)
          read.insert(view.base);
      }
    }
    return read;
  }

  void merge_siblings() {
    std::map<ValueId, std::vector<int>> readers;
    std::vector<std::set<ValueId>> read(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      read[g] = reads(groups_[g]);
      for (ValueId v : read[g]) readers[v].push_back(static_cast<int>(g));
    }
    for (const auto& [value, list] : readers) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t j = i + 1; j < list.size(); ++j) try_merge(list[i], list[j], read);
      }
    }
  }

  void try_merge(int into, int other, std::vector<std::set<ValueId>>& read) {
    Group &a = groups_[at(into)], &b = groups_[at(other)];
    if (a.nodes.empty() || b.nodes.empty() || into == other || a.dims != b.dims) return;
    if (!a.reduced.empty() && !b.reduced.empty() && a.reduced != b.reduced) return;
    if (a.nodes.size() + b.nodes.size() > kMaxMergedNodes) return;
    if (read[at(into)].size() + read[at(other)].size() > kMaxReads) return;
    std::vector<NodeId> all = a.nodes;
    all.insert(all.end(), b.nodes.begin(), b.nodes.end());
    if (reaches(all, into, other)) return;
    const int higher = std::max(heights_[at(into)], heights_[at(other)]);
    heights_[at(into)] = -1;  // so that those above either are looked at
    for (NodeId n : b.nodes) group_[at(n)] = into;
    a.nodes = std::move(all);
    raise(a.nodes.front(), higher);
    if (a.reduced.empty()) a.reduced = b.reduced;
    b.nodes.clear();
    read[at(into)].insert(read[at(other)].begin(), read[at(other)].end());
  }

  const Graph& graph_;
  const Uses& uses_;
  std::vector<int> group_;
  std::vector<int> position_;
  std::vector<std::vector<NodeId>> readers_, writers_;  // looking through unit reshapes
  std::vector<int> height_;                             // of nodes without a group
  std::vector<int> heights_;                            // of groups
  std::vector<Group> groups_;
};

}  // namespace

Uses::Uses(const Graph& graph, const Block& block)
    : graph_(graph), results_(block.results.begin(), block.results.end()) {
  for (NodeId id : block.nodes) {
    const Node& n = graph.node(id);
    for (ValueId v : n.inputs) add(v, id);
    for (ValueId v : captured(graph, n)) add(v, id);
  }
}

void Uses::add(ValueId v, NodeId user) {
  std::vector<NodeId>& list = users_[v];
  if (list.empty() || list.back() != user) list.push_back(user);
}

bool Uses::leaves(ValueId v, FunctionRef<bool(NodeId)> is_inside) const {
  return is_result(v) || std::ranges::any_of(of(v), [&](NodeId u) {
           const Node& user = graph_.node(u);
           return is_unit_reshape(graph_, user) ? leaves(user.outputs[0], is_inside)
                                                : !is_inside(u);
         });
}

const std::vector<NodeId>& Uses::of(ValueId v) const {
  const auto it = users_.find(v);
  return it == users_.end() ? none_ : it->second;
}

bool is_loop_reduce(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::kReduce || node.outputs.size() != 1 || !node.region->kind)
    return false;
  const Shape& operand = graph.shape(node.inputs[0]);
  if (!find_reduce_loops(*node.region->kind, operand.dtype())) return false;
  return LoopKernel::can_reduce(squeezed(operand), squeezed_reduced(graph, node));
}

std::vector<Group> fuse(const Graph& graph, const Block& block, const Uses& uses) {
  return split_to_fit(graph, uses, Fuser(graph, block, uses).take());
}

}  // namespace millrace::devices::cpu::compiler
