// What a function behind lapack.h is given, and matrices in its memory, by columns as LAPACK has
// them. Internal to lapack*.cc: each of them has a table of the calls that it knows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "millrace/devices/cpu/kernels/call.h"
#include "millrace/devices/cpu/linalg/lapack_library.h"

namespace millrace::devices::cpu::linalg {

using definition::Scratch;

// Letters of the call ('L' or 'U', 'N' or 'T' or 'C', ...), flags and numbers.
struct Options {
  char side = 'L', triangle = 'L', transposed = 'N', diagonal = 'N', mode = 'V', sort = 'N';
  char left_vectors = 'N', right_vectors = 'N';
  bool left = true, transpose = false;
  Integer low = 1, high = 0;
};

struct Call {
  const Options& options;
  std::span<const ConstArray> operands;
  std::span<const MutableArray> results;
  Scratch& scratch;
};
using Run = Status (*)(const Call&);
using Runs = std::array<Run, 4>;  // of f32, f64 and their complex numbers; nullptr for none

// Names of extents and what they have been found to be: m and n as in the rule, k = min(m, n),
// p = n - 1, others by their first use.
using Extents = std::array<std::int64_t, 26>;
inline std::int64_t extent(const Extents& extents, char name) {
  return extents[static_cast<std::size_t>(name - 'a')];
}

// Whether the library can say in 32 bits how large its workspace is, which is some ten times this.
inline bool is_countable(const Extents& extents) {
  return extent(extents, 'm') <= 1 << 24 && extent(extents, 'n') <= 1 << 24;
}
inline bool is_triangle(const Options& o) { return o.triangle == 'L' || o.triangle == 'U'; }

struct Row {
  std::string_view name;  // without the letter of the element type
  // Operands and results, such as "T[m,n] T[k] -> T[m,n] i32[]", without the dimensions of the
  // batch. T is the element type, R the real one of it, C the complex one.
  std::string_view rule;
  // What the rule does not say; nullptr for nothing.
  bool (*fits)(const Extents&, const Options&);
  std::string_view otherwise;  // what `fits` wants, in words
  Runs runs;
  std::string_view complex_name = name;  // of those of complex numbers
};

// From a template <class T> Status function(const Call&), which may have further arguments.
#define MILLRACE_OF_ALL_TYPES(function, ...)                                                \
  {function<float __VA_OPT__(, ) __VA_ARGS__>, function<double __VA_OPT__(, ) __VA_ARGS__>, \
   function<Complex64 __VA_OPT__(, ) __VA_ARGS__>,                                          \
   function<Complex128 __VA_OPT__(, ) __VA_ARGS__>}
constexpr Runs real_ones(const Runs& all) { return {all[0], all[1], nullptr, nullptr}; }
constexpr Runs complex_ones(const Runs& all) { return {nullptr, nullptr, all[2], all[3]}; }

std::span<const Row> factor_rows();  // lapack_factors.cc
std::span<const Row> eigen_rows();   // lapack_eigen.cc

inline std::int64_t rows_of(const Shape& s) { return s.dim(s.rank() - 2); }
inline std::int64_t columns_of(const Shape& s) { return s.dim(s.rank() - 1); }
// How many matrices there are.
inline std::int64_t batches_of(const Shape& s) {
  std::int64_t count = 1;
  for (int i = 0; i < s.rank() - 2; ++i) count *= s.dim(i);
  return count;
}

template <class T>
Matrix<T> take(Scratch& scratch, std::int64_t rows, std::int64_t columns) {
  return {scratch.take<T>(rows * columns), rows, columns};
}
template <class T>
Matrix<T> take_like(const Call& c, std::size_t operand) {
  const Shape& s = c.operands[operand].shape;
  return take<T>(c.scratch, rows_of(s), columns_of(s));
}

// rows x columns elements from rows one after the other to columns one after the other; with both
// numbers changed, the other way.
template <class T>
void turn(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  constexpr std::int64_t kTile = 16;  // two tiles stay in the first cache
  for (std::int64_t i0 = 0; i0 < rows; i0 += kTile) {
    for (std::int64_t j0 = 0; j0 < columns; j0 += kTile) {
      for (std::int64_t j = j0; j < std::min(j0 + kTile, columns); ++j) {
        for (std::int64_t i = i0; i < std::min(i0 + kTile, rows); ++i)
          to[j * rows + i] = from[i * columns + j];
      }
    }
  }
}

// Piece `batch` of an operand or result: a vector of the span's size, a matrix.
template <class T>
const T* piece(const ConstArray& a, std::int64_t batch, std::int64_t elements) {
  return reinterpret_cast<const T*>(a.data) + batch * elements;
}
template <class T>
std::span<T> piece(const MutableArray& a, std::int64_t batch, std::int64_t elements) {
  return {reinterpret_cast<T*>(a.data) + batch * elements, static_cast<std::size_t>(elements)};
}
template <class T>
void read(const ConstArray& from, std::int64_t batch, const Matrix<T>& to) {
  turn(piece<T>(from, batch, to.rows * to.columns), to.rows, to.columns, to.data.data());
}
template <class T>
void write(const Matrix<T>& from, const MutableArray& to, std::int64_t batch) {
  turn(from.data.data(), from.columns, from.rows,
       piece<T>(to, batch, from.rows * from.columns).data());
}
template <class T>
void read(const ConstArray& from, std::int64_t batch, std::span<T> to) {
  std::copy_n(piece<T>(from, batch, std::ssize(to)), to.size(), to.data());
}
// Its status word.
inline void write_info(Integer info, const MutableArray& to, std::int64_t batch) {
  piece<Integer>(to, batch, 1)[0] = info;
}

template <class T>
bool is_finite(std::span<const T> all) {
  return std::ranges::all_of(all, [](const T& x) {
    if constexpr (kComplex<T>)
      return std::isfinite(x.real()) && std::isfinite(x.imag());
    else
      return std::isfinite(x);
  });
}
template <class T>
T not_a_number() {
  return T(std::numeric_limits<Real<T>>::quiet_NaN());
}

// As large as a query left in a first element. A size in f32 may have lost bits.
template <class T>
Workspace<T> take_workspace(Scratch& scratch, T first) {
  double size = std::real(first);
  if (std::is_same_v<Real<T>, float>) size *= 1 + 1e-7;
  const auto elements = static_cast<Integer>(std::clamp(std::ceil(size), 1.0, 2147483647.0));
  return {scratch.take<T>(elements).data(), elements};
}
// As large as call(query) leaves in the query's first element.
template <class T, class F>
Workspace<T> take_workspace_for(Scratch& scratch, F call) {
  T first(0);
  call(Workspace<T>{&first, -1});
  return take_workspace(scratch, first);
}

// For each batch: the operand (0) as `a`, what solve(batch) makes of it as result 0, and its word,
// if it gives one, as the last result. A solve(batch, workspace) is first asked for the size of
// that; it looks at no element itself.
template <class T, class F>
Status each_matrix(const Call& c, const Matrix<T>& a, F solve, std::size_t operand = 0) {
  if constexpr (requires { solve(0, Workspace<T>()); }) {
    const auto work =
        take_workspace_for<T>(c.scratch, [&](Workspace<T> query) { solve(0, query); });
    return each_matrix(c, a, [&](std::int64_t b) { return solve(b, work); }, operand);
  } else {
    if (c.scratch.measures()) return {};
    for (std::int64_t b = 0; b < batches_of(c.operands[operand].shape); ++b) {
      read(c.operands[operand], b, a);
      if constexpr (std::is_void_v<decltype(solve(b))>)
        solve(b);
      else
        write_info(solve(b), c.results.back(), b);
      write(a, c.results[0], b);
    }
    return {};
  }
}

}  // namespace millrace::devices::cpu::linalg
