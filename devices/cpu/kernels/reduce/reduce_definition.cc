// Operations that fold many elements into one by a body.
#include <algorithm>
#include <optional>

#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {
namespace {

// The values of several reductions that share a body, at one place of the results; each step
// rounds, in the order of the operand: as XLA's of complex numbers do, while sums of f32 have wider
// accumulators (kernels/functions/reduce_loops.h).
class Folds {
 public:
  explicit Folds(const Call& c)
      : c_(c),
        count_(c.results.size()),
        frame_(c.frame(0)),
        values_(c.scratch.take<Scalar>(static_cast<std::int64_t>(count_))) {}

  void begin() {
    for (std::size_t k = 0; k < count_; ++k) values_[k] = element(c_.operands[count_ + k], 0);
  }
  // Folds element `from` of the operands.
  void add(std::int64_t from) {
    for (std::size_t k = 0; k < count_; ++k) {
      frame_.argument(static_cast<int>(k)) = values_[k];
      frame_.argument(static_cast<int>(count_ + k)) = element(c_.operands[k], from);
    }
    frame_.run();
    for (std::size_t k = 0; k < count_; ++k) values_[k] = frame_.result(static_cast<int>(k));
  }
  void end(std::int64_t place) {
    for (std::size_t k = 0; k < count_; ++k) put(c_.results[k], place, values_[k]);
  }
  const Status& status() const { return frame_.status(); }

 private:
  const Call& c_;
  const std::size_t count_;
  Body::Frame frame_;
  std::span<Scalar> values_;
};

DimVector without_last(const DimVector& list) {
  return std::span<const std::int64_t>(list).first(list.size() - 1);
}

// Folds of complex numbers by add: the sums that Folds would take, each in the operand's order and
// rounded at each step, but a run of neighbours at a time. T: the type of the parts.
template <class T>
void sum_complex(const Call& c, const FoldedDims& d, bool last_is_folded) {
  const T* const from = reinterpret_cast<const T*>(c.operands[0].data);
  const T* const first = reinterpret_cast<const T*>(c.operands[1].data);
  T* const to = reinterpret_cast<T*>(c.results[0].data);
  if (last_is_folded) {
    const DimVector outer = without_last(d.folded);
    const std::int64_t n = d.folded.back();
    each_index(d.kept, [&](const DimVector& at, std::int64_t place) {
      const std::int64_t base = linear_of(at, d.kept_strides);
      T re = first[0], im = first[1];
      each_index(outer, [&](const DimVector& in, std::int64_t) {
        const T* const run = from + 2 * (base + linear_of(in, d.folded_strides));
        for (std::int64_t i = 0; i < n; ++i) {
          re += run[2 * i];
          im += run[2 * i + 1];
        }
      });
      to[2 * place] = re;
      to[2 * place + 1] = im;
    });
    return;
  }
  const DimVector outer = without_last(d.kept);
  const std::int64_t n = d.kept.back();
  each_index(outer, [&](const DimVector& at, std::int64_t place) {
    const std::int64_t base = linear_of(at, d.kept_strides);
    T* const sums = to + 2 * place * n;
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(first, 2, sums + 2 * i);
    each_index(d.folded, [&](const DimVector& in, std::int64_t) {
      const T* const run = from + 2 * (base + linear_of(in, d.folded_strides));
      for (std::int64_t i = 0; i < 2 * n; ++i) sums[i] += run[i];
    });
  });
}

// True: it was such a fold, and is done.
bool try_sum_complex(const Call& c, const FoldedDims& d) {
  const DType type = c.operands[0].shape.dtype();
  const bool one_type = c.results.size() == 1 && c.results[0].shape.dtype() == type &&
                        c.operands[1].shape.dtype() == type;
  const ScalarOp* const op = c.bodies[0].only_op();
  const int rank = c.operands[0].shape.rank();
  if (!is_complex(type) || !one_type || op == nullptr || rank == 0) return false;
  const bool wide = type == DType::kC128;
  if (op->function != complex_function(ir::OpKind::kAdd, wide) || op->info.out != type)
    return false;
  const bool last_is_folded = contains(c.ints("dimensions"), rank - 1);
  if (wide)
    sum_complex<double>(c, d, last_is_folded);
  else
    sum_complex<float>(c, d, last_is_folded);
  return true;
}

struct Windows {
  Integers size, stride, base_dilation, window_dilation, padding;
  explicit Windows(const Call& c)
      : Windows(c, static_cast<std::size_t>(c.operands[0].shape.rank())) {}
  Windows(const Call& c, std::size_t rank)
      : size(ints_or(c, "window_dimensions", rank, 1)),
        stride(ints_or(c, "window_strides", rank, 1)),
        base_dilation(ints_or(c, "base_dilations", rank, 1)),
        window_dilation(ints_or(c, "window_dilations", rank, 1)),
        padding(ints_or(c, "padding", 2 * rank, 0)) {}
  // index: the operand's under element `in` of the window at `at`. False in padding and in the
  // holes of a dilation.
  bool find(const DimVector& at, const DimVector& in, const Shape& operand,
            DimVector& index) const {
    for (std::size_t d = 0; d < size.size(); ++d) {
      const std::int64_t place = at[d] * stride[d] + in[d] * window_dilation[d] - padding[2 * d];
      if (place < 0 || place % base_dilation[d] != 0) return false;
      index[d] = place / base_dilation[d];
      if (index[d] >= operand.dim(static_cast<int>(d))) return false;
    }
    return true;
  }
};

}  // namespace

Status run_reduce(const Call& c) {
  Folds folds(c);
  if (c.scratch.measures()) return {};
  const FoldedDims d(c.operands[0].shape.dims(), c.ints("dimensions"));
  if (try_sum_complex(c, d)) return {};
  each_index(d.kept, [&](const DimVector& at, std::int64_t place) {
    const std::int64_t base = linear_of(at, d.kept_strides);
    folds.begin();
    each_index(d.folded, [&](const DimVector& in, std::int64_t) {
      folds.add(base + linear_of(in, d.folded_strides));
    });
    folds.end(place);
  });
  return folds.status();
}

// Padding and holes are left out, as XLA does: the specification folds the initial value there,
// which is the same where that is the body's identity.
Status run_reduce_window(const Call& c) {
  const Windows windows(c);
  const Shape& from = c.operands[0].shape;
  const DimVector strides = dense_strides(from);
  Folds folds(c);
  if (c.scratch.measures()) return {};
  DimVector index(windows.size.size());
  each_index(c.results[0].shape.dims(), [&](const DimVector& at, std::int64_t place) {
    folds.begin();
    each_index(windows.size, [&](const DimVector& in, std::int64_t) {
      if (windows.find(at, in, from, index)) folds.add(linear_of(index, strides));
    });
    folds.end(place);
  });
  return folds.status();
}

// In each window the element that `select` keeps (its first argument where it answers true) gets
// the source's element, combined by `scatter`.
Status run_select_and_scatter(const Call& c) {
  const ConstArray &from = c.operands[0], &source = c.operands[1], &init = c.operands[2];
  const MutableArray& to = c.results[0];
  const Windows windows(c);
  Body::Frame select = c.frame(0), scatter = c.frame(1);
  if (c.scratch.measures()) return {};
  // The scatter's type, which the result has, may be wider than the others.
  fill(to, element(init, 0));
  const DimVector strides = dense_strides(from.shape);
  DimVector index(windows.size.size());
  each_index(source.shape.dims(), [&](const DimVector& at, std::int64_t place) {
    std::int64_t chosen = -1;
    each_index(windows.size, [&](const DimVector& in, std::int64_t) {
      if (!windows.find(at, in, from.shape, index)) return;
      const std::int64_t candidate = linear_of(index, strides);
      if (chosen >= 0) {
        select.argument(0) = element(from, chosen);
        select.argument(1) = element(from, candidate);
        select.run();
        if (select.result(0).u != 0) return;
      }
      chosen = candidate;
    });
    if (chosen < 0) return;
    scatter.argument(0) = element(to, chosen);
    scatter.argument(1) = element(source, place);
    scatter.run();
    put(to, chosen, scatter.result(0));
  });
  if (!select.status()) return select.status();
  return scatter.status();
}

}  // namespace millrace::devices::cpu::definition
