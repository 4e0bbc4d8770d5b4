// Fourier transforms of any length: radix 2 where the length allows, the chirp of Bluestein
// otherwise (a convolution, which radix 2 can do).
#include <cmath>
#include <complex>
#include <numbers>

#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
namespace {

using Number = std::complex<long double>;
using Numbers = std::vector<Number>;

// exp(i pi k / n), with k reduced first so that large k lose nothing.
Number unit_root(std::int64_t k, std::int64_t n) {
  const long double angle = std::numbers::pi_v<long double> *
                            static_cast<long double>(k % (2 * n)) / static_cast<long double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// In place, of a power of two; sign -1 forward, 1 backward; not scaled.
void radix_two(Numbers& x, int sign) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t length = 2; length <= n; length <<= 1) {
    for (std::size_t k = 0; k < length / 2; ++k) {
      const Number w =
          unit_root(2 * sign * static_cast<std::int64_t>(k), static_cast<std::int64_t>(length));
      for (std::size_t at = k; at < n; at += length) {
        const Number odd = x[at + length / 2] * w;
        x[at + length / 2] = x[at] - odd;
        x[at] += odd;
      }
    }
  }
}

void transform(Numbers& x, int sign) {
  const std::size_t n = x.size();
  if (n < 2) return;
  if ((n & (n - 1)) == 0) return radix_two(x, sign);
  std::size_t padded = 1;
  while (padded < 2 * n - 1) padded <<= 1;
  Numbers chirp(n), a(padded), b(padded);
  for (std::size_t k = 0; k < n; ++k) {
    const auto square = static_cast<std::int64_t>(k * k % (2 * n));
    chirp[k] = unit_root(sign * square, static_cast<std::int64_t>(n));
    a[k] = x[k] * chirp[k];
    b[k] = std::conj(chirp[k]);
    if (k > 0) b[padded - k] = b[k];
  }
  radix_two(a, -1);
  radix_two(b, -1);
  for (std::size_t k = 0; k < padded; ++k) a[k] *= b[k];
  radix_two(a, 1);
  for (std::size_t k = 0; k < n; ++k) x[k] = a[k] * chirp[k] / static_cast<long double>(padded);
}

// Along one dimension of a dense array of complex numbers.
void transform_dimension(Numbers& x, std::span<const std::int64_t> dims, std::size_t dimension,
                         int sign) {
  const DimVector strides = dense_strides(dims);
  const std::int64_t n = dims[dimension], step = strides[dimension];
  DimVector outer(dims);
  outer[dimension] = 1;
  Numbers row(static_cast<std::size_t>(n));
  each_index(outer, [&](const DimVector& index, std::int64_t) {
    const std::int64_t base = linear_of(index, strides);
    for (std::int64_t i = 0; i < n; ++i)
      row[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(base + i * step)];
    transform(row, sign);
    for (std::int64_t i = 0; i < n; ++i)
      x[static_cast<std::size_t>(base + i * step)] = row[static_cast<std::size_t>(i)];
  });
}

}  // namespace

Status run_fft(const Call& c) {
  const ConstArray& from = c.operands[0];
  const MutableArray& to = c.results[0];
  const auto lengths = c.op.ints("fft_length").value_or(std::vector<std::int64_t>{});
  const auto type = c.op.enum_or("fft_type", ir::FftType::kFft);
  const bool inverse = type == ir::FftType::kIfft || type == ir::FftType::kIrfft;
  const auto rank = static_cast<std::size_t>(from.shape.rank());
  if (to.shape.elements() == 0 || lengths.empty()) return {};

  // All of the spectrum: irfft completes the half that it is given, by symmetry.
  DimVector dims(from.shape.dims());
  const std::vector<Scalar> given = load_all(from);
  Numbers x;
  if (type == ir::FftType::kIrfft) dims.back() = lengths.back();
  const DimVector given_strides = dense_strides(from.shape);
  const std::int64_t half = from.shape.dim(from.shape.rank() - 1);
  each_index(dims, [&](const DimVector& index, std::int64_t) {
    DimVector at = index;
    const bool mirrored = at.back() >= half;
    if (mirrored) {
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        const std::size_t d = rank - lengths.size() + k;
        at[d] = (dims[d] - at[d]) % dims[d];
      }
    }
    const Scalar& s = given[static_cast<std::size_t>(linear_of(at, given_strides))];
    const long double im = is_complex(from.shape.dtype()) ? s.im : 0.0;
    x.emplace_back(s.re, mirrored ? -im : im);
  });
  long double scale = 1;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    transform_dimension(x, dims, rank - lengths.size() + k, inverse ? 1 : -1);
    if (inverse) scale *= static_cast<long double>(lengths[k]);
  }
  const DimVector strides = dense_strides(dims);
  each_index(to.shape.dims(), [&](const DimVector& index, std::int64_t linear) {
    const Number v = x[static_cast<std::size_t>(linear_of(index, strides))] / scale;
    store(to.shape.dtype(),
          from_complex(static_cast<double>(v.real()), static_cast<double>(v.imag())),
          to.data + static_cast<std::size_t>(linear) * width_of(to.shape));
  });
  return {};
}

}  // namespace millrace::devices::cpu::reference
