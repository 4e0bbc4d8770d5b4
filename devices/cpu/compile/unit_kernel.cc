// The kernels of all units: fused loops and copies of views here, single nodes by node_kernel.cc.
#include "millrace/devices/cpu/compile/unit_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"

namespace millrace::devices::cpu::compiler {
namespace {

Result<UnitKernel> loop_kernel(const LoopParts& loop, std::string name, ir::Location location) {
  const std::shared_ptr<const LoopKernel> kernel = loop.kernel;
  if (kernel == nullptr) {
    return fail(ErrorCode::kInternal,
                ir::to_string(location) + ": " + name + ": the fused loop does not fit");
  }
  Needs needs{
      .inputs = loop.arrays, .outputs = loop.results, .scratch_bytes = kernel->scratch_bytes()};
  const LoopSpec& spec = loop.spec;
  const auto reads_of = [&](int array) {
    return std::ranges::count(spec.inputs, array, &LoopInput::buffer) +
           std::ranges::count(spec.outputs, array, &LoopOutput::init);
  };
  for (std::size_t o = 0; o < spec.outputs.size(); ++o) {
    for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
      const int array = spec.inputs[i].buffer;
      if (!spec.inputs[i].iota && kernel->can_overwrite(static_cast<int>(o), static_cast<int>(i)) &&
          reads_of(array) == 1)
        needs.overwrites.push_back({o, static_cast<std::size_t>(array)});
    }
  }
  const auto run = [kernel](const StepFrame& f) {
    const void* from[LoopKernel::kMaxBuffers];
    void* into[LoopKernel::kMaxOutputs];
    for (std::size_t i = 0; i < f.inputs.size(); ++i) from[i] = f.in(i);
    for (std::size_t i = 0; i < f.outputs.size(); ++i) into[i] = f.out(i);
    kernel->run({from, f.inputs.size()}, {into, f.outputs.size()}, f.scratch, f.parallel);
  };
  return UnitKernel{
      .name = std::move(name), .location = location, .needs = std::move(needs), .run = always(run)};
}

// The dense array of a view, an iota or a splat.
Result<UnitKernel> copy_kernel(const Graph& graph, ValueId v) {
  const Shape& shape = graph.shape(v);
  const Node& n = *graph.producer(v);
  const std::byte* splat = splat_constant(graph, v);
  const View view = resolve(graph, v, true);
  const std::size_t width = byte_width(shape.dtype());
  const auto made = [&](std::vector<ValueId> from, StepFunction run) {
    return UnitKernel{.name = std::string(n.name),
                      .location = n.location,
                      .needs = {.inputs = std::move(from), .outputs = {v}},
                      .run = std::move(run)};
  };
  if (splat == nullptr && !view.iota) {
    const std::vector<std::int64_t> dims = squeezed(shape);
    const StridedCopy copy(dims, view.strides, dense_strides(dims), static_cast<int>(width));
    const auto run = [copy, at = view.offset * static_cast<std::int64_t>(width)](
                         const StepFrame& f) { copy.run(f.in() + at, f.out(), f.parallel); };
    return made({view.base}, always(run));
  }
  if (splat != nullptr && !is_real_element(shape.dtype())) {
    std::array<std::byte, 16> element;  // the widest there is
    std::memcpy(element.data(), splat, width);
    const auto run = [element, width, elements = shape.elements()](const StepFrame& f) {
      fill_splat(f.out(), element.data(), width, elements);
    };
    return made({}, always(run));
  }
  LoopParts parts;
  parts.spec.dims = squeezed(shape);
  if (splat != nullptr) {
    parts.spec.program.add_constant(shape.dtype(), splat);
  } else {
    parts.spec.program.add_input(shape.dtype());
    parts.spec.inputs.push_back({.iota = true, .offset = view.offset, .strides = view.strides});
  }
  parts.spec.program.add_output(0);
  parts.spec.outputs.push_back({});
  parts.results = {v};
  parts.make_kernel();
  return loop_kernel(parts, std::string(n.name), n.location);
}

// A reduction of dimensions in the middle: the loop walks the reduced dimensions first.
Result<UnitKernel> permuted_reduce_kernel(const Graph& graph, const Node& n) {
  const Shape& operand = graph.shape(n.inputs[0]);
  const DimVector strides = dense_strides(operand);
  LoopParts parts;
  LoopInput input;
  for (const bool fold : {true, false}) {
    for (int d = 0; d < operand.rank(); ++d) {
      if (contains(n.dims, d) != fold) continue;
      parts.spec.dims.push_back(operand.dim(d));
      parts.spec.reduced.push_back(fold);
      input.strides.push_back(strides[static_cast<std::size_t>(d)]);
    }
  }
  input.buffer = parts.array(n.inputs[0]);
  parts.spec.inputs.push_back(input);
  parts.spec.program.add_output(parts.spec.program.add_input(operand.dtype()));
  parts.spec.outputs.push_back(
      {.reduce = true, .kind = *n.region->kind, .init = parts.array(n.inputs[1])});
  parts.results = n.outputs;
  parts.make_kernel();
  return loop_kernel(parts, std::string(n.name), n.location);
}

Result<UnitKernel> kernel_of(const Graph& graph, const Units& units, const Unit& unit,
                             const PlanOptions& options, KernelChoices& choices) {
  if (unit.result >= 0) return UnitKernel{.name = "copy to output"};
  if (unit.copy >= 0) return copy_kernel(graph, unit.copy);
  if (unit.group >= 0) {
    const Group& group = units.groups[static_cast<std::size_t>(unit.group)];
    const Node& first = graph.node(group.nodes.front());
    const std::size_t count = group.nodes.size();
    return loop_kernel(
        group.loop, count == 1 ? std::string(first.name) : "fused loop of " + std::to_string(count),
        first.location);
  }
  const Node& n = graph.node(unit.node);
  if (n.kind == NodeKind::kReduce && n.outputs.size() == 1 && n.region->kind &&
      graph.shape(n.outputs[0]).elements() > 0 &&
      find_reduce_loops(*n.region->kind, graph.shape(n.inputs[0]).dtype())) {
    return permuted_reduce_kernel(graph, n);
  }
  if (n.blocks.empty()) return node_kernel(graph, n, options, choices);
  return UnitKernel{.name = std::string(n.name), .location = n.location};
}

}  // namespace

Result<std::vector<UnitKernel>> choose_kernels(const Graph& graph, const Owners& owners,
                                               const Units& units, const PlanOptions& options,
                                               KernelChoices& choices) {
  std::vector<UnitKernel> kernels;
  for (const int u : units.order) {
    if (options.stop.stop_requested()) return fail(ErrorCode::kCancelled, "stopped on request");
    const Unit& unit = units.list[static_cast<std::size_t>(u)];
    MILLRACE_TRY(UnitKernel made, kernel_of(graph, units, unit, options, choices));
    count_work(graph, owners, units, unit, made);
    if (const auto inside = units.blocks.find(u); inside != units.blocks.end()) {
      made.is_while = graph.node(unit.node).kind == NodeKind::kWhile;
      for (const Units& block : inside->second) {
        MILLRACE_TRY(made.blocks.emplace_back(),
                     choose_kernels(graph, owners, block, options, choices));
      }
    }
    kernels.push_back(std::move(made));
  }
  return kernels;
}

}  // namespace millrace::devices::cpu::compiler
