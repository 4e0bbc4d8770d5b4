// The part of Emitter for nodes that are kernels of their own.
#include <algorithm>
#include <cstring>

#include "millrace/core/pool.h"
#include "millrace/devices/cpu/kernels/element.h"
#include "millrace/devices/cpu/kernels/pool.h"
#include "millrace/devices/cpu/kernels/scan.h"
#include "millrace/devices/cpu/kernels/strided.h"
#include "millrace/devices/cpu/plan/emit.h"

namespace millrace::devices::cpu::plan {
namespace {

// Buffers as the pointers that kernels take.
template <class T>
class Pointers {
 public:
  Pointers(const StepFrame& f, const std::vector<BufferId>& ids)
      : size_(ids.size()), many_(size_ <= kFew ? 0 : size_) {
    T** const all = many_.empty() ? few_ : many_.data();
    for (std::size_t i = 0; i < size_; ++i) all[i] = f.at(ids[i]);
  }
  operator std::span<T* const>() const {  // NOLINT(google-explicit-constructor)
    return {many_.empty() ? few_ : many_.data(), size_};
  }

 private:
  static constexpr std::size_t kFew = 16;
  T* few_[kFew];
  const std::size_t size_;
  PooledVector<T*> many_;
};

}  // namespace

// It writes nothing, and has no other effect: a loop over its rows may be long all the same.
bool Emitter::does_nothing(const Node& n) const {
  const bool may_act = n.kind == NodeKind::kWhile || n.kind == NodeKind::kCase ||
                       n.name == ir::to_string(ir::OpKind::kCustomCall);
  return !may_act && !n.outputs.empty() &&
         std::ranges::all_of(n.outputs, [&](ValueId v) { return graph_.shape(v).elements() == 0; });
}

Status Emitter::emit_node(BlockState& s, const Node& n, StepList& to) {
  if (does_nothing(n)) {
    for (const ValueId v : n.outputs) new_buffer(s, v);
    add_step(to, std::string(n.name) + " of no elements", n.location, 0).run =
        [](const StepFrame&) -> Status { return {}; };
    return {};
  }
  switch (n.kind) {
    case NodeKind::kPad:
      emit_pad(s, n, to);
      return {};
    case NodeKind::kConcatenate:
      emit_concatenate(s, n, to);
      return {};
    case NodeKind::kDynamicSlice:
      emit_dynamic_slice(s, n, to);
      return {};
    case NodeKind::kDynamicUpdateSlice:
      emit_dynamic_update_slice(s, n, to);
      return {};
    case NodeKind::kGather:
      emit_gather(s, n, to);
      return {};
    case NodeKind::kScatter:
      emit_scatter(s, n, to);
      return {};
    case NodeKind::kReduce:
      if (n.outputs.size() == 1 && n.region->kind &&
          find_reduce_loops(*n.region->kind, graph_.shape(n.inputs[0]).dtype())) {
        return emit_permuted_reduce(s, n, to);
      }
      emit_reduce(s, n, to);
      return {};
    case NodeKind::kReduceWindow:
      emit_reduce_window(s, n, to);
      return {};
    case NodeKind::kSelectAndScatter:
      emit_select_and_scatter(s, n, to);
      return {};
    case NodeKind::kSort:
      emit_sort(s, n, to);
      return {};
    case NodeKind::kDot:
      return emit_dot(s, n, to);
    case NodeKind::kConvolution:
      return emit_convolution(s, n, to);
    case NodeKind::kReference:
      emit_reference(s, n, to);
      return {};
    case NodeKind::kWhile:
      return emit_while(s, n, to);
    case NodeKind::kCase:
      return emit_case(s, n, to);
    default:
      return fail(ErrorCode::kInternal,
                  "a node that is no unit: " + std::string(to_string(n.kind)));
  }
}

void Emitter::emit_pad(BlockState& s, const Node& n, StepList& to) {
  const Shape &in = graph_.shape(n.inputs[0]), &out = graph_.shape(n.outputs[0]);
  const DimVector in_strides = dense_strides(in), out_strides = dense_strides(out);
  const auto width = static_cast<std::int64_t>(byte_width(in.dtype()));
  // Of each dimension, the elements [first, last) land inside, step apart. Negative edges cut some
  // off.
  DimVector dims, steps;
  std::int64_t from_offset = 0, to_offset = 0;
  for (std::size_t d = 0; d < n.low.size(); ++d) {
    const std::int64_t step = n.step[d] + 1, low = n.low[d], extent = in.dim(static_cast<int>(d));
    const std::int64_t first = low < 0 ? std::min((-low + step - 1) / step, extent) : 0;
    const std::int64_t room = out.dim(static_cast<int>(d)) - low;  // indices i with i * step < room
    const std::int64_t last = std::clamp(room <= 0 ? 0 : (room + step - 1) / step, first, extent);
    dims.push_back(last - first);
    steps.push_back(out_strides[d] * step);
    from_offset += first * in_strides[d];
    to_offset += (low + first * step) * out_strides[d];
  }
  const BufferId from = buffer_of(n.inputs[0]), value = buffer_of(n.inputs[1]),
                 target = new_buffer(s, n.outputs[0]);
  const StridedCopy copy(dims, in_strides, steps, static_cast<int>(width));
  const bool empty = product(dims) == 0;
  add_step(to, std::string(n.name), n.location, 0).run =
      [=, elements = out.elements()](const StepFrame& f) -> Status {
    fill_splat(f.at(target), f.at(value), static_cast<std::size_t>(width), elements);
    if (!empty)
      copy.run(f.at(from) + from_offset * width, f.at(target) + to_offset * width, f.parallel);
    return {};
  };
}

void Emitter::emit_concatenate(BlockState& s, const Node& n, StepList& to) {
  const Shape& out = graph_.shape(n.outputs[0]);
  const DimVector out_strides = dense_strides(out);
  const auto width = static_cast<std::int64_t>(byte_width(out.dtype()));
  struct Piece {
    StridedCopy copy;
    BufferId from;
    std::int64_t at;
  };
  std::vector<Piece> pieces;
  std::int64_t start = 0;
  for (ValueId v : n.inputs) {
    const Shape& in = graph_.shape(v);
    pieces.push_back(
        {StridedCopy(in.dims(), dense_strides(in), out_strides, static_cast<int>(width)),
         buffer_of(v), start * out_strides[static_cast<std::size_t>(n.dims[0])] * width});
    start += in.dim(static_cast<int>(n.dims[0]));
  }
  const BufferId target = new_buffer(s, n.outputs[0]);
  add_step(to, std::string(n.name), n.location, 0).run = [pieces = std::move(pieces),
                                                          target](const StepFrame& f) -> Status {
    for (const Piece& p : pieces) p.copy.run(f.at(p.from), f.at(target) + p.at, f.parallel);
    return {};
  };
}

void Emitter::emit_dynamic_slice(BlockState& s, const Node& n, StepList& to) {
  std::vector<BufferId> starts;
  for (std::size_t i = 1; i < n.inputs.size(); ++i) starts.push_back(buffer_of(n.inputs[i]));
  const Shape operand = graph_.shape(n.inputs[0]), result = graph_.shape(n.outputs[0]);
  const DType index = n.inputs.size() > 1 ? graph_.shape(n.inputs[1]).dtype() : DType::kI32;
  const BufferId from = buffer_of(n.inputs[0]), target = new_buffer(s, n.outputs[0]);
  add_step(to, std::string(n.name), n.location, 0).run = [=](const StepFrame& f) -> Status {
    dynamic_slice(operand, result, index, f.at(from), Pointers<const void>(f, starts), f.at(target),
                  f.parallel);
    return {};
  };
}

BufferId Emitter::take_or_copy(BlockState& s, const Node& n, ValueId operand, ValueId output,
                               StepList& to) {
  const BufferId from = buffer_of(operand);
  // Another operand that is a piece of this one would be overwritten before it is read.
  const bool alone = std::count_if(n.inputs.begin(), n.inputs.end(),
                                   [&](ValueId v) { return storage(v) == storage(operand); }) == 1;
  if (alone && may_become(s, operand, output)) {
    set_buffer(s, output, from);
    return from;
  }
  const BufferId target = new_buffer(s, output);
  // The copy is skipped when a donated input is the output: the step then updates it in place.
  if (alone && out_.buffers[from].home == Home::kInput && out_.buffers[from].root == from)
    write_output(target, out_.buffers[from].index);
  const std::size_t size = bytes(output);
  add_step(to, "copy", n.location, 0).run = [from, target, size](const StepFrame& f) -> Status {
    if (size > 0 && f.at(target) != f.at(from)) std::memcpy(f.at(target), f.at(from), size);
    return {};
  };
  return target;
}

void Emitter::emit_dynamic_update_slice(BlockState& s, const Node& n, StepList& to) {
  std::vector<BufferId> starts;
  for (std::size_t i = 2; i < n.inputs.size(); ++i) starts.push_back(buffer_of(n.inputs[i]));
  const BufferId update = buffer_of(n.inputs[1]);
  const Shape operand = graph_.shape(n.inputs[0]), update_shape = graph_.shape(n.inputs[1]);
  const DType index = n.inputs.size() > 2 ? graph_.shape(n.inputs[2]).dtype() : DType::kI32;
  const BufferId target = take_or_copy(s, n, n.inputs[0], n.outputs[0], to);
  add_step(to, std::string(n.name), n.location, 0).run = [=](const StepFrame& f) -> Status {
    dynamic_update_slice(operand, update_shape, index, f.at(update),
                         Pointers<const void>(f, starts), f.at(target), f.parallel);
    return {};
  };
}

void Emitter::emit_gather(BlockState& s, const Node& n, StepList& to) {
  auto walk =
      std::make_shared<const IndexedWalk>(graph_.shape(n.inputs[0]), graph_.shape(n.inputs[1]),
                                          graph_.shape(n.outputs[0]), n.indexed, n.slice_sizes);
  const BufferId operand = buffer_of(n.inputs[0]), indices = buffer_of(n.inputs[1]);
  const BufferId target = new_buffer(s, n.outputs[0]);
  add_step(to, std::string(n.name), n.location, 0).run = [=](const StepFrame& f) -> Status {
    walk->gather(f.at(operand), f.at(indices), f.at(target), f.parallel);
    return {};
  };
}

void Emitter::emit_scatter(BlockState& s, const Node& n, StepList& to) {
  const std::size_t count = n.outputs.size();
  const Shape& operand = graph_.shape(n.inputs[0]);
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(operand.rank()), 1);
  auto walk = std::make_shared<const IndexedWalk>(
      operand, graph_.shape(n.inputs[count]), graph_.shape(n.inputs[count + 1]), n.indexed, ones);
  std::vector<BufferId> updates, targets;
  std::vector<DType> types;
  const BufferId indices = buffer_of(n.inputs[count]);
  for (std::size_t i = 0; i < count; ++i) {
    updates.push_back(buffer_of(n.inputs[count + 1 + i]));
    types.push_back(graph_.shape(n.inputs[i]).dtype());
  }
  for (std::size_t i = 0; i < count; ++i)
    targets.push_back(take_or_copy(s, n, n.inputs[i], n.outputs[i], to));
  add_step(to, std::string(n.name), n.location, 0).run =
      [walk, region = n.region, types, indices, updates, targets](const StepFrame& f) -> Status {
    walk->scatter(*region, types, Pointers<void>(f, targets), f.at(indices),
                  Pointers<const void>(f, updates));
    return {};
  };
}

// The operands, inits and results of a variadic reduction.
struct Emitter::Variadic {
  std::vector<BufferId> operands, inits, results;
  std::vector<DType> types;
};

Emitter::Variadic Emitter::variadic(BlockState& s, const Node& n) {
  Variadic v;
  const std::size_t count = n.outputs.size();
  for (std::size_t i = 0; i < count; ++i) {
    v.operands.push_back(buffer_of(n.inputs[i]));
    v.inits.push_back(buffer_of(n.inputs[count + i]));
    v.types.push_back(graph_.shape(n.inputs[i]).dtype());
  }
  for (ValueId out : n.outputs) v.results.push_back(new_buffer(s, out));
  return v;
}

void Emitter::emit_reduce(BlockState& s, const Node& n, StepList& to) {
  Variadic v = variadic(s, n);
  add_step(to, std::string(n.name), n.location, 0).run =
      [v = std::move(v), region = n.region, shape = graph_.shape(n.inputs[0]),
       dims = n.dims](const StepFrame& f) -> Status {
    reduce_region(*region, shape.dims(), dims, v.types, Pointers<const void>(f, v.operands),
                  Pointers<const void>(f, v.inits), Pointers<void>(f, v.results), f.parallel);
    return {};
  };
}

void Emitter::emit_reduce_window(BlockState& s, const Node& n, StepList& to) {
  const std::optional<ReduceKind> kind = n.outputs.size() == 1 ? n.region->kind : std::nullopt;
  if ((kind == ReduceKind::kMax || kind == ReduceKind::kMin) &&
      graph_.shape(n.inputs[0]).dtype() == DType::kF32) {
    if (const auto g = pool_geometry(graph_.shape(n.inputs[0]).dims(), n.window)) {
      const BufferId x = buffer_of(n.inputs[0]), init = buffer_of(n.inputs[1]),
                     target = new_buffer(s, n.outputs[0]);
      add_step(to, std::string(n.name) + " as pooling", n.location, pool_scratch_bytes(*g)).run =
          [=, g = *g, maximum = kind == ReduceKind::kMax](const StepFrame& f) -> Status {
        pool(g, maximum, f.at<float>(x), *f.at<float>(init), f.at<float>(target), f.scratch,
             f.parallel);
        return {};
      };
      return;
    }
  }
  Variadic v = variadic(s, n);
  const std::span<const std::int64_t> dims = graph_.shape(n.inputs[0]).dims();
  std::optional<Scan> found = find_scan(n.window, dims);
  // Backwards, a scan adds in another order than a window: where that is seen, only long windows,
  // for which it is the difference between n and n * n, are worth the other roundings.
  constexpr std::int64_t kLongWindow = 256;
  if (found && found->reverse && is_floating(v.types[0]) &&
      dims[static_cast<std::size_t>(found->dimension)] < kLongWindow) {
    found.reset();
  }
  add_step(to, std::string(n.name), n.location, 0).run =
      [v = std::move(v), region = n.region, shape = graph_.shape(n.inputs[0]), window = n.window,
       scan = found](const StepFrame& f) -> Status {
    const Pointers<const void> operands(f, v.operands), inits(f, v.inits);
    const Pointers<void> results(f, v.results);
    if (scan &&
        scan_region(*region, *scan, shape.dims(), v.types, operands, inits, results, f.parallel)) {
      return {};
    }
    reduce_window_region(*region, shape.dims(), window, v.types, operands, inits, results,
                         f.parallel);
    return {};
  };
}

void Emitter::emit_select_and_scatter(BlockState& s, const Node& n, StepList& to) {
  const BufferId operand = buffer_of(n.inputs[0]), source = buffer_of(n.inputs[1]),
                 init = buffer_of(n.inputs[2]);
  const BufferId target = new_buffer(s, n.outputs[0]);
  const Shape& shape = graph_.shape(n.inputs[0]);
  if (shape.dtype() == DType::kF32 && n.region->comparison == TileOp::kGe &&
      n.region2->kind == ReduceKind::kAdd) {
    const auto g = pool_geometry(shape.dims(), n.window);
    if (g && has_pool_gradient(*g)) {
      add_step(to, std::string(n.name) + " as pooling", n.location, pool_scratch_bytes(*g)).run =
          [=, g = *g](const StepFrame& f) -> Status {
        pool_gradient(g, f.at<float>(operand), f.at<float>(source), *f.at<float>(init),
                      f.at<float>(target), f.scratch, f.parallel);
        return {};
      };
      return;
    }
  }
  add_step(to, std::string(n.name), n.location, 0).run =
      [=, select = n.region, scatter = n.region2, shape = graph_.shape(n.inputs[0]),
       window = n.window](const StepFrame& f) -> Status {
    select_and_scatter_region(*select, *scatter, shape.dims(), window, shape.dtype(), f.at(operand),
                              f.at(source), f.at(init), f.at(target));
    return {};
  };
}

void Emitter::emit_sort(BlockState& s, const Node& n, StepList& to) {
  std::vector<BufferId> operands, targets;
  std::vector<DType> types;
  for (ValueId v : n.inputs) {
    operands.push_back(buffer_of(v));
    types.push_back(graph_.shape(v).dtype());
  }
  for (ValueId v : n.outputs) targets.push_back(new_buffer(s, v));
  const Shape shape = graph_.shape(n.inputs[0]);
  const auto dimension = static_cast<int>(n.dims[0]);
  add_step(to, std::string(n.name), n.location, sort_scratch_bytes(shape, dimension)).run =
      [=, region = n.region](const StepFrame& f) -> Status {
    sort(*region, shape, dimension, types, Pointers<const void>(f, operands),
         Pointers<void>(f, targets), f.scratch);
    return {};
  };
}

void Emitter::emit_reference(BlockState& s, const Node& n, StepList& to) {
  std::vector<BufferId> operands, targets;
  std::vector<ConstArray> from;
  std::vector<MutableArray> into;
  for (ValueId v : n.inputs) {
    operands.push_back(buffer_of(v));
    from.push_back({graph_.shape(v)});
  }
  for (ValueId v : n.outputs) {
    targets.push_back(new_buffer(s, v));
    into.push_back({graph_.shape(v)});
  }
  // In the step's scratch: the lists of arrays, then what the kernel wants.
  const std::size_t own = n.kernel->scratch_bytes(from, into);
  reference::Scratch all;
  all.take<ConstArray>(std::ssize(from));
  all.take<MutableArray>(std::ssize(into));
  all.take<std::byte>(static_cast<std::int64_t>(own));
  add_step(to, std::string(n.name), n.location, all.taken_bytes()).run =
      [kernel = n.kernel, operands, targets, from, into, own,
       bytes = all.taken_bytes()](const StepFrame& f) -> Status {
    reference::Scratch scratch(std::span(f.scratch, bytes));
    const auto in = scratch.take<ConstArray>(std::ssize(from));
    const auto out = scratch.take<MutableArray>(std::ssize(into));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = {from[i].shape, f.at(operands[i])};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {into[i].shape, f.at(targets[i])};
    return kernel->run(in, out, scratch.take<std::byte>(static_cast<std::int64_t>(own)));
  };
}

}  // namespace millrace::devices::cpu::plan
