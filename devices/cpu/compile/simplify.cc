#include "millrace/devices/cpu/compile/graph.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/base/element.h"

namespace millrace::devices::cpu::compiler {
namespace {

bool all_equal(const std::vector<std::int64_t>& list, std::int64_t x) {
  return std::all_of(list.begin(), list.end(), [x](std::int64_t v) { return v == x; });
}

// Whether the scalar at `data` leaves every other operand of the reduction as it is.
bool is_identity(TileOp kind, DType type, const std::byte* data) {
  return visit(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        T raw;
        std::memcpy(&raw, data, sizeof(T));
        if constexpr (kIsBool<T>) {
          const bool wanted =
              kind == TileOp::kAnd || kind == TileOp::kMinimum || kind == TileOp::kMultiply;
          return (raw.value != 0) == wanted;
        } else {
          using C = ComputeType<T>;
          const C v = static_cast<C>(raw);
          using L = std::numeric_limits<C>;
          switch (kind) {
            case TileOp::kAdd:
              return v == C(0);
            case TileOp::kMultiply:
              return v == C(1);
            case TileOp::kMaximum:
              return v == (L::has_infinity ? -L::infinity() : L::min());
            case TileOp::kMinimum:
              return v == (L::has_infinity ? L::infinity() : L::max());
            case TileOp::kOr:
              return v == C(0);
            case TileOp::kAnd:
              return v == static_cast<C>(-1);
            default:
              return false;
          }
        }
      },
      [] { return false; });
}

class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph) {}

  void run(Block& block) {
    std::vector<NodeId> kept;
    // Equal nodes are merged within a block only.
    std::map<std::string, NodeId> seen;
    for (NodeId id : block.nodes) {
      for (ValueId& v : graph_.node(id).inputs) v = now(v);
      for (Block& inner : graph_.node(id).blocks) {
        run(inner);
      }
      if (!graph_.node(id).blocks.empty()) drop_unchanged(graph_.node(id));
      pending_.clear();
      const ValueId same = rewrite(id);
      for (NodeId before : pending_) kept.push_back(before);
      if (same >= 0) {
        replaced_[graph_.node(id).outputs[0]] = same;
        continue;
      }
      if (const std::string key = key_of(graph_.node(id)); !key.empty()) {
        const auto [it, inserted] = seen.emplace(key, id);
        if (!inserted) {
          replaced_[graph_.node(id).outputs[0]] = graph_.node(it->second).outputs[0];
          continue;
        }
      }
      kept.push_back(id);
    }
    block.nodes = std::move(kept);
    for (ValueId& v : block.results) v = now(v);
  }

 private:
  ValueId now(ValueId v) const {
    for (auto it = replaced_.find(v); it != replaced_.end(); it = replaced_.find(v)) v = it->second;
    return v;
  }

  // Results that are known from outside: a carried value that the body hands on as it got it is the
  // operand, in the bodies too; what every branch returns is that value. A loop that changes
  // nothing stays as it is: it runs for ever or not at all.
  void drop_unchanged(Node& n) {
    while (drop_some_unchanged(n)) substitute(n);
  }

  bool drop_some_unchanged(Node& n) {
    const bool loop = n.kind == NodeKind::kWhile;
    if (n.blocks.size() < 2) return false;  // what the only branch returns may be made in it
    const std::vector<ValueId> results = n.blocks.back().results;
    std::vector<bool> drop(n.outputs.size(), false);
    for (std::size_t i = 0; i < drop.size(); ++i) {
      drop[i] = loop ? results[i] == n.blocks[1].parameters[i] || results[i] == n.inputs[i]
                     : std::ranges::all_of(n.blocks, [&](const Block& branch) {
                         return branch.results[i] == results[i];
                       });
    }
    const auto dropped = std::count(drop.begin(), drop.end(), true);
    if (dropped == 0 || (loop && dropped == std::ssize(drop))) return false;
    for (std::size_t i = 0; i < drop.size(); ++i) {
      if (!drop[i]) continue;
      const ValueId same = loop ? n.inputs[i] : results[i];
      replaced_[n.outputs[i]] = same;
      if (!loop) continue;
      for (const Block& block : n.blocks) replaced_[block.parameters[i]] = same;
    }
    keep_others(n.outputs, drop);
    if (loop) {
      keep_others(n.inputs, drop);
      keep_others(n.blocks[1].results, drop);
      for (Block& block : n.blocks) keep_others(block.parameters, drop);
    } else {
      for (Block& branch : n.blocks) keep_others(branch.results, drop);
    }
    return true;
  }

  static void keep_others(std::vector<ValueId>& list, const std::vector<bool>& drop) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!drop[i]) list[kept++] = list[i];
    }
    list.resize(kept);
  }

  void substitute(Node& n) {
    for (ValueId& v : n.inputs) v = now(v);
    for (Block& block : n.blocks) {
      for (NodeId id : block.nodes) substitute(graph_.node(id));
      for (ValueId& v : block.results) v = now(v);
    }
  }

  // The value that the node's only result equals, or -1; may change the node in place.
  ValueId rewrite(NodeId id) {
    Node& n = graph_.node(id);
    if (n.outputs.size() != 1) return -1;
    const Shape result = graph_.shape(n.outputs[0]);
    const ValueId in = n.inputs.empty() ? -1 : n.inputs[0];
    switch (n.kind) {
      case NodeKind::kTranspose:
        join_transposes(n);
        return transpose_of_dot(n) ? -1 : as_reshape(n, keeps_order(n));
      case NodeKind::kBroadcast:
        return as_reshape(n, result.elements() == graph_.shape(in).elements() &&
                                 std::is_sorted(n.dims.begin(), n.dims.end()));
      case NodeKind::kReshape:
        return as_reshape(n, true);
      case NodeKind::kSlice:
        join_slices(n);
        return graph_.shape(n.inputs[0]) == result && all_equal(n.step, 1) ? n.inputs[0] : -1;
      case NodeKind::kReverse:
        join_reverses(n);
        std::erase_if(n.dims, [&](std::int64_t d) { return result.dim(static_cast<int>(d)) <= 1; });
        return n.dims.empty() ? n.inputs[0] : -1;
      case NodeKind::kPad:
        return all_equal(n.low, 0) && all_equal(n.high, 0) && all_equal(n.step, 0) ? in : -1;
      case NodeKind::kConcatenate:
        return concatenate(n);
      case NodeKind::kReduce:
        return reduce(n);
      case NodeKind::kDot:
        move_transposes_into_dot(n);
        return -1;
      default:
        return -1;
    }
  }

  // The node that makes n's operand if it is of the same kind: so a row of equal views, however
  // long, becomes views of the first one's operand, and nothing walks along it later.
  const Node* same_kind(const Node& n) const {
    const Node* p = graph_.producer(n.inputs[0]);
    return p != nullptr && p->kind == n.kind ? p : nullptr;
  }

  void join_transposes(Node& n) const {
    const Node* p = same_kind(n);
    if (p == nullptr) return;
    for (std::int64_t& d : n.dims) d = p->dims[static_cast<std::size_t>(d)];
    n.inputs[0] = p->inputs[0];
  }

  void join_slices(Node& n) const {
    const Node* p = same_kind(n);
    if (p == nullptr) return;
    const Shape& result = graph_.shape(n.outputs[0]);
    for (std::size_t d = 0; d < n.low.size(); ++d) {
      const std::int64_t size = result.dim(static_cast<int>(d));
      // The stride of less than two elements is any number, however large.
      n.step[d] = size < 2 ? 1 : p->step[d] * n.step[d];
      n.low[d] = size == 0 ? 0 : p->low[d] + p->step[d] * n.low[d];
      n.high[d] = size == 0 ? 0 : n.low[d] + (size - 1) * n.step[d] + 1;
    }
    n.inputs[0] = p->inputs[0];
  }

  void join_reverses(Node& n) const {
    const Node* p = same_kind(n);
    if (p == nullptr) return;
    for (std::int64_t d : p->dims) {
      if (std::erase(n.dims, d) == 0) n.dims.push_back(d);
    }
    n.inputs[0] = p->inputs[0];
  }

  bool keeps_order(const Node& n) const {
    const Shape& operand = graph_.shape(n.inputs[0]);
    std::int64_t last = -1;
    for (std::int64_t d : n.dims) {
      if (operand.dim(static_cast<int>(d)) == 1) continue;
      if (d < last) return false;
      last = d;
    }
    return true;
  }

  ValueId as_reshape(Node& n, bool yes) {
    if (!yes) return -1;
    n.kind = NodeKind::kReshape;
    const Shape& to = graph_.shape(n.outputs[0]);
    // A reshape of a reshape is one of the first operand.
    while (const Node* p = graph_.producer(n.inputs[0])) {
      if (p->kind != NodeKind::kReshape) break;
      n.inputs[0] = p->inputs[0];
    }
    return graph_.shape(n.inputs[0]) == to ? n.inputs[0] : -1;
  }

  ValueId concatenate(Node& n) {
    std::erase_if(n.inputs, [&](ValueId v) {
      return graph_.shape(v).elements() == 0 && graph_.shape(n.outputs[0]).elements() != 0;
    });
    return n.inputs.size() == 1 ? n.inputs[0] : -1;
  }

  ValueId reduce(Node& n) {
    if (!n.region->kind || n.inputs.size() != 2) return -1;
    const Shape& operand = graph_.shape(n.inputs[0]);
    const std::byte* init = splat_constant(graph_, n.inputs[1]);
    const bool from_identity =
        init != nullptr && is_identity(*n.region->kind, operand.dtype(), init);
    bool nothing = from_identity;
    for (std::int64_t d : n.dims) nothing = nothing && operand.dim(static_cast<int>(d)) == 1;
    if (nothing) {
      n.inputs.pop_back();
      return as_reshape(n, true);
    }
    if (from_identity) split_reduce(n);
    return -1;
  }

  // Leading and trailing dimensions reduced at once: the trailing ones first, in a node of their
  // own.
  void split_reduce(Node& n) {
    const Shape operand = graph_.shape(n.inputs[0]);
    std::vector<bool> reduced(static_cast<std::size_t>(operand.rank()), false);
    for (std::int64_t d : n.dims) reduced[static_cast<std::size_t>(d)] = true;
    if (LoopKernel::can_reduce(operand.dims(), reduced)) return;
    std::vector<std::int64_t> trailing, dims;
    int d = operand.rank() - 1;
    for (; d >= 0 && (reduced[static_cast<std::size_t>(d)] || operand.dim(d) == 1); --d) {
      if (reduced[static_cast<std::size_t>(d)]) trailing.push_back(d);
    }
    if (trailing.empty()) return;
    for (int i = 0; i < operand.rank(); ++i) {
      if (!contains(trailing, i)) dims.push_back(operand.dim(i));
    }
    Node first{.kind = NodeKind::kReduce,
               .location = n.location,
               .name = n.name,
               .inputs = n.inputs,
               .dims = trailing,
               .region = n.region};
    std::vector<std::int64_t> rest;
    for (std::int64_t r : n.dims) {
      if (contains(trailing, r)) continue;
      std::int64_t shifted = r;
      for (std::int64_t t : trailing) shifted -= t < r ? 1 : 0;
      rest.push_back(shifted);
    }
    const NodeId id = graph_.add_node(std::move(first), {Shape(operand.dtype(), dims)});
    n.inputs[0] = graph_.node(id).outputs[0];
    n.dims = rest;
    pending_.push_back(id);
  }

  // transpose(dot(a, b)) of two matrices is dot(b, a) with the dimensions the other way round.
  bool transpose_of_dot(Node& n) {
    const Node* d = graph_.producer(n.inputs[0]);
    if (d == nullptr || d->kind != NodeKind::kDot || !d->dot.lhs_batch.empty() ||
        n.dims.size() != 2 || n.dims[0] != 1 ||
        graph_.shape(d->inputs[0]).rank() != 1 + static_cast<int>(d->dot.lhs_contract.size()) ||
        graph_.shape(d->inputs[1]).rank() != 1 + static_cast<int>(d->dot.rhs_contract.size())) {
      return false;
    }
    n.kind = NodeKind::kDot;
    n.dot = {.lhs_contract = d->dot.rhs_contract, .rhs_contract = d->dot.lhs_contract};
    n.inputs = {d->inputs[1], d->inputs[0]};
    n.dims.clear();
    n.name = d->name;
    return true;
  }

  void move_transposes_into_dot(Node& n) {
    absorb(n.inputs[0], n.dot.lhs_batch, n.dot.lhs_contract);
    absorb(n.inputs[1], n.dot.rhs_batch, n.dot.rhs_contract);
  }

  void absorb(ValueId& operand, std::vector<std::int64_t>& batch,
              std::vector<std::int64_t>& contract) {
    const Node* t = graph_.producer(operand);
    if (t == nullptr || t->kind != NodeKind::kTranspose) return;
    // The free dimensions must keep their order, for it is the result's.
    std::int64_t last = -1;
    for (std::size_t d = 0; d < t->dims.size(); ++d) {
      if (contains(batch, static_cast<std::int64_t>(d)) ||
          contains(contract, static_cast<std::int64_t>(d)))
        continue;
      if (t->dims[d] < last) return;
      last = t->dims[d];
    }
    for (auto* list : {&batch, &contract}) {
      for (std::int64_t& d : *list) d = t->dims[static_cast<std::size_t>(d)];
    }
    operand = t->inputs[0];
  }

  // Equal keys: equal values. Empty for what is not merged.
  std::string key_of(const Node& n) const {
    if (n.kind > NodeKind::kReverse || n.outputs.size() != 1 ||
        (n.kind == NodeKind::kConstant && !n.splat))
      return {};
    const Shape& shape = graph_.shape(n.outputs[0]);
    std::string key = std::to_string(static_cast<int>(n.kind)) + "/" +
                      std::to_string(static_cast<int>(n.op)) + "/" + std::to_string(n.param) + "/" +
                      shape.to_string();
    if (n.kind == NodeKind::kConstant) {
      key.append(reinterpret_cast<const char*>(n.data.get()), byte_width(shape.dtype()));
      return key;
    }
    std::vector<ValueId> inputs = n.inputs;
    const bool commutes =
        n.kind == NodeKind::kElementwise &&
        (n.op == TileOp::kAdd || n.op == TileOp::kMultiply || n.op == TileOp::kAnd ||
         n.op == TileOp::kOr || n.op == TileOp::kXor || n.op == TileOp::kEq || n.op == TileOp::kNe);
    if (commutes) std::sort(inputs.begin(), inputs.end());
    for (ValueId v : inputs) key += "," + std::to_string(v);
    for (const auto* list : {&n.dims, &n.low, &n.high, &n.step}) {
      key += ";";
      for (std::int64_t d : *list) key += std::to_string(d) + " ";
    }
    return key;
  }

  Graph& graph_;
  std::map<ValueId, ValueId> replaced_;
  std::vector<NodeId> pending_;
};

bool is_live(const Graph& graph, const Node& n, const std::vector<bool>& needed) {
  return has_effect(graph, n) || std::any_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) {
           return needed[static_cast<std::size_t>(v)];
         });
}

// Marks what the block's results need, from the back.
void mark(const Graph& graph, const Block& block, std::vector<bool>& needed) {
  for (ValueId v : block.results) needed[static_cast<std::size_t>(v)] = true;
  for (auto it = block.nodes.rbegin(); it != block.nodes.rend(); ++it) {
    const Node& n = graph.node(*it);
    if (!is_live(graph, n, needed)) continue;
    for (ValueId v : n.inputs) needed[static_cast<std::size_t>(v)] = true;
    for (const Block& inner : n.blocks) mark(graph, inner, needed);
  }
}

void sweep(Graph& graph, Block& block, const std::vector<bool>& needed) {
  std::erase_if(block.nodes, [&](NodeId id) { return !is_live(graph, graph.node(id), needed); });
  for (NodeId id : block.nodes) {
    for (Block& inner : graph.node(id).blocks) sweep(graph, inner, needed);
  }
}

}  // namespace

void simplify(Graph& graph) {
  Simplifier(graph).run(graph.root);
  std::vector<bool> needed(graph.values.size(), false);
  mark(graph, graph.root, needed);
  sweep(graph, graph.root, needed);
}

}  // namespace millrace::devices::cpu::compiler
