// fft: transforms along the last dimensions, in double.
#include <memory>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/kernels/definitions.h"
#include "millrace/devices/cpu/kernels/fourier/fourier.h"

namespace millrace::devices::cpu::definition {
namespace {

using Number = ComplexNumber;

// Elements of an array as complex numbers; T: the type of an element, or of its parts.
template <class T, bool kComplex>
struct Elements {
  static Number get(const T* data, std::int64_t i) {
    if constexpr (kComplex)
      return {data[2 * i], data[2 * i + 1]};
    else
      return {data[i], 0};
  }
  static void set(T* data, std::int64_t i, const Number& v) {
    if constexpr (kComplex) {
      data[2 * i] = static_cast<T>(v.re);
      data[2 * i + 1] = static_cast<T>(v.im);
    } else {
      data[i] = static_cast<T>(v.re);
    }
  }
};

// Calls f(Elements<...>{}, T{}) for the types that a transform may have.
template <class F>
void with_elements(DType type, F f) {
  switch (type) {
    case DType::kF32:
      return f(Elements<float, false>{}, float{});
    case DType::kF64:
      return f(Elements<double, false>{}, double{});
    case DType::kC64:
      return f(Elements<float, true>{}, float{});
    default:
      return f(Elements<double, true>{}, double{});
  }
}

// Thread-safety: immutable.
class FftKernel final : public ScratchKernel {
 public:
  FftKernel(ir::FftType type, std::vector<std::int64_t> lengths)
      : type_(type),
        inverse_(type == ir::FftType::kIfft || type == ir::FftType::kIrfft),
        lengths_(std::move(lengths)) {
    for (std::int64_t n : lengths_) {
      transforms_.emplace_back(std::max<std::int64_t>(n, 1));
      if (inverse_) scale_ /= static_cast<double>(std::max<std::int64_t>(n, 1));
    }
    if (type_ == ir::FftType::kRfft)
      real_ = std::make_unique<RealFourierTransform>(std::max<std::int64_t>(lengths_.back(), 1));
  }

  int independent_dims(std::span<const ConstArray> operands,
                       std::span<const MutableArray> /*results*/) const override {
    return operands[0].shape.rank() - static_cast<int>(lengths_.size());
  }

 private:
  Status call(std::span<const ConstArray> operands, std::span<const MutableArray> results,
              Scratch& scratch) const override {
    const ConstArray& from = operands[0];
    const MutableArray& to = results[0];
    if (to.shape.elements() == 0) return {};
    // All of the spectrum: irfft completes the half that it is given, by symmetry. Of real numbers
    // the half that is wanted.
    DimVector dims(real_ != nullptr ? to.shape.dims() : from.shape.dims());
    if (type_ == ir::FftType::kIrfft && !lengths_.empty()) dims.back() = lengths_.back();
    std::int64_t most = real_ != nullptr ? real_->memory_elements() : 0;
    for (const FourierTransform& t : transforms_) most = std::max(most, t.memory_elements());
    const auto x = scratch.take<Number>(product(dims)), memory = scratch.take<Number>(most);
    const auto row =
        scratch.take<Number>(std::max(*std::ranges::max_element(dims), lengths_.back()));
    if (scratch.measures()) return {};
    if (real_ != nullptr)
      transform_real(from, x, row, memory);
    else
      read(from, dims, x);
    const std::size_t first = dims.size() - lengths_.size();
    for (std::size_t k = 0; k < lengths_.size() - (real_ != nullptr ? 1 : 0); ++k)
      along(transforms_[k], x, dims, first + k, row, memory);
    write(x, dims, to);
    return {};
  }

  // The conjugates for an inverse: see FourierTransform::run.
  void read(const ConstArray& from, const DimVector& dims, std::span<Number> x) const {
    with_elements(from.shape.dtype(), [&](auto elements, auto part) {
      read_as<decltype(elements)>(reinterpret_cast<const decltype(part)*>(from.data), from.shape,
                                  dims, x.data());
    });
  }
  template <class E, class T>
  void read_as(const T* from, const Shape& shape, const DimVector& dims, Number* to) const {
    DimVector outer = dims;
    const std::int64_t n = outer.back(), given = std::min(n, shape.dim(shape.rank() - 1));
    outer.back() = 1;
    const DimVector strides = dense_strides(shape);
    const double sign = inverse_ ? -1 : 1;
    each_index(outer, [&](const DimVector& index, std::int64_t) {
      // Beyond the half: the conjugate of the element that lies opposite.
      DimVector opposite = index;
      for (std::size_t k = 0; k + 1 < lengths_.size(); ++k) {
        const std::size_t d = dims.size() - lengths_.size() + k;
        opposite[d] = (dims[d] - opposite[d]) % dims[d];
      }
      const std::int64_t mine = linear_of(index, strides), other = linear_of(opposite, strides);
      for (std::int64_t i = 0; i < n; ++i, ++to) {
        const bool mirrored = i >= given;
        *to = E::get(from, mirrored ? other + (n - i) % n : mine + i);
        to->im *= mirrored ? -sign : sign;
      }
    });
  }

  // Along the last dimension.
  void transform_real(const ConstArray& from, std::span<Number> x, std::span<Number> row,
                      std::span<Number> memory) const {
    const std::int64_t n = lengths_.back(), rows = from.shape.elements() / n, kept = n / 2 + 1;
    const std::int64_t step = real_->takes_pairs() ? 2 : 1;
    with_elements(from.shape.dtype(), [&](auto, auto part) {
      const auto* data = reinterpret_cast<const decltype(part)*>(from.data);
      for (std::int64_t r = 0; r < rows; ++r, data += n) {
        for (std::int64_t i = 0; i < n; i += step)
          row[static_cast<std::size_t>(i / step)] = {data[i], step == 2 ? data[i + 1] : 0};
        real_->run(row.first(static_cast<std::size_t>(n / step)),
                   x.subspan(static_cast<std::size_t>(r * kept), static_cast<std::size_t>(kept)),
                   memory);
      }
    });
  }

  static void along(const FourierTransform& transform, std::span<Number> x, const DimVector& dims,
                    std::size_t dimension, std::span<Number> row, std::span<Number> memory) {
    const DimVector strides = dense_strides(dims);
    const auto n = static_cast<std::size_t>(dims[dimension]);
    const auto step = static_cast<std::size_t>(strides[dimension]);
    DimVector outer = dims;
    outer[dimension] = 1;
    each_index(outer, [&](const DimVector& index, std::int64_t) {
      const auto base = static_cast<std::size_t>(linear_of(index, strides));
      if (step == 1) return transform.run(x.subspan(base, n), memory);
      for (std::size_t i = 0; i < n; ++i) row[i] = x[base + i * step];
      transform.run(row.first(n), memory);
      for (std::size_t i = 0; i < n; ++i) x[base + i * step] = row[i];
    });
  }

  void write(std::span<const Number> x, const DimVector& dims, const MutableArray& to) const {
    const std::int64_t n = dims.back(), kept = to.shape.dim(to.shape.rank() - 1);
    const std::int64_t rows = to.shape.elements() / kept;
    const double re = scale_, im = inverse_ ? -scale_ : scale_;
    with_elements(to.shape.dtype(), [&](auto elements, auto part) {
      auto* data = reinterpret_cast<decltype(part)*>(to.data);
      for (std::int64_t r = 0; r < rows; ++r) {
        const Number* const row = x.data() + r * n;
        for (std::int64_t i = 0; i < kept; ++i)
          decltype(elements)::set(data, r * kept + i, {row[i].re * re, row[i].im * im});
      }
    });
  }

  const ir::FftType type_;
  const bool inverse_;
  const std::vector<std::int64_t> lengths_;
  std::vector<FourierTransform> transforms_;
  std::unique_ptr<RealFourierTransform> real_;  // of rfft, along the last dimension
  double scale_ = 1;
};

}  // namespace

Result<std::shared_ptr<const Kernel>> make_fft_kernel(const ir::Op& op) {
  auto lengths = op.ints("fft_length").value_or(std::vector<std::int64_t>{});
  if (lengths.empty() || lengths.size() > 3)
    return fail(ErrorCode::kInvalidArgument,
                op.where() + ": one to three fft lengths are expected");
  return std::make_shared<const FftKernel>(op.enum_or("fft_type", ir::FftType::kFft),
                                           std::move(lengths));
}

}  // namespace millrace::devices::cpu::definition
