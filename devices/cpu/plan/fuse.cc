#include "millrace/devices/cpu/plan/fuse.h"

#include <algorithm>
#include <set>

#include "millrace/devices/cpu/plan/view.h"

namespace millrace::devices::cpu::plan {
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
        position_(graph.nodes.size(), 0) {
    for (std::size_t i = 0; i < block.nodes.size(); ++i)
      position_[at(block.nodes[i])] = static_cast<int>(i);
    for (auto it = block.nodes.rbegin(); it != block.nodes.rend(); ++it) assign(*it);
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
      for (NodeId user : direct_users(n.outputs[0])) {
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
  }

  // Readers of v, looking through unit reshapes.
  std::vector<NodeId> direct_users(ValueId v) const {
    std::vector<NodeId> users;
    for (NodeId u : uses_.of(v)) {
      if (is_unit_reshape(graph_, graph_.node(u))) {
        for (NodeId further : direct_users(graph_.node(u).outputs[0])) users.push_back(further);
      } else {
        users.push_back(u);
      }
    }
    return users;
  }

  // Whether a path leaves `from` (and group `a`), passes a node outside groups a and b, and enters
  // a or b.
  bool reaches(const std::vector<NodeId>& from, int a, int b) const {
    const auto inside = [&](NodeId n) {
      return group_of(n) >= 0 && (group_of(n) == a || group_of(n) == b);
    };
    std::vector<NodeId> stack;
    std::vector<bool> seen(graph_.nodes.size(), false);
    const auto push = [&](NodeId n) {
      if (seen[at(n)]) return;
      const int g = group_of(n);
      if (g < 0) {
        seen[at(n)] = true;
        stack.push_back(n);
        return;
      }
      for (NodeId member : groups_[at(g)].nodes) {
        if (!seen[at(member)]) {
          seen[at(member)] = true;
          stack.push_back(member);
        }
      }
    };
    for (NodeId n : from) {
      for (ValueId v : graph_.node(n).outputs) {
        for (NodeId u : direct_users(v)) {
          if (!inside(u)) push(u);
        }
      }
    }
    while (!stack.empty()) {
      const NodeId n = stack.back();
      stack.pop_back();
      for (ValueId v : graph_.node(n).outputs) {
        for (NodeId u : direct_users(v)) {
          if (inside(u) || std::find(from.begin(), from.end(), u) != from.end()) return true;
          push(u);
        }
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
    for (NodeId n : b.nodes) group_[at(n)] = into;
    a.nodes = std::move(all);
    if (a.reduced.empty()) a.reduced = b.reduced;
    b.nodes.clear();
    read[at(into)].insert(read[at(other)].begin(), read[at(other)].end());
  }

  const Graph& graph_;
  const Uses& uses_;
  std::vector<int> group_;
  std::vector<int> position_;
  std::vector<Group> groups_;
};

}  // namespace

Uses::Uses(const Graph& graph, const Block& block) {
  for (NodeId id : block.nodes) {
    const Node& n = graph.node(id);
    for (ValueId v : n.inputs) add(v, id);
    for (const Block& inner : n.blocks) add_block(graph, inner, id);
  }
  for (ValueId v : block.results) results_[v] = true;
}

void Uses::add(ValueId v, NodeId user) {
  std::vector<NodeId>& list = users_[v];
  if (list.empty() || list.back() != user) list.push_back(user);
}

void Uses::add_block(const Graph& graph, const Block& inner, NodeId user) {
  for (NodeId id : inner.nodes) {
    for (ValueId v : graph.node(id).inputs) add(v, user);
    for (const Block& deeper : graph.node(id).blocks) add_block(graph, deeper, user);
  }
  for (ValueId v : inner.results) add(v, user);
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
  return Fuser(graph, block, uses).take();
}

}  // namespace millrace::devices::cpu::plan
