// The fused loops, and the copies of views, of a block.
#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "millrace/devices/cpu/compile/emit.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"

namespace millrace::devices::cpu::compiler {

Status Emitter::emit_group(const Unit& unit) {
  const Group& group = units_.groups[static_cast<std::size_t>(unit.group)];
  const Node& first = graph_.node(group.nodes.front());
  return add_loop(group.loop,
                  group.nodes.size() == 1 ? std::string(first.name)
                                          : "fused loop of " + std::to_string(group.nodes.size()),
                  first.location);
}

Status Emitter::add_loop(const LoopParts& loop, std::string name, ir::Location location) {
  const std::shared_ptr<const LoopKernel> kernel = loop.kernel;
  if (kernel == nullptr) {
    return fail(ErrorCode::kInternal,
                ir::to_string(location) + ": " + name + ": the fused loop does not fit");
  }
  const std::vector<LoopInput>& inputs = loop.spec.inputs;
  std::vector<BufferId> buffers;
  for (ValueId v : loop.arrays) buffers.push_back(storage_.of(v));
  const auto reads_of = [&](BufferId root) {
    return std::count_if(inputs.begin(), inputs.end(), [&](const LoopInput& i) {
      return !i.iota && storage_.buffers[buffers[static_cast<std::size_t>(i.buffer)]].root == root;
    });
  };
  std::vector<BufferId> outputs;
  std::set<BufferId> overwritten;
  for (std::size_t o = 0; o < loop.results.size(); ++o) {
    const ValueId v = loop.results[o];
    BufferId target = -1;
    std::vector<BufferId> donors;
    for (std::size_t i = 0; i < inputs.size() && target < 0; ++i) {
      if (inputs[i].iota || !kernel->can_overwrite(static_cast<int>(o), static_cast<int>(i))) {
        continue;
      }
      const auto source = static_cast<std::size_t>(inputs[i].buffer);
      const BufferId b = buffers[source];
      if (reads_of(storage_.buffers[b].root) != 1 || overwritten.contains(b)) continue;
      donors.push_back(b);
      if (places_.may_become(loop.arrays[source], v)) target = b;
    }
    if (target >= 0) {
      overwritten.insert(target);
      places_.set(v, target);
    } else {
      target = places_.new_buffer(v);
      for (BufferId b : donors) storage_.write_output(target, b);
    }
    outputs.push_back(target);
  }
  const auto run = [kernel](const StepFrame& f) {
    const void* from[LoopKernel::kMaxBuffers];
    void* into[LoopKernel::kMaxOutputs];
    for (std::size_t i = 0; i < f.inputs.size(); ++i) from[i] = f.in(i);
    for (std::size_t i = 0; i < f.outputs.size(); ++i) into[i] = f.out(i);
    kernel->run({from, f.inputs.size()}, {into, f.outputs.size()}, f.scratch, f.parallel);
  };
  add_step(std::move(name), location, always(run), std::move(buffers), std::move(outputs),
           kernel->scratch_bytes())
      .info.bytes = bytes_of_loop(graph_, storage_.owners, loop);
  return {};
}

// The dense array of a view, an iota or a splat.
Status Emitter::emit_copy(ValueId v) {
  const Shape& shape = graph_.shape(v);
  const Node& n = *graph_.producer(v);
  const std::byte* splat = splat_constant(graph_, v);
  const View view = resolve(graph_, v, true);
  const std::size_t width = byte_width(shape.dtype());
  if (splat == nullptr && !view.iota) {
    const BufferId from = storage_.of(view.base);
    const std::vector<std::int64_t> dims = squeezed(shape);
    const StridedCopy copy(dims, view.strides, dense_strides(dims), static_cast<int>(width));
    const auto run = [copy, at = view.offset * static_cast<std::int64_t>(width)](
                         const StepFrame& f) { copy.run(f.in() + at, f.out(), f.parallel); };
    add_step(std::string(n.name), n.location, always(run), {from}, {places_.new_buffer(v)});
    return {};
  }
  if (splat != nullptr && !is_real_element(shape.dtype())) {
    std::array<std::byte, 16> element;  // the widest there is
    std::memcpy(element.data(), splat, width);
    const auto run = [element, width, elements = shape.elements()](const StepFrame& f) {
      fill_splat(f.out(), element.data(), width, elements);
    };
    add_step(std::string(n.name), n.location, always(run), {}, {places_.new_buffer(v)});
    return {};
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
  return add_loop(parts, std::string(n.name), n.location);
}

// A reduction of dimensions in the middle: the loop walks the reduced dimensions first.
Status Emitter::emit_permuted_reduce(const Node& n) {
  const Shape& operand = graph_.shape(n.inputs[0]);
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
  return add_loop(parts, std::string(n.name), n.location);
}

}  // namespace millrace::devices::cpu::compiler
