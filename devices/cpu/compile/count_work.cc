// What a kernel reads, writes and computes.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "millrace/devices/cpu/compile/unit_kernel.h"

namespace millrace::devices::cpu::compiler {

// The bytes of a node that moves a part of an array, the rest of which it neither reads nor writes;
// nullopt for all others. The copy that an update in place may need before it is a step of its own.
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

// Elements of an array that a loop over dims reaches by these strides.
static std::size_t reached(std::span<const std::int64_t> dims,
                           std::span<const std::int64_t> strides) {
  std::size_t elements = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (strides[d] != 0) elements *= static_cast<std::size_t>(dims[d]);
  }
  return elements;
}

// Bytes that a fused loop moves: of each array as much as its views touch.
static std::size_t bytes_of_loop(const Graph& graph, const Owners& owners, const LoopParts& loop) {
  const auto bytes = [&graph](ValueId v) { return graph.shape(v).size_bytes(); };
  std::map<ValueId, std::size_t> touched;  // by owner
  for (const LoopInput& input : loop.spec.inputs) {
    if (input.iota) continue;
    const ValueId source = loop.arrays[static_cast<std::size_t>(input.buffer)];
    touched[owners.of(source)] +=
        reached(loop.spec.dims, input.strides) * byte_width(graph.shape(source).dtype());
  }
  std::size_t sum = 0;
  for (const auto& [owner, read] : touched) sum += std::min(read, bytes(owner));
  for (std::size_t o = 0; o < loop.results.size(); ++o) {
    const DType type = graph.shape(loop.results[o]).dtype();
    sum += bytes(loop.results[o]) + (loop.spec.outputs[o].reduce ? byte_width(type) : 0);
  }
  return sum;
}

void count_work(const Graph& graph, const Owners& owners, const Units& units, const Unit& unit,
                UnitKernel& kernel) {
  const auto bytes = [&graph](ValueId v) { return graph.shape(v).size_bytes(); };
  const auto elements = [&graph](ValueId v) {
    return static_cast<double>(graph.shape(v).elements());
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
      case NodeKind::kDot:
        return 2 * elements(n.outputs[0]) *
               static_cast<double>(terms_of(n.dot, graph.shape(n.inputs[0])));
      default:
        return 0;
    }
  };
  if (!kernel.run) return;
  if (unit.node >= 0 && kernel.operations == 0) kernel.operations = of_node(graph.node(unit.node));
  if (unit.group >= 0) {
    const Group& group = units.groups[static_cast<std::size_t>(unit.group)];
    for (const NodeId id : group.nodes) kernel.operations += of_node(graph.node(id));
    kernel.bytes = bytes_of_loop(graph, owners, group.loop);
    return;
  }
  if (unit.copy >= 0) {
    const Shape& shape = graph.shape(unit.copy);
    const View view = resolve(graph, unit.copy, true);
    const bool splat = view.iota || splat_constant(graph, unit.copy) != nullptr;
    const std::size_t read =
        splat ? 0 : reached(squeezed(shape), view.strides) * byte_width(shape.dtype());
    kernel.bytes = bytes(unit.copy) + read;
    return;
  }
  if (const auto touched = bytes_touched(graph, unit.node)) {
    kernel.bytes = *touched;
    return;
  }
  std::map<ValueId, std::size_t> read;  // by owner
  for (const ValueId v :
       std::set<ValueId>(graph.node(unit.node).inputs.begin(), graph.node(unit.node).inputs.end()))
    read[owners.of(v)] += bytes(v);
  for (const auto& [owner, some] : read) kernel.bytes += std::min(some, bytes(owner));
  for (const ValueId v : unit.writes) kernel.bytes += bytes(v);
}

}  // namespace millrace::devices::cpu::compiler
