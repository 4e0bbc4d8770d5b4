// What a function of lapack.h is given, and matrices in its memory. Internal to lapack*.cc: the
// functions themselves are in lapack_factors.cc and lapack_spectra.cc, who calls them in lapack.cc.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>

#include "millrace/devices/cpu/kernels/dim_vector.h"
#include "millrace/devices/cpu/reference/kernel.h"

namespace millrace::devices::cpu::reference::lapack {

using Complex = std::complex<double>;

inline double conjugate(double x) { return x; }
inline Complex conjugate(Complex x) { return std::conj(x); }
inline double real_part(double x) { return x; }
inline double real_part(Complex x) { return x.real(); }
inline double imaginary_part(double) { return 0; }
inline double imaginary_part(Complex x) { return x.imag(); }
inline double size_of(double x) { return std::fabs(x); }
// As LAPACK compares pivots.
inline double size_of(Complex x) { return std::fabs(x.real()) + std::fabs(x.imag()); }
inline void get(const Scalar& s, double& x) { x = s.re; }
inline void get(const Scalar& s, Complex& x) { x = {s.re, s.im}; }
inline Scalar to_scalar(double x) { return from_real(x); }
inline Scalar to_scalar(Complex x) { return from_complex(x.real(), x.imag()); }

// Letters of the call: 'L' or 'U', 'N' or 'T' or 'C', ...
struct Options {
  char side = 'L', triangle = 'L', transposed = 'N', diagonal = 'N', mode = 'V';
};

// A row-major matrix.
template <class N>
struct Matrix {
  std::span<N> data;
  std::int64_t rows = 0, columns = 0;
  N& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
};

struct Call {
  const Options& options;
  std::span<const ConstArray> operands;
  std::span<const MutableArray> results;
  Scratch& scratch;
};

inline std::int64_t rows_of(const Shape& s) { return s.dim(s.rank() - 2); }
inline std::int64_t columns_of(const Shape& s) { return s.dim(s.rank() - 1); }
inline std::int64_t batches_of(const Shape& s) {
  return product(
      std::span<const std::int64_t>(s.dims()).first(static_cast<std::size_t>(s.rank() - 2)));
}

template <class N>
Matrix<N> take(Scratch& scratch, std::int64_t rows, std::int64_t columns) {
  return {scratch.take<N>(rows * columns), rows, columns};
}
// Piece `batch` of n elements.
template <class N>
void read(const ConstArray& from, std::int64_t batch, std::span<N> to) {
  const std::size_t width = byte_width(from.shape.dtype());
  for (std::size_t i = 0; i < to.size(); ++i)
    get(load(from.shape.dtype(),
             from.data + (static_cast<std::size_t>(batch) * to.size() + i) * width),
        to[i]);
}
template <class N>
void write(std::span<const N> from, const MutableArray& to, std::int64_t batch) {
  const std::size_t width = byte_width(to.shape.dtype());
  for (std::size_t i = 0; i < from.size(); ++i)
    store(to.shape.dtype(), to_scalar(from[i]),
          to.data + (static_cast<std::size_t>(batch) * from.size() + i) * width);
}
inline void write_integer(std::int64_t x, const MutableArray& to, std::int64_t at) {
  store(to.shape.dtype(), from_signed(x),
        to.data + static_cast<std::size_t>(at) * byte_width(to.shape.dtype()));
}

// N is double or Complex. Each reads its operands, computes in f64 and writes the results; where
// scratch measures, it only takes what it needs. The shapes are those that lapack.cc has checked.
template <class N>
Status potrf(const Call& c);
template <class N>
Status getrf(const Call& c);
template <class N>
Status trsm(const Call& c);
template <class N>
Status geqrf(const Call& c);
template <class N>
Status orgqr(const Call& c);
template <class N>
Status syevd(const Call& c);
template <class N>
Status gesdd(const Call& c);

}  // namespace millrace::devices::cpu::reference::lapack
