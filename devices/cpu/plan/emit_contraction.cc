// The part of Emitter for dots and convolutions: what oneDNN does, and the plain loops for the
// rest.
#include <algorithm>
#include <optional>

#include "millrace/devices/cpu/kernels/dim_vector.h"
#include "millrace/devices/cpu/kernels/gemm.h"
#include "millrace/devices/cpu/kernels/gemm_convolution.h"
#include "millrace/devices/cpu/kernels/strided.h"
#include "millrace/devices/cpu/kernels/tile_op.h"
#include "millrace/devices/cpu/plan/convolution_forms.h"
#include "millrace/devices/cpu/plan/emit.h"

namespace millrace::devices::cpu::plan {
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
  std::size_t bytes = 0;
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
  result.bytes = shape.size_bytes();
  return result;
}

// f32 holds every f16 and bf16 and the product of any two f16, or of two bf16.
bool fits_f32(DType type) {
  return type == DType::kF32 || type == DType::kF16 || type == DType::kBF16;
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
    if (parts == 1)
      part(0);
    else
      parallel.run(parts, part);
  }

 private:
  TileLoop loop_;
  int from_width_, to_width_;
  std::int64_t elements_;
};

// A dense array as f32, in the step's scratch if it is of another type.
class Widened {
 public:
  Widened(const Shape& shape, std::size_t& top) : at_(top) {
    if (shape.dtype() == DType::kF32) return;
    conversion_.emplace(shape.dtype(), DType::kF32, shape.elements());
    top += align64(static_cast<std::size_t>(shape.elements()) * sizeof(float));
  }
  const void* run(const void* data, const StepFrame& f) const {
    if (!conversion_) return data;
    conversion_->run(data, f.scratch + at_, f.parallel);
    return f.scratch + at_;
  }

 private:
  std::optional<Conversion> conversion_;
  std::size_t at_;
};

// What makes an operand of a matmul what the kernel takes; its arrays are in the step's scratch.
class Prepared {
 public:
  Prepared(const Operand& operand, const Shape& shape, bool to_f32, std::size_t& top)
      : copy_(operand.copy), copy_at_(top) {
    top += align64(operand.bytes);
    if (to_f32) widened_.emplace(shape, top);
  }
  const void* run(const void* data, const StepFrame& f) const {
    if (copy_) {
      copy_->run(data, f.scratch + copy_at_, f.parallel);
      data = f.scratch + copy_at_;
    }
    return widened_ ? widened_->run(data, f) : data;
  }

 private:
  std::optional<StridedCopy> copy_;
  std::size_t copy_at_;
  std::optional<Widened> widened_;
};

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

}  // namespace

Status Emitter::emit_dot(BlockState& s, const Node& n, StepList& to) {
  const Shape lhs = graph_.shape(n.inputs[0]), rhs = graph_.shape(n.inputs[1]),
              result = graph_.shape(n.outputs[0]);
  const BufferId a = buffer_of(n.inputs[0]), b = buffer_of(n.inputs[1]);
  const std::int64_t inner = terms_of(n.dot, lhs);
  const bool in_f32 = fits_f32(lhs.dtype()) && fits_f32(rhs.dtype()) && fits_f32(result.dtype());
  if (in_f32 && static_cast<double>(result.elements()) * static_cast<double>(inner) > kPlainWork) {
    const Operand left = operand_of(lhs, n.dot.lhs_batch, n.dot.lhs_contract);
    const Operand right = operand_of(rhs, n.dot.rhs_batch, n.dot.rhs_contract);
    if (auto kernel = make_matmul(matmul_of(left, right, inner))) {
      const BufferId target = new_buffer(s, n.outputs[0]);
      std::size_t top = 0;
      const Prepared first(left, lhs, true, top), second(right, rhs, true, top);
      std::optional<Conversion> narrow;
      const std::size_t sums = top;
      if (result.dtype() != DType::kF32) {
        narrow.emplace(DType::kF32, result.dtype(), result.elements());
        top += align64(static_cast<std::size_t>(result.elements()) * sizeof(float));
      }
      Step& step = add_step(to, std::string(n.name), n.location, top + (*kernel)->scratch_bytes());
      step.kernel = *std::move(kernel);
      step.state = static_cast<int>(out_.kernels.size());
      out_.kernels.push_back(step.kernel.get());
      step.run = [=, kernel = step.kernel.get()](const StepFrame& f) -> Status {
        const void* inputs[2] = {first.run(f.at(a), f), second.run(f.at(b), f)};
        void* const output = narrow ? f.scratch + sums : f.at(target);
        kernel->run(*f.state, inputs, output, f.scratch + top, f.parallel);
        if (narrow) narrow->run(output, f.at(target), f.parallel);
        return {};
      };
      return {};
    }
  }
  const BufferId target = new_buffer(s, n.outputs[0]);
  if (dot_fits_gemm(n.dot, lhs, rhs, result)) {
    const Operand left = operand_of(lhs, n.dot.lhs_batch, n.dot.lhs_contract);
    const Operand right = operand_of(rhs, n.dot.rhs_batch, n.dot.rhs_contract);
    std::size_t top = 0;
    const Prepared first(left, lhs, false, top), second(right, rhs, false, top);
    const Gemm gemm(matmul_of(left, right, inner), lhs.dtype(), rhs.dtype(), result.dtype());
    add_step(to, std::string(n.name), n.location, top + gemm.scratch_bytes()).run =
        [=](const StepFrame& f) -> Status {
      const void* const from = first.run(f.at(a), f);
      gemm.run(from, second.run(f.at(b), f), f.at(target), f.scratch + top, f.parallel);
      return {};
    };
    return {};
  }
  add_step(to, std::string(n.name), n.location, 0).run =
      [=, dims = n.dot](const StepFrame& f) -> Status {
    dot_plain(dims, lhs, rhs, result, f.at(a), f.at(b), f.at(target), f.parallel);
    return {};
  };
  return {};
}

// No kernel: the plain loops do it.
struct Emitter::ChosenConvolution {
  std::optional<ConvolutionChoice> kernel;
  ConvolutionForm form;
};

Result<Emitter::ChosenConvolution> Emitter::choose_convolution(
    const std::vector<ConvolutionForm>& forms) {
  ChosenConvolution best;
  const auto done = [&](int form) -> Result<ChosenConvolution> {
    out_.choices.push_back({form, best.kernel ? best.kernel->way : -1});
    return std::move(best);
  };
  if (options_.chosen) {
    const std::size_t place = out_.choices.size();
    const bool known = place < options_.chosen->size();
    const KernelChoice before = known ? (*options_.chosen)[place] : KernelChoice{};
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
    auto made = make_convolution(forms[i].spec, options_.deterministic);
    if (!made) continue;
    if (!best.kernel ||
        (!options_.deterministic && made->milliseconds < best.kernel->milliseconds)) {
      best = {.kernel = *std::move(made), .form = forms[i]};
      best_form = static_cast<int>(i);
    }
  }
  return done(best_form);
}

Status Emitter::emit_convolution(BlockState& s, const Node& n, StepList& to) {
  const Shape lhs = graph_.shape(n.inputs[0]), rhs = graph_.shape(n.inputs[1]),
              result = graph_.shape(n.outputs[0]);
  const BufferId a = buffer_of(n.inputs[0]);
  const bool in_f32 = fits_f32(lhs.dtype()) && fits_f32(rhs.dtype()) && fits_f32(result.dtype());
  // The weights before a reverse of all their spatial dimensions, as JAX writes the gradient of the
  // input.
  const Node* reverse = graph_.producer(n.inputs[1]);
  bool reversed = reverse != nullptr && reverse->kind == NodeKind::kReverse;
  if (reversed) {
    std::vector<std::int64_t> spatial;
    for (std::int64_t d : n.convolution.kernel_spatial) {
      if (rhs.dim(static_cast<int>(d)) > 1) spatial.push_back(d);
    }
    std::vector<std::int64_t> dims = reverse->dims;
    std::sort(dims.begin(), dims.end());
    std::sort(spatial.begin(), spatial.end());
    reversed = dims == spatial;
  }
  std::vector<ConvolutionForm> forms;
  if (in_f32) {
    forms = convolution_forms(n.convolution, lhs, rhs, result, reversed);
    const auto small = std::ranges::find_if(forms, [](const ConvolutionForm& form) {
      return convolution_flops(form.spec) / 2 <= static_cast<double>(kPlainWork);
    });
    forms.erase(small, forms.end());
  }
  MILLRACE_TRY(ChosenConvolution chosen, choose_convolution(forms));
  std::optional<ConvolutionChoice>& best = chosen.kernel;
  const ConvolutionForm& best_form = chosen.form;
  if (!best) {
    const BufferId b = buffer_of(n.inputs[1]), target = new_buffer(s, n.outputs[0]);
    if (GemmConvolution::fits(n.convolution, lhs, rhs, result)) {
      const auto made = std::make_shared<const GemmConvolution>(n.convolution, lhs, rhs, result);
      add_step(to, std::string(n.name), n.location, made->scratch_bytes()).run =
          [=](const StepFrame& f) -> Status {
        made->run(f.at(a), f.at(b), f.at(target), f.scratch, f.parallel);
        return {};
      };
      return {};
    }
    add_step(to, std::string(n.name), n.location, 0).run =
        [=, dims = n.convolution](const StepFrame& f) -> Status {
      convolution_plain(dims, lhs, rhs, result, f.at(a), f.at(b), f.at(target), f.parallel);
      return {};
    };
    return {};
  }
  const BufferId b =
      buffer_of(best_form.weights == WeightsUse::kBeforeReverse ? reverse->inputs[0] : n.inputs[1]);
  const BufferId target = new_buffer(s, n.outputs[0]);
  std::optional<StridedCopy> flip;
  std::int64_t flip_at = 0;
  if (best_form.weights == WeightsUse::kReverseFirst) {
    DimVector from = dense_strides(rhs);
    for (std::int64_t d : n.convolution.kernel_spatial) {
      flip_at += (rhs.dim(static_cast<int>(d)) - 1) * from[static_cast<std::size_t>(d)];
      from[static_cast<std::size_t>(d)] *= -1;
    }
    flip.emplace(rhs.dims(), from, dense_strides(rhs), 4);
  }
  std::size_t top = 0;
  const Widened left(lhs, top), right(rhs, top);
  const std::size_t flipped = top;
  if (flip) top += align64(static_cast<std::size_t>(rhs.elements()) * sizeof(float));
  std::optional<Conversion> narrow;
  const std::size_t sums = top;
  if (result.dtype() != DType::kF32) {
    narrow.emplace(DType::kF32, result.dtype(), result.elements());
    top += align64(static_cast<std::size_t>(result.elements()) * sizeof(float));
  }
  Step& step = add_step(to, std::string(n.name), n.location, top + best->kernel->scratch_bytes());
  step.info.name += best_form.spec.kind == ConvolutionKind::kForward        ? " forward"
                    : best_form.spec.kind == ConvolutionKind::kBackwardData ? " backward data"
                                                                            : " backward weights";
  step.info.operations = convolution_flops(best_form.spec);
  step.kernel = std::move(best->kernel);
  step.state = static_cast<int>(out_.kernels.size());
  out_.kernels.push_back(step.kernel.get());
  step.run = [=, kernel = step.kernel.get()](const StepFrame& f) -> Status {
    const void* inputs[2] = {left.run(f.at(a), f), right.run(f.at(b), f)};
    if (flip) {
      flip->run(static_cast<const float*>(inputs[1]) + flip_at, f.scratch + flipped);
      inputs[1] = f.scratch + flipped;
    }
    void* const output = narrow ? f.scratch + sums : f.at(target);
    kernel->run(*f.state, inputs, output, f.scratch + top, f.parallel);
    if (narrow) narrow->run(output, f.at(target), f.parallel);
    return {};
  };
  return {};
}

}  // namespace millrace::devices::cpu::plan
