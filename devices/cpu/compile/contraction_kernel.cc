// The kernels of dots and convolutions: what oneDNN does, and loops of ours for the rest.
#include <algorithm>
#include <array>
#include <optional>

#include "millrace/devices/cpu/compile/unit_kernel.h"
#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/contraction/gemm.h"
#include "millrace/devices/cpu/kernels/convolution/gemm_convolution.h"
#include "millrace/devices/cpu/kernels/functions/tile_op.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"

namespace millrace::devices::cpu::compiler {
namespace {

std::size_t align64(std::size_t n) { return (n + 63) & ~std::size_t{63}; }

// Dimensions that are walked as one: their product and the stride of the last; nullopt if they
// cannot be.
struct Axis {
  std::int64_t size = 1, stride = 1;
};
std::optional<Axis> collapse(const std::vector<std::int64_t>& list, const Shape& shape) {
  const DimVector strides = dense_strides(shape);
  Axis axis;
  bool first = true;
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    const std::int64_t dim = shape.dim(static_cast<int>(*it)),
                       stride = strides[static_cast<std::size_t>(*it)];
    if (dim == 1) continue;
    if (first)
      axis.stride = stride;
    else if (stride != axis.stride * axis.size)
      return std::nullopt;
    axis.size *= dim;
    first = false;
  }
  return axis;
}

// One operand of a matmul: batch, outer (rows or columns) and inner (contracted) dimensions.
struct Operand {
  Axis batch, outer, inner;
  std::optional<StridedCopy> copy;  // made dense in this order first
};

Operand operand_of(const Shape& shape, const std::vector<std::int64_t>& batch,
                   const std::vector<std::int64_t>& inner) {
  std::vector<std::int64_t> outer;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!contains(batch, d) && !contains(inner, d)) outer.push_back(d);
  }
  const auto b = collapse(batch, shape), o = collapse(outer, shape), i = collapse(inner, shape);
  if (b && o && i && (o->stride == 1 || i->stride == 1 || o->size == 1 || i->size == 1)) {
    return {.batch = *b, .outer = *o, .inner = *i, .copy = std::nullopt};
  }
  DimVector dims, from;
  const DimVector strides = dense_strides(shape);
  Operand result;
  const std::vector<std::int64_t>* const lists[] = {&batch, &outer, &inner};
  for (const auto* list : lists) {
    for (std::int64_t d : *list) {
      dims.push_back(shape.dim(static_cast<int>(d)));
      from.push_back(strides[static_cast<std::size_t>(d)]);
      (list == &batch   ? result.batch
       : list == &outer ? result.outer
                        : result.inner)
          .size *= dims.back();
    }
  }
  result.inner.stride = 1;
  result.outer.stride = result.inner.size;
  result.batch.stride = result.inner.size * result.outer.size;
  result.copy.emplace(dims, from, dense_strides(dims), static_cast<int>(byte_width(shape.dtype())));
  return result;
}

// f32 holds every f16 and bf16 and the product of any two f16, or of two bf16.
bool fit_f32(const Shape& lhs, const Shape& rhs, const Shape& result) {
  const auto fits = [](const Shape& shape) {
    return shape.dtype() == DType::kF32 || shape.dtype() == DType::kF16 ||
           shape.dtype() == DType::kBF16;
  };
  return fits(lhs) && fits(rhs) && fits(result);
}

// A call of oneDNN takes longer than so small a product, with a vector than four times as much.
bool is_small(const MatmulSpec& s) {
  return s.m * s.n * s.k <= (s.m == 1 || s.n == 1 ? 4 * kPlainWork : kPlainWork);
}

// All elements of a dense array in another type.
class Conversion {
 public:
  Conversion(DType from, DType to, std::int64_t elements)
      : loop_(find_tile_loop(TileOp::kConvert, from, to)),
        from_width_(static_cast<int>(byte_width(from))),
        to_width_(static_cast<int>(byte_width(to))),
        elements_(elements) {}
  void run(const void* from, void* to, Parallel& parallel) const {
    constexpr std::int64_t kPart = 32 << 10, kMaxParts = 32;
    const auto parts = static_cast<int>(std::clamp<std::int64_t>(elements_ / kPart, 1, kMaxParts));
    const auto part = [&](int p) {
      const std::int64_t end = elements_ * (p + 1) / parts;
      for (std::int64_t at = elements_ * p / parts; at < end; at += kTileElements) {
        const void* in = static_cast<const std::byte*>(from) + at * from_width_;
        loop_(static_cast<std::byte*>(to) + at * to_width_, &in,
              static_cast<int>(std::min<std::int64_t>(kTileElements, end - at)), 0);
      }
    };
    parallel.run(parts, part);
  }

 private:
  TileLoop loop_;
  int from_width_, to_width_;
  std::int64_t elements_;
};

std::size_t f32_bytes(const Shape& shape) {
  return align64(static_cast<std::size_t>(shape.elements()) * sizeof(float));
}

// What makes an operand what the kernel takes: a copy of it in another order, or from its end
// backwards, then one as f32; both in the step's scratch, from `top` on.
class Prepared {
 public:
  Prepared(const Shape& shape, bool to_f32, const std::optional<StridedCopy>& copy,
           std::int64_t copy_from, std::size_t& top)
      : copy_(copy), copy_from_(copy_from), copy_at_(top) {
    if (copy_) top += align64(shape.size_bytes());
    widened_at_ = top;
    if (!to_f32 || shape.dtype() == DType::kF32) return;
    widen_.emplace(shape.dtype(), DType::kF32, shape.elements());
    top += f32_bytes(shape);
  }
  const void* run(const std::byte* data, const StepFrame& f) const {
    if (copy_) {
      copy_->run(data + copy_from_, f.scratch + copy_at_, f.parallel);
      data = f.scratch + copy_at_;
    }
    if (!widen_) return data;
    widen_->run(data, f.scratch + widened_at_, f.parallel);
    return f.scratch + widened_at_;
  }

 private:
  std::optional<StridedCopy> copy_;
  std::int64_t copy_from_;  // in bytes
  std::size_t copy_at_, widened_at_;
  std::optional<Conversion> widen_;
};

// What computes between what prepares the operands and, for one of f32 whose result is of another
// type, what narrows that: compute(frame, inputs, output, scratch), which takes so many bytes.
template <class F>
UnitKernel prepared_kernel(const Graph& graph, const Node& n, const Prepared& first,
                           const Prepared& second, std::size_t top, bool in_f32,
                           std::size_t scratch_bytes, F compute) {
  const Shape& result = graph.shape(n.outputs[0]);
  std::optional<Conversion> narrow;
  const std::size_t sums = top;
  if (in_f32 && result.dtype() != DType::kF32) {
    narrow.emplace(DType::kF32, result.dtype(), result.elements());
    top += f32_bytes(result);
  }
  return {.name = std::string(n.name),
          .location = n.location,
          .needs = {.inputs = n.inputs, .outputs = n.outputs, .scratch_bytes = top + scratch_bytes},
          .run = always([=](const StepFrame& f) {
            const std::array<const void*, 2> inputs{first.run(f.in(), f), second.run(f.in(1), f)};
            void* const output = narrow ? f.scratch + sums : f.out();
            compute(f, inputs, output, f.scratch + top);
            if (narrow) narrow->run(output, f.out(), f.parallel);
          })};
}

UnitKernel onednn_kernel(const Graph& graph, const Node& n, const Prepared& first,
                         const Prepared& second, std::size_t top,
                         std::unique_ptr<OneDnnKernel> kernel) {
  const auto run = [onednn = kernel.get()](const StepFrame& f, const auto& inputs, void* output,
                                           std::byte* scratch) {
    onednn->run(*f.state, inputs, output, scratch, f.parallel);
  };
  UnitKernel made =
      prepared_kernel(graph, n, first, second, top, true, kernel->scratch_bytes(), run);
  made.onednn = std::move(kernel);
  return made;
}

// The same of a Gemm or a GemmConvolution.
template <class Product>
UnitKernel gemm_kernel(const Graph& graph, const Node& n, const Prepared& first,
                       const Prepared& second, std::size_t top, bool in_f32,
                       const std::shared_ptr<const Product>& product) {
  const auto run = [product](const StepFrame& f, const auto& inputs, void* output,
                             std::byte* scratch) {
    product->run(inputs[0], inputs[1], output, scratch, f.parallel);
  };
  UnitKernel made =
      prepared_kernel(graph, n, first, second, top, in_f32, product->scratch_bytes(), run);
  made.name += " as gemm";
  return made;
}

MatmulSpec matmul_of(const Operand& left, const Operand& right, std::int64_t inner) {
  MatmulSpec m{.batch = left.batch.size, .m = left.outer.size, .n = right.outer.size, .k = inner};
  // The stride of a dimension of one element is free: one that makes the matrix look dense.
  const auto place = [](Axis outer, Axis in, std::int64_t& row, std::int64_t& column) {
    row = outer.size == 1 ? std::max<std::int64_t>(in.stride == 1 ? in.size : 1, 1) : outer.stride;
    column = in.size == 1 ? (outer.stride == 1 && outer.size > 1 ? outer.size : 1) : in.stride;
  };
  place(left.outer, left.inner, m.a_row, m.a_column);
  place(right.outer, right.inner, m.b_column, m.b_row);
  m.a_batch = left.batch.size == 1 ? m.m * m.k : left.batch.stride;
  m.b_batch = right.batch.size == 1 ? m.n * m.k : right.batch.stride;
  m.c_row = m.n;
  m.c_batch = m.m * m.n;
  return m;
}

struct ChosenConvolution {
  std::optional<ConvolutionChoice> kernel;  // nullopt: the plain loops do it
  ConvolutionForm form;
};

Result<ChosenConvolution> choose_convolution(const std::vector<ConvolutionForm>& forms,
                                             const PlanOptions& options, KernelChoices& choices) {
  ChosenConvolution best;
  const auto done = [&](int form) -> Result<ChosenConvolution> {
    choices.push_back({form, best.kernel ? best.kernel->way : -1});
    return std::move(best);
  };
  if (options.chosen) {
    const std::size_t place = choices.size();
    const KernelChoice before =
        place < options.chosen->size() ? (*options.chosen)[place] : KernelChoice{};
    if (before.form < 0) return done(-1);
    if (before.form >= static_cast<int>(forms.size())) {
      return fail(ErrorCode::kDataLoss, "a convolution has no form number " +
                                            std::to_string(before.form) +
                                            ", which was chosen before");
    }
    best.form = forms[static_cast<std::size_t>(before.form)];
    MILLRACE_TRY(best.kernel, make_convolution_again(best.form.spec, before.way));
    return done(before.form);
  }
  int best_form = -1;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    auto made = make_convolution(forms[i].spec, options.deterministic);
    if (!made && made.error().code() == ErrorCode::kResourceExhausted)
      return std::unexpected(made.error());
    if (!made) continue;
    if (!best.kernel ||
        (!options.deterministic && made->milliseconds < best.kernel->milliseconds)) {
      best = {.kernel = *std::move(made), .form = forms[i]};
      best_form = static_cast<int>(i);
    }
  }
  return done(best_form);
}

// The node that reverses all spatial dimensions of the weights, as JAX writes the gradient of the
// input; nullptr if none does.
const Node* reverse_of_weights(const Graph& graph, const Node& n) {
  const Node* reverse = graph.producer(n.inputs[1]);
  if (reverse == nullptr || reverse->kind != NodeKind::kReverse) return nullptr;
  std::vector<std::int64_t> spatial, dims = reverse->dims;
  for (std::int64_t d : n.convolution.kernel_spatial) {
    if (graph.shape(n.inputs[1]).dim(static_cast<int>(d)) > 1) spatial.push_back(d);
  }
  std::ranges::sort(dims);
  std::ranges::sort(spatial);
  return dims == spatial ? reverse : nullptr;
}

}  // namespace

Result<UnitKernel> dot_kernel(const Graph& graph, const Node& n) {
  const Shape lhs = graph.shape(n.inputs[0]), rhs = graph.shape(n.inputs[1]),
              result = graph.shape(n.outputs[0]);
  const std::int64_t inner = terms_of(n.dot, lhs);
  const bool in_f32 = fit_f32(lhs, rhs, result) && !dot_is_plain(n.dot, lhs, rhs, result);
  const bool as_gemm = dot_fits_gemm(n.dot, lhs, rhs, result);
  if (in_f32 || as_gemm) {
    const Operand left = operand_of(lhs, n.dot.lhs_batch, n.dot.lhs_contract);
    const Operand right = operand_of(rhs, n.dot.rhs_batch, n.dot.rhs_contract);
    const MatmulSpec spec = matmul_of(left, right, inner);
    std::size_t top = 0;
    if (in_f32 && !is_small(spec)) {
      auto kernel = make_matmul(spec);
      if (!kernel && kernel.error().code() == ErrorCode::kResourceExhausted)
        return std::unexpected(kernel.error());
      if (kernel) {
        const Prepared first(lhs, true, left.copy, 0, top), second(rhs, true, right.copy, 0, top);
        return onednn_kernel(graph, n, first, second, top, *std::move(kernel));
      }
    }
    const Prepared first(lhs, in_f32, left.copy, 0, top), second(rhs, in_f32, right.copy, 0, top);
    const auto type = [&](const Shape& shape) { return in_f32 ? DType::kF32 : shape.dtype(); };
    const auto gemm = std::make_shared<const Gemm>(spec, type(lhs), type(rhs), type(result));
    return gemm_kernel(graph, n, first, second, top, in_f32, gemm);
  }
  return simple_kernel(n, [=, dims = n.dot](const StepFrame& f) {
    dot_plain(dims, lhs, rhs, result, f.in(), f.in(1), f.out(), f.parallel);
  });
}

Result<UnitKernel> convolution_kernel(const Graph& graph, const Node& n, const PlanOptions& options,
                                      KernelChoices& choices) {
  const Shape lhs = graph.shape(n.inputs[0]), rhs = graph.shape(n.inputs[1]),
              result = graph.shape(n.outputs[0]);
  const Node* const reverse = reverse_of_weights(graph, n);
  std::vector<ConvolutionForm> forms;
  if (fit_f32(lhs, rhs, result)) {
    forms = convolution_forms(n.convolution, lhs, rhs, result, reverse != nullptr);
    const auto small = std::ranges::find_if(forms, [](const ConvolutionForm& form) {
      return convolution_flops(form.spec) / 2 <= static_cast<double>(kPlainWork);
    });
    forms.erase(small, forms.end());
  }
  MILLRACE_TRY(ChosenConvolution chosen, choose_convolution(forms, options, choices));
  if (!chosen.kernel) {
    const bool in_f32 = fit_f32(lhs, rhs, result);
    const auto typed = [&](const Shape& s) { return in_f32 ? Shape(DType::kF32, s.dims()) : s; };
    if (GemmConvolution::fits(n.convolution, typed(lhs), typed(rhs), typed(result))) {
      const auto made = std::make_shared<const GemmConvolution>(n.convolution, typed(lhs),
                                                                typed(rhs), typed(result));
      std::size_t top = 0;
      const Prepared first(lhs, in_f32, {}, 0, top), second(rhs, in_f32, {}, 0, top);
      return gemm_kernel(graph, n, first, second, top, in_f32, made);
    }
    return simple_kernel(n, [=, dims = n.convolution](const StepFrame& f) {
      convolution_plain(dims, lhs, rhs, result, f.in(), f.in(1), f.out(), f.parallel);
    });
  }
  const ConvolutionForm& form = chosen.form;
  std::optional<StridedCopy> flip;
  std::int64_t flip_from = 0;
  if (form.weights == WeightsUse::kReverseFirst) {
    const auto width = static_cast<int>(byte_width(rhs.dtype()));
    DimVector from = dense_strides(rhs);
    for (std::int64_t d : n.convolution.kernel_spatial) {
      flip_from += (rhs.dim(static_cast<int>(d)) - 1) * from[static_cast<std::size_t>(d)] * width;
      from[static_cast<std::size_t>(d)] *= -1;
    }
    flip.emplace(rhs.dims(), from, dense_strides(rhs), width);
  }
  std::size_t top = 0;
  const Prepared left(lhs, true, {}, 0, top), right(rhs, true, flip, flip_from, top);
  UnitKernel made = onednn_kernel(graph, n, left, right, top, std::move(chosen.kernel->kernel));
  if (form.weights == WeightsUse::kBeforeReverse) made.needs.inputs[1] = reverse->inputs[0];
  made.name += form.spec.kind == ConvolutionKind::kForward        ? " forward"
               : form.spec.kind == ConvolutionKind::kBackwardData ? " backward data"
                                                                  : " backward weights";
  made.operations = convolution_flops(form.spec);
  return made;
}

}  // namespace millrace::devices::cpu::compiler
