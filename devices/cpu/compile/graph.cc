#include "millrace/devices/cpu/compile/graph.h"

#include <algorithm>
#include <iterator>

namespace millrace::devices::cpu::compiler {

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

}  // namespace millrace::devices::cpu::compiler
