#include "millrace/devices/cpu/compile/graph.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace millrace::devices::cpu::compiler {
namespace {

// The index in one dimension of the current value: start + step * (index of the iteration's axis).
struct Axis {
  int axis = -1;  // -1: constant
  std::int64_t start = 0;
  std::int64_t step = 0;
};

constexpr std::int64_t kSmallElements = 4096;

std::vector<Axis> through(const Graph& graph, const Node& node, const std::vector<Axis>& axes) {
  const Shape& operand = graph.shape(node.inputs[0]);
  std::vector<Axis> out(static_cast<std::size_t>(operand.rank()));
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  switch (node.kind) {
    case NodeKind::kBroadcast:
      for (std::size_t d = 0; d < out.size(); ++d) {
        if (operand.dim(static_cast<int>(d)) != 1) out[d] = axes[at(node.dims[d])];
      }
      break;
    case NodeKind::kTranspose:
      for (std::size_t d = 0; d < axes.size(); ++d) out[at(node.dims[d])] = axes[d];
      break;
    case NodeKind::kSlice:
      for (std::size_t d = 0; d < out.size(); ++d) {
        out[d] = {axes[d].axis, node.low[d] + node.step[d] * axes[d].start,
                  node.step[d] * axes[d].step};
      }
      break;
    case NodeKind::kReverse:
      out = axes;
      for (std::int64_t d : node.dims) {
        Axis& a = out[at(d)];
        a = {a.axis, operand.dim(static_cast<int>(d)) - 1 - a.start, -a.step};
      }
      break;
    default: {  // a unit reshape
      const Shape& result = graph.shape(node.outputs[0]);
      std::size_t r = 0;
      for (std::size_t d = 0; d < out.size(); ++d) {
        if (operand.dim(static_cast<int>(d)) == 1) continue;
        while (result.dim(static_cast<int>(r)) == 1) ++r;
        out[d] = axes[r++];
      }
    }
  }
  return out;
}

View to_view(const Graph& graph, ValueId base, const std::vector<Axis>& axes, std::size_t rank) {
  View view{.base = base, .strides = std::vector<std::int64_t>(rank, 0)};
  const Node* producer = graph.producer(base);
  DimVector strides = dense_strides(graph.shape(base));
  if (producer != nullptr && producer->kind == NodeKind::kIota) {
    view.iota = true;
    for (std::size_t d = 0; d < strides.size(); ++d)
      strides[d] = static_cast<std::int64_t>(d) == producer->dims[0];
  }
  for (std::size_t d = 0; d < axes.size(); ++d) {
    view.offset += axes[d].start * strides[d];
    if (axes[d].axis >= 0)
      view.strides[static_cast<std::size_t>(axes[d].axis)] += axes[d].step * strides[d];
  }
  return view;
}

}  // namespace

NodeId Graph::add_node(Node node, const std::vector<Shape>& results) {
  const auto id = static_cast<NodeId>(nodes.size());
  for (const Shape& shape : results) node.outputs.push_back(add_value(shape, id));
  nodes.push_back(std::move(node));
  return id;
}

bool is_made_by_runs(const Graph& graph, const Node& node) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  return node.kind == NodeKind::kConstant && node.splat &&
         graph.shape(node.outputs[0]).size_bytes() > kMostBytes;
}

const std::byte* splat_constant(const Graph& graph, ValueId v) {
  for (const Node* n = graph.producer(v); n != nullptr; n = graph.producer(n->inputs[0])) {
    if (n->kind == NodeKind::kConstant) {
      return n->splat || graph.shape(v).elements() == 1 ? n->data.get() : nullptr;
    }
    if (n->kind != NodeKind::kBroadcast && n->kind != NodeKind::kReshape) return nullptr;
    // A bitcast to elements of another width splits the constant's, or joins them.
    if (byte_width(graph.shape(v).dtype()) != byte_width(graph.shape(n->inputs[0]).dtype()))
      return nullptr;
    v = n->inputs[0];
  }
  return nullptr;
}

bool has_effect(const Graph& graph, const Node& node) {
  if (node.has_effect) return true;
  for (const Block& inner : node.blocks) {
    for (NodeId id : inner.nodes) {
      if (has_effect(graph, graph.node(id))) return true;
    }
  }
  return false;
}

bool is_view(NodeKind kind) { return kind >= NodeKind::kBroadcast && kind <= NodeKind::kReverse; }

std::set<ValueId> captured(const Graph& graph, const Node& node) {
  std::set<ValueId> values;
  for (const Block& inner : node.blocks) {
    std::set<ValueId> made(inner.parameters.begin(), inner.parameters.end());
    std::set<ValueId> wanted(inner.results.begin(), inner.results.end());
    for (NodeId id : inner.nodes) {
      const Node& n = graph.node(id);
      made.insert(n.outputs.begin(), n.outputs.end());
      wanted.insert(n.inputs.begin(), n.inputs.end());
      wanted.merge(captured(graph, n));
    }
    std::ranges::set_difference(wanted, made, std::inserter(values, values.end()));
  }
  return values;
}

std::vector<std::int64_t> squeezed(const Shape& shape) {
  std::vector<std::int64_t> dims;
  for (std::int64_t d : shape.dims()) {
    if (d != 1) dims.push_back(d);
  }
  return dims;
}

bool View::dense(const std::vector<std::int64_t>& dims) const {
  const DimVector expected = dense_strides(dims);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (strides[d] != expected[d]) return false;
  }
  return !iota;
}

bool is_unit_reshape(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::kReshape) return false;
  const Shape &from = graph.shape(node.inputs[0]), &to = graph.shape(node.outputs[0]);
  return from.dtype() == to.dtype() && squeezed(from) == squeezed(to);
}

ValueId strip(const Graph& graph, ValueId v) {
  for (const Node* n = graph.producer(v); n != nullptr && is_unit_reshape(graph, *n);
       n = graph.producer(v)) {
    v = n->inputs[0];
  }
  return v;
}

View resolve(const Graph& graph, ValueId v, bool all) {
  const Shape& shape = graph.shape(v);
  std::vector<Axis> axes(static_cast<std::size_t>(shape.rank()));
  int rank = 0;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (shape.dim(static_cast<int>(d)) != 1) axes[d] = {rank++, 0, 1};
  }
  View best = to_view(graph, v, axes, static_cast<std::size_t>(rank));
  for (const Node* n = graph.producer(v); n != nullptr; n = graph.producer(v)) {
    if (!is_view(n->kind) || (n->kind == NodeKind::kReshape && !is_unit_reshape(graph, *n))) break;
    axes = through(graph, *n, axes);
    v = n->inputs[0];
    View view = to_view(graph, v, axes, static_cast<std::size_t>(rank));
    // The innermost dimension must stay dense or constant, or the whole thing be small.
    const bool good = all || view.iota || rank == 0 || std::abs(view.strides.back()) <= 1 ||
                      shape.elements() <= kSmallElements || n->kind != NodeKind::kTranspose;
    if (!good) return best;
    best = std::move(view);
  }
  return best;
}

}  // namespace millrace::devices::cpu::compiler
