// Operations that fold many elements into one by a body.
#include <algorithm>
#include <optional>

#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
namespace {

// The values of several reductions that share a body, at every place of the results; each step
// rounds, in the order of the operand.
class Folds {
 public:
  Folds(const Call& c, std::size_t count, std::int64_t places)
      : c_(c), count_(count), frame_(c.bodies[0]), values_(count) {
    for (std::size_t k = 0; k < count; ++k) {
      const ConstArray& init = c.operands[count + k];
      values_[k].assign(static_cast<std::size_t>(places), load(init.shape.dtype(), init.data));
    }
  }

  // Folds element `from` of the operands into `place`.
  void add(std::int64_t place, std::int64_t from) {
    for (std::size_t k = 0; k < count_; ++k) {
      const ConstArray& operand = c_.operands[k];
      frame_.argument(static_cast<int>(k)) = values_[k][static_cast<std::size_t>(place)];
      frame_.argument(static_cast<int>(count_ + k)) =
          load(operand.shape.dtype(),
               operand.data + static_cast<std::size_t>(from) * width_of(operand.shape));
    }
    finish(place);
  }
  // The same for the initial values themselves: the padding of a window.
  void add_init(std::int64_t place) {
    for (std::size_t k = 0; k < count_; ++k) {
      const ConstArray& init = c_.operands[count_ + k];
      frame_.argument(static_cast<int>(k)) = values_[k][static_cast<std::size_t>(place)];
      frame_.argument(static_cast<int>(count_ + k)) = load(init.shape.dtype(), init.data);
    }
    finish(place);
  }

  void store_results() {
    for (std::size_t k = 0; k < count_; ++k) store_all(values_[k], c_.results[k]);
  }

 private:
  void finish(std::int64_t place) {
    frame_.run();
    for (std::size_t k = 0; k < count_; ++k)
      values_[k][static_cast<std::size_t>(place)] = frame_.result(static_cast<int>(k));
  }

  const Call& c_;
  const std::size_t count_;
  Body::Frame frame_;
  std::vector<std::vector<Scalar>> values_;
};

struct Windows {
  std::vector<std::int64_t> size, stride, base_dilation, window_dilation, padding;
  explicit Windows(const Call& c) {
    const auto rank = static_cast<std::size_t>(c.operands[0].shape.rank());
    size = ints_or(c.op, "window_dimensions", rank, 1);
    stride = ints_or(c.op, "window_strides", rank, 1);
    base_dilation = ints_or(c.op, "base_dilations", rank, 1);
    window_dilation = ints_or(c.op, "window_dilations", rank, 1);
    padding = ints_or(c.op, "padding", 2 * rank, 0);
  }
  // The operand's index under element `in` of the window at `at`; nullopt in padding and in the
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
  const std::size_t count = c.results.size();
  const Shape& from = c.operands[0].shape;
  const auto dims = c.op.ints("dimensions").value_or(std::vector<std::int64_t>{});
  const DimVector result_strides = dense_strides(c.results[0].shape);
  DimVector strides(static_cast<std::size_t>(from.rank()));
  for (std::size_t d = 0, r = 0; d < strides.size(); ++d)
    strides[d] = contains(dims, static_cast<std::int64_t>(d)) ? 0 : result_strides[r++];
  Folds folds(c, count, c.results[0].shape.elements());
  each_index(from.dims(), [&](const DimVector& index, std::int64_t linear) {
    folds.add(linear_of(index, strides), linear);
  });
  folds.store_results();
  return {};
}

Status run_reduce_window(const Call& c) {
  const std::size_t count = c.results.size();
  const Windows windows(c);
  const Shape& from = c.operands[0].shape;
  const DimVector strides = dense_strides(from);
  Folds folds(c, count, c.results[0].shape.elements());
  DimVector index(windows.size.size());
  each_index(c.results[0].shape.dims(), [&](const DimVector& at, std::int64_t place) {
    each_index(windows.size, [&](const DimVector& in, std::int64_t) {
      if (windows.find(at, in, from, index))
        folds.add(place, linear_of(index, strides));
      else
        folds.add_init(place);
    });
  });
  folds.store_results();
  return {};
}

// Of each window the element that `select` keeps (its first argument where it answers true) gets
// the source's element, combined by `scatter`.
Status run_select_and_scatter(const Call& c) {
  const ConstArray &from = c.operands[0], &source = c.operands[1], &init = c.operands[2];
  const MutableArray& to = c.results[0];
  const Windows windows(c);
  const DType type = to.shape.dtype();
  const std::vector<Scalar> values = load_all(from), sources = load_all(source);
  std::vector<Scalar> results(static_cast<std::size_t>(to.shape.elements()), load(type, init.data));
  const DimVector strides = dense_strides(from.shape);
  Body::Frame select(c.bodies[0]), scatter(c.bodies[1]);
  DimVector index(windows.size.size());
  each_index(source.shape.dims(), [&](const DimVector& at, std::int64_t place) {
    std::int64_t chosen = -1;
    each_index(windows.size, [&](const DimVector& in, std::int64_t) {
      if (!windows.find(at, in, from.shape, index)) return;
      const std::int64_t candidate = linear_of(index, strides);
      if (chosen >= 0) {
        select.argument(0) = values[static_cast<std::size_t>(chosen)];
        select.argument(1) = values[static_cast<std::size_t>(candidate)];
        select.run();
        if (select.result(0).u != 0) return;
      }
      chosen = candidate;
    });
    if (chosen < 0) return;
    Scalar& result = results[static_cast<std::size_t>(chosen)];
    scatter.argument(0) = result;
    scatter.argument(1) = sources[static_cast<std::size_t>(place)];
    scatter.run();
    result = scatter.result(0);
  });
  store_all(results, to);
  return {};
}

}  // namespace millrace::devices::cpu::reference
