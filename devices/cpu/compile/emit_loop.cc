// The fused loops, and the copies of views, of a block.
#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "millrace/devices/cpu/compile/emit.h"
#include "millrace/devices/cpu/compile/view.h"
#include "millrace/devices/cpu/kernels/element.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"

namespace millrace::devices::cpu::compiler {

int LoopParts::buffer(BufferId b) {
  const auto it = std::find(buffers.begin(), buffers.end(), b);
  if (it != buffers.end()) return static_cast<int>(it - buffers.begin());
  buffers.push_back(b);
  return static_cast<int>(buffers.size()) - 1;
}

Status Emitter::emit_group(const Unit& unit) {
  const Group& group = units_.groups[static_cast<std::size_t>(unit.group)];
  LoopParts parts;
  parts.spec.dims = group.dims;
  parts.spec.reduced = group.reduced;
  TileProgram& program = parts.spec.program;
  std::map<ValueId, int> made;  // values of the group
  std::map<std::pair<DType, std::string>, int> constants;
  std::map<std::tuple<BufferId, bool, std::int64_t, std::vector<std::int64_t>, DType>, int> loads;

  const auto operand = [&](ValueId v) {
    if (const auto it = made.find(strip(graph_, v)); it != made.end()) return it->second;
    const DType type = graph_.shape(v).dtype();
    if (const std::byte* value = splat_constant(graph_, v)) {
      const std::string key(reinterpret_cast<const char*>(value), byte_width(type));
      const auto [it, inserted] = constants.emplace(std::pair(type, key), -1);
      if (inserted) it->second = program.add_constant(type, value);
      return it->second;
    }
    const View view = resolve(graph_, v);
    const BufferId b = view.iota ? -1 : storage_.of(view.base);
    const auto [it, inserted] =
        loads.emplace(std::tuple(b, view.iota, view.offset, view.strides, type), -1);
    if (inserted) {
      it->second = program.add_input(type);
      parts.spec.inputs.push_back({.iota = view.iota,
                                   .buffer = b < 0 ? -1 : parts.buffer(b),
                                   .offset = view.offset,
                                   .strides = view.strides});
      parts.sources.push_back(view.iota ? -1 : view.base);
    }
    return it->second;
  };

  std::map<ValueId, std::pair<int, LoopOutput>> outputs;
  for (NodeId id : group.nodes) {
    const Node& n = graph_.node(id);
    if (n.kind == NodeKind::kReduce) {
      LoopOutput o{.reduce = true, .kind = *n.region->kind};
      const int value = operand(n.inputs[0]);
      o.init = parts.buffer(storage_.of(n.inputs[1]));
      outputs[n.outputs[0]] = {value, o};
      continue;
    }
    std::vector<int> ins;
    ins.reserve(n.inputs.size());
    for (ValueId v : n.inputs) ins.push_back(operand(v));
    const int value = program.add(n.op, ins, graph_.shape(n.outputs[0]).dtype(), n.param);
    if (value < 0) {
      return fail(ErrorCode::kUnimplemented,
                  ir::to_string(n.location) + ": " + std::string(n.name) +
                      ": this element type is not supported by the CPU device");
    }
    made[n.outputs[0]] = value;
    outputs[n.outputs[0]] = {value, {}};
  }
  for (ValueId v : unit.writes) {
    const auto& [value, output] = outputs.at(v);
    program.add_output(value);
    parts.spec.outputs.push_back(output);
    parts.results.push_back(v);
  }
  const Node& first = graph_.node(group.nodes.front());
  parts.name = group.nodes.size() == 1 ? std::string(first.name)
                                       : "fused loop of " + std::to_string(group.nodes.size());
  parts.location = first.location;
  return add_loop(std::move(parts));
}

// Makes the kernel, decides which outputs overwrite inputs, and adds the step.
Status Emitter::add_loop(LoopParts parts) {
  const auto too_large = [&] {
    return fail(ErrorCode::kInternal, ir::to_string(parts.location) + ": " + parts.name +
                                          ": the fused loop does not fit");
  };
  if (!parts.spec.program.finish()) return too_large();
  const std::vector<LoopInput> inputs = parts.spec.inputs;
  const std::size_t touched = bytes_of_loop(graph_, storage_.owners, parts);
  auto made = LoopKernel::make(std::move(parts.spec));
  if (!made) return too_large();
  auto kernel = std::make_shared<const LoopKernel>(*std::move(made));

  const auto reads_of = [&](BufferId root) {
    return std::count_if(inputs.begin(), inputs.end(), [&](const LoopInput& i) {
      return !i.iota &&
             storage_.buffers[parts.buffers[static_cast<std::size_t>(i.buffer)]].root == root;
    });
  };
  std::vector<BufferId> outputs;
  std::set<BufferId> overwritten;
  for (std::size_t o = 0; o < parts.results.size(); ++o) {
    const ValueId v = parts.results[o];
    BufferId target = -1;
    std::vector<int> donors;
    for (std::size_t i = 0; i < inputs.size() && target < 0; ++i) {
      if (inputs[i].iota || !kernel->can_overwrite(static_cast<int>(o), static_cast<int>(i))) {
        continue;
      }
      const BufferId b = parts.buffers[static_cast<std::size_t>(inputs[i].buffer)];
      if (reads_of(storage_.buffers[b].root) != 1 || overwritten.contains(b)) continue;
      if (storage_.buffers[b].home == Home::kInput) donors.push_back(storage_.buffers[b].index);
      if (places_.may_become(parts.sources[i], v)) target = b;
    }
    if (target >= 0) {
      overwritten.insert(target);
      places_.set(v, target);
    } else {
      target = places_.new_buffer(v);
      for (int input : donors) storage_.write_output_over(target, input);
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
  add_step(parts.name, parts.location, always(run), std::move(parts.buffers), std::move(outputs),
           kernel->scratch_bytes())
      .info.bytes = touched;
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
    parts.sources.push_back(-1);
  }
  parts.spec.program.add_output(0);
  parts.spec.outputs.push_back({});
  parts.results = {v};
  parts.name = std::string(n.name);
  parts.location = n.location;
  return add_loop(std::move(parts));
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
  input.buffer = parts.buffer(storage_.of(n.inputs[0]));
  parts.sources.push_back(n.inputs[0]);
  parts.spec.inputs.push_back(input);
  parts.spec.program.add_output(parts.spec.program.add_input(operand.dtype()));
  parts.spec.outputs.push_back(
      {.reduce = true, .kind = *n.region->kind, .init = parts.buffer(storage_.of(n.inputs[1]))});
  parts.results = n.outputs;
  parts.name = std::string(n.name);
  parts.location = n.location;
  return add_loop(std::move(parts));
}

}  // namespace millrace::devices::cpu::compiler
