#include "millrace/devices/cpu/compile/unit_kernel.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "millrace/core/base/pool.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/base/split.h"
#include "millrace/devices/cpu/kernels/movement/sort.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"
#include "millrace/devices/cpu/kernels/reduce/pool.h"
#include "millrace/devices/cpu/kernels/reduce/scan.h"
#include "millrace/devices/cpu/kernels/reduce/select_scatter.h"

namespace millrace::devices::cpu::compiler {
namespace {

// Buffers as the pointers that kernels take.
template <class T>
class Pointers {
 public:
  Pointers(const StepFrame& f, std::span<const BufferId> ids)
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

// It writes nothing, and has no other effect: a loop over its rows may be long all the same.
bool does_nothing(const Graph& graph, const Node& n) {
  return n.name != ir::to_string(ir::OpKind::kCustomCall) && !n.outputs.empty() &&
         std::ranges::all_of(n.outputs, [&](ValueId v) { return graph.shape(v).elements() == 0; });
}

// A simple kernel of a node that changes its first inputs, which the frame has as outputs.
template <class F>
UnitKernel update(const Node& n, F run) {
  UnitKernel made = simple_kernel(n, std::move(run));
  const auto rest = n.inputs.begin() + std::ssize(n.outputs);
  made.needs.updated = {n.inputs.begin(), rest};
  made.needs.inputs = {rest, n.inputs.end()};
  return made;
}

UnitKernel pad_kernel(const Graph& graph, const Node& n) {
  const Shape &in = graph.shape(n.inputs[0]), &out = graph.shape(n.outputs[0]);
  const DimVector in_strides = dense_strides(in), out_strides = dense_strides(out);
  const auto width = static_cast<std::int64_t>(byte_width(in.dtype()));
  // The elements [first, last) of each dimension land inside, step apart. Negative edges cut some
  // off.
  DimVector dims, steps;
  std::int64_t from = 0, to = 0;
  for (std::size_t d = 0; d < n.low.size(); ++d) {
    const std::int64_t step = n.step[d] + 1, low = n.low[d], extent = in.dim(static_cast<int>(d));
    const std::int64_t first = low < 0 ? std::min((-low + step - 1) / step, extent) : 0;
    const std::int64_t room = out.dim(static_cast<int>(d)) - low;  // indices i with i * step < room
    const std::int64_t last = std::clamp(room <= 0 ? 0 : (room + step - 1) / step, first, extent);
    dims.push_back(last - first);
    steps.push_back(out_strides[d] * step);
    from += first * in_strides[d];
    to += (low + first * step) * out_strides[d];
  }
  const StridedCopy copy(dims, in_strides, steps, static_cast<int>(width));
  const bool empty = product(dims) == 0;
  return simple_kernel(n, [=, elements = out.elements()](const StepFrame& f) {
    fill_splat(f.out(), f.in(1), static_cast<std::size_t>(width), elements);
    if (!empty) copy.run(f.in() + from * width, f.out() + to * width, f.parallel);
  });
}

UnitKernel concatenate_kernel(const Graph& graph, const Node& n) {
  const Shape& out = graph.shape(n.outputs[0]);
  const DimVector out_strides = dense_strides(out);
  const auto width = static_cast<std::int64_t>(byte_width(out.dtype()));
  struct Piece {
    StridedCopy copy;
    std::int64_t at;
  };
  std::vector<Piece> pieces;
  std::int64_t start = 0;
  for (ValueId v : n.inputs) {
    const Shape& in = graph.shape(v);
    pieces.push_back(
        {StridedCopy(in.dims(), dense_strides(in), out_strides, static_cast<int>(width)),
         start * out_strides[static_cast<std::size_t>(n.dims[0])] * width});
    start += in.dim(static_cast<int>(n.dims[0]));
  }
  return simple_kernel(n, [pieces = std::move(pieces)](const StepFrame& f) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      pieces[i].copy.run(f.in(i), f.out() + pieces[i].at, f.parallel);
  });
}

// The element type of the start indices, from input `first` on.
DType index_type(const Graph& graph, const Node& n, std::size_t first) {
  return n.inputs.size() > first ? graph.shape(n.inputs[first]).dtype() : DType::kI32;
}

UnitKernel dynamic_slice_kernel(const Graph& graph, const Node& n) {
  const DynamicWindow window(graph.shape(n.inputs[0]), graph.shape(n.outputs[0]),
                             index_type(graph, n, 1));
  return simple_kernel(n, [=](const StepFrame& f) {
    window.slice(f.in(), Pointers<const void>(f, f.inputs.subspan(1)), f.out(), f.parallel);
  });
}

UnitKernel dynamic_update_slice_kernel(const Graph& graph, const Node& n) {
  const DynamicWindow window(graph.shape(n.inputs[0]), graph.shape(n.inputs[1]),
                             index_type(graph, n, 2));
  return update(n, [=](const StepFrame& f) {
    window.update(f.out(), Pointers<const void>(f, f.inputs.subspan(1)), f.in(), f.parallel);
  });
}

UnitKernel gather_kernel(const Graph& graph, const Node& n) {
  const auto walk =
      std::make_shared<const IndexedWalk>(graph.shape(n.inputs[0]), graph.shape(n.inputs[1]),
                                          graph.shape(n.outputs[0]), n.indexed, n.slice_sizes);
  return simple_kernel(
      n, [walk](const StepFrame& f) { walk->gather(f.in(), f.in(1), f.out(), f.parallel); });
}

std::vector<DType> types_of(const Graph& graph, std::span<const ValueId> values) {
  std::vector<DType> types;
  for (ValueId v : values) types.push_back(graph.shape(v).dtype());
  return types;
}

UnitKernel scatter_kernel(const Graph& graph, const Node& n) {
  const std::size_t count = n.outputs.size();
  const Shape& operand = graph.shape(n.inputs[0]);
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(operand.rank()), 1);
  const auto walk = std::make_shared<const IndexedWalk>(
      operand, graph.shape(n.inputs[count]), graph.shape(n.inputs[count + 1]), n.indexed, ones);
  return update(n, [walk, region = n.region,
                    types = types_of(graph, std::span(n.inputs).first(count))](const StepFrame& f) {
    walk->scatter(*region, types, Pointers<void>(f, f.outputs), f.in(),
                  Pointers<const void>(f, f.inputs.subspan(1)));
  });
}

// The operands come before the initial values.
UnitKernel reduce_kernel(const Graph& graph, const Node& n) {
  const std::size_t count = n.outputs.size();
  const Shape& shape = graph.shape(n.inputs[0]);
  const auto types = types_of(graph, std::span(n.inputs).first(count));
  const std::size_t scratch = reduce_region_scratch_bytes(shape.dims(), n.dims, types);
  return simple_kernel(
      n,
      [region = n.region, shape, dims = n.dims, count, types](const StepFrame& f) {
        reduce_region(*region, shape.dims(), dims, types,
                      Pointers<const void>(f, f.inputs.first(count)),
                      Pointers<const void>(f, f.inputs.subspan(count)),
                      Pointers<void>(f, f.outputs), f.scratch, f.parallel);
      },
      scratch);
}

std::optional<PoolKind> pool_kind(TileOp op) {
  if (op == TileOp::kMaximum) return PoolKind::kMaximum;
  if (op == TileOp::kMinimum) return PoolKind::kMinimum;
  if (op == TileOp::kAdd) return PoolKind::kSum;
  return std::nullopt;
}

UnitKernel reduce_window_kernel(const Graph& graph, const Node& n) {
  const std::size_t count = n.outputs.size();
  const Shape& shape = graph.shape(n.inputs[0]);
  std::optional<Scan> scan = find_scan(n.window, shape.dims());
  // Backwards, a scan adds in another order than a window does.
  if (scan && scan->reverse && is_floating(shape.dtype()) &&
      shape.dim(static_cast<int>(scan->dimension)) < kLongScan) {
    scan.reset();
  }
  const std::optional<PoolKind> kind =
      count == 1 && n.region->kind ? pool_kind(*n.region->kind) : std::nullopt;
  if (kind && !scan && shape.dtype() == DType::kF32) {
    if (const auto g = pool_geometry(shape.dims(), n.window); g && suits_pool(*g)) {
      UnitKernel made = simple_kernel(
          n,
          [g = *g, kind = *kind](const StepFrame& f) {
            pool(g, kind, f.in<float>(), *f.in<float>(1), f.out<float>(), f.scratch, f.parallel);
          },
          pool_scratch_bytes(*g));
      made.name += " as pooling";
      return made;
    }
  }
  return simple_kernel(
      n, [region = n.region, shape, window = n.window, scan, count,
          types = types_of(graph, std::span(n.inputs).first(count))](const StepFrame& f) {
        const Pointers<const void> operands(f, f.inputs.first(count)),
            inits(f, f.inputs.subspan(count));
        const Pointers<void> results(f, f.outputs);
        if (scan) {
          scan_region(*region, *scan, shape.dims(), types, operands, inits, results, f.parallel);
        } else {
          reduce_window_region(*region, shape.dims(), window, types, operands, inits, results,
                               f.parallel);
        }
      });
}

UnitKernel select_and_scatter_kernel(const Graph& graph, const Node& n) {
  const Shape& shape = graph.shape(n.inputs[0]);
  if (shape.dtype() == DType::kF32 && n.region->comparison == TileOp::kGe &&
      n.region2->kind == TileOp::kAdd) {
    const auto g = pool_geometry(shape.dims(), n.window);
    if (g && has_pool_gradient(*g)) {
      UnitKernel made = simple_kernel(
          n,
          [g = *g](const StepFrame& f) {
            pool_gradient(g, f.in<float>(), f.in<float>(1), *f.in<float>(2), f.out<float>(),
                          f.scratch, f.parallel);
          },
          pool_gradient_scratch_bytes(*g));
      made.name += " as pooling";
      return made;
    }
  }
  if (auto fast = SelectScatter::create(shape.dtype(), n.region->comparison, n.region2->kind,
                                        shape.dims(), n.window)) {
    UnitKernel made = simple_kernel(n, [fast = *std::move(fast)](const StepFrame& f) {
      fast.run(f.in(), f.in(1), f.in(2), f.out(), f.parallel);
    });
    made.name += " as comparisons";
    return made;
  }
  return simple_kernel(
      n, [select = n.region, scatter = n.region2, shape, window = n.window](const StepFrame& f) {
        select_and_scatter_region(*select, *scatter, shape.dims(), window, shape.dtype(), f.in(),
                                  f.in(1), f.in(2), f.out(), f.parallel);
      });
}

UnitKernel sort_kernel(const Graph& graph, const Node& n) {
  const Shape& shape = graph.shape(n.inputs[0]);
  const auto dimension = static_cast<int>(n.dims[0]);
  return simple_kernel(
      n,
      [region = n.region, shape, dimension, types = types_of(graph, n.inputs)](const StepFrame& f) {
        sort(*region, shape, dimension, types, Pointers<const void>(f, f.inputs),
             Pointers<void>(f, f.outputs), f.scratch, f.parallel);
      },
      sort_scratch_bytes(*n.region, shape, dimension));
}

// How threads share the arrays of a kernel: by the places of its independent dimensions.
struct Batch {
  static constexpr int kMostParts = 16;

  int dims;
  Parts parts;

  Batch(const definition::Kernel& kernel, std::span<const ConstArray> from,
        std::span<const MutableArray> into)
      : dims(kernel.independent_dims(from, into)), parts(1, 1, 1) {
    if (dims == 0) return;
    constexpr std::int64_t kPart = 4 << 10;  // elements
    std::int64_t largest = 0;
    for (const ConstArray& a : from) largest = std::max(largest, a.shape.elements());
    for (const MutableArray& a : into) largest = std::max(largest, a.shape.elements());
    parts = Parts(product(into[0].shape.dims().first(static_cast<std::size_t>(dims))),
                  largest / kPart, kMostParts);
  }

  std::int64_t largest_part() const { return (parts.n + parts.count - 1) / parts.count; }
  // The array of `count` of the places.
  Shape some(const Shape& whole, std::int64_t count) const {
    if (parts.count == 1) return whole;
    DimVector left;
    left.push_back(count);
    for (int d = dims; d < whole.rank(); ++d) left.push_back(whole.dim(d));
    return Shape(whole.dtype(), left);
  }
  std::size_t offset(const Shape& whole, std::int64_t place) const {
    return whole.size_bytes() / static_cast<std::size_t>(parts.n) * static_cast<std::size_t>(place);
  }
};

UnitKernel reference_kernel(const Graph& graph, const Node& n) {
  if (n.exchange) {
    return {.name = n.exchange->gives ? "give" : "take",
            .location = n.location,
            .needs = {.inputs = n.inputs, .outputs = n.outputs},
            .bytes = graph.shape(n.exchange->gives ? n.inputs[0] : n.outputs[0]).size_bytes(),
            .exchange = n.exchange};
  }
  std::vector<ConstArray> from;
  std::vector<MutableArray> into;
  for (ValueId v : n.inputs) from.push_back({graph.shape(v)});
  for (ValueId v : n.outputs) into.push_back({graph.shape(v)});
  const Batch batch(*n.kernel, from, into);
  // Each part's scratch: the lists of arrays, then what the kernel wants.
  std::vector<ConstArray> some_from;
  std::vector<MutableArray> some_into;
  for (const ConstArray& a : from) some_from.push_back({batch.some(a.shape, batch.largest_part())});
  for (const MutableArray& a : into)
    some_into.push_back({batch.some(a.shape, batch.largest_part())});
  const std::size_t own = n.kernel->scratch_bytes(some_from, some_into);
  definition::Scratch all;
  all.take<ConstArray>(std::ssize(from));
  all.take<MutableArray>(std::ssize(into));
  all.take<std::byte>(static_cast<std::int64_t>(own));
  const std::size_t bytes = all.taken_bytes();
  const auto run_part = [kernel = n.kernel, from, into, own, bytes, batch](const StepFrame& f,
                                                                           int part) -> Status {
    definition::Scratch scratch(
        std::span(f.scratch + static_cast<std::size_t>(part) * bytes, bytes));
    const auto in = scratch.take<ConstArray>(std::ssize(from));
    const auto out = scratch.take<MutableArray>(std::ssize(into));
    const std::int64_t begin = batch.parts.begin(part), count = batch.parts.begin(part + 1) - begin;
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = {batch.some(from[i].shape, count), f.in(i) + batch.offset(from[i].shape, begin)};
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = {batch.some(into[i].shape, count), f.out(i) + batch.offset(into[i].shape, begin)};
    return kernel->run(in, out, scratch.take<std::byte>(static_cast<std::int64_t>(own)));
  };
  return {.name = std::string(n.name),
          .location = n.location,
          .needs = {.inputs = n.inputs,
                    .outputs = n.outputs,
                    .scratch_bytes = bytes * static_cast<std::size_t>(batch.parts.count)},
          .run = [run_part, parts = batch.parts.count](const StepFrame& f) -> Status {
            if (parts == 1) return run_part(f, 0);
            std::array<Status, Batch::kMostParts> statuses;
            f.parallel.run(parts, [&](int part) {
              statuses[static_cast<std::size_t>(part)] = run_part(f, part);
            });
            for (Status& status : statuses) MILLRACE_TRY_STATUS(std::move(status));
            return {};
          }};
}

}  // namespace

Result<UnitKernel> node_kernel(const Graph& graph, const Node& n, const PlanOptions& options,
                               KernelChoices& choices) {
  if (does_nothing(graph, n)) {
    UnitKernel nothing = simple_kernel(n, [](const StepFrame&) {});
    nothing.name += " of no elements";
    nothing.needs.inputs.clear();
    return nothing;
  }
  if (n.kind == NodeKind::kConvolution) return convolution_kernel(graph, n, options, choices);
  if (n.kind == NodeKind::kDot) return dot_kernel(graph, n);
  using Make = UnitKernel(const Graph&, const Node&);
  static constexpr std::pair<NodeKind, Make*> kOthers[] = {
      {NodeKind::kPad, pad_kernel},
      {NodeKind::kConcatenate, concatenate_kernel},
      {NodeKind::kDynamicSlice, dynamic_slice_kernel},
      {NodeKind::kDynamicUpdateSlice, dynamic_update_slice_kernel},
      {NodeKind::kGather, gather_kernel},
      {NodeKind::kScatter, scatter_kernel},
      {NodeKind::kReduce, reduce_kernel},
      {NodeKind::kReduceWindow, reduce_window_kernel},
      {NodeKind::kSelectAndScatter, select_and_scatter_kernel},
      {NodeKind::kSort, sort_kernel},
      {NodeKind::kReference, reference_kernel}};
  for (const auto& [kind, make] : kOthers) {
    if (kind == n.kind) return make(graph, n);
  }
  return fail(ErrorCode::kInternal, "a node that is no unit: " + std::string(n.name));
}

}  // namespace millrace::devices::cpu::compiler
