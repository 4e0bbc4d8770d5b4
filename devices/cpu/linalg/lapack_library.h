// The routines of LAPACK that lapack_*.cc call. One name for the four element types: potrf<float>
// is spotrf, potrf<double> dpotrf, and so on. Workspaces are asked for with a size of -1; the
// optimal one comes back in their first element. A letter that it does not know may end the
// process, so the rules of the calls let none pass. What the arguments mean: the LAPACK Users'
// Guide, www.netlib.org/lapack. Any LAPACK of Debian's alternatives does (liblapack.so.3); the one
// of tools/packages.txt starts no threads, others may.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

namespace millrace::devices::cpu::linalg {

using Integer = std::int32_t;
using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

template <class T>
struct RealOf {
  using Type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using Type = R;
};
template <class T>
using Real = typename RealOf<T>::Type;
template <class T>
inline constexpr bool kComplex = !std::is_same_v<T, Real<T>>;

// By columns: element (i, j) is data[j * rows + i]. A routine takes it as its address and the
// number of rows.
template <class T>
struct Matrix {
  std::span<T> data;
  std::int64_t rows = 0, columns = 0;
  Integer m() const { return static_cast<Integer>(rows); }
  Integer n() const { return static_cast<Integer>(columns); }
  Integer leading() const { return std::max(m(), 1); }
  T& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(j * rows + i)];
  }
};

// A routine takes it as its address and its size.
template <class T>
struct Workspace {
  T* data = nullptr;
  Integer size = 0;
};

// An argument that a routine has for some element types only.
template <bool kTaken, class A>
struct OnlyIf {
  A argument;
};
template <class T, class A>
OnlyIf<kComplex<T>, A> if_complex(A argument) {
  return {argument};
}
template <class T, class A>
OnlyIf<!kComplex<T>, A> if_real(A argument) {
  return {argument};
}

// A routine as Fortran lays out its call: everything by address, the lengths of letters behind. The
// types of the arguments are those of the routine: Integer, char, T or Real<T>, and arrays of them.
struct Routine {
  void (*address)();

  // Returns the status word, the last argument.
  template <class... A>
  Integer operator()(A... arguments) const {
    Integer info = 0;
    call(arguments..., &info);
    return info;
  }
  // For a routine without that word.
  template <class... A>
  void call(A... arguments) const {
    void (*routine)() = address;
    asm("" : "+r"(routine));  // g++ believes the declaration, and passes no argument, if it sees it
    std::apply(
        [routine](auto... a) {
          reinterpret_cast<void (*)(decltype(passed(a))...)>(routine)(passed(a)...);
        },
        std::tuple_cat(words(arguments)..., lengths(arguments)...));
  }

 private:
  // What a routine sees of an argument: numbers and addresses.
  template <class N>
  static auto words(N number) {
    static_assert(std::is_pointer_v<N> || std::is_same_v<N, Integer> || std::is_same_v<N, char> ||
                  !std::is_integral_v<N>);
    return std::tuple(number);
  }
  // Where an array is empty or missing, queries still write to its first element.
  template <class T>
  static auto words(std::span<T> array) {
    thread_local T spare{};
    return std::tuple(array.empty() || array.data() == nullptr ? &spare : array.data());
  }
  template <class T>
  static auto words(Matrix<T> matrix) {
    return std::tuple_cat(words(matrix.data), std::tuple(matrix.leading()));
  }
  template <class T>
  static auto words(Workspace<T> work) {
    return std::tuple(work.data, work.size);
  }
  template <bool kTaken, class A>
  static auto words(OnlyIf<kTaken, A> some) {
    if constexpr (kTaken)
      return words(some.argument);
    else
      return std::tuple();
  }

  template <class A>
  static auto lengths(A) {
    if constexpr (std::is_same_v<A, char>)
      return std::tuple(std::size_t{1});
    else
      return std::tuple();
  }

  template <class N>
  static auto passed(N& word) {
    if constexpr (std::is_pointer_v<N> || std::is_same_v<N, std::size_t>)
      return word;
    else
      return &word;
  }
};

template <class T>
constexpr Routine choose(void (*s)(), void (*d)(), void (*c)(), void (*z)()) {
  if (kComplex<T>) return {std::is_same_v<Real<T>, float> ? c : z};
  return {std::is_same_v<T, float> ? s : d};
}

// Declares library_NAME<T>; complex_name: where the routine of complex numbers has another.
#define MILLRACE_ROUTINE(name, complex_name) \
  extern "C" {                               \
  void s##name##_();                         \
  void d##name##_();                         \
  void c##complex_name##_();                 \
  void z##complex_name##_();                 \
  }                                          \
  template <class T>                         \
  inline constexpr Routine library_##name =  \
      choose<T>(s##name##_, d##name##_, c##complex_name##_, z##complex_name##_);
MILLRACE_ROUTINE(potrf, potrf)
MILLRACE_ROUTINE(getrf, getrf)
MILLRACE_ROUTINE(trsm, trsm)
MILLRACE_ROUTINE(geqrf, geqrf)
MILLRACE_ROUTINE(geqp3, geqp3)
MILLRACE_ROUTINE(orgqr, ungqr)
MILLRACE_ROUTINE(ormqr, unmqr)
MILLRACE_ROUTINE(syevd, heevd)
MILLRACE_ROUTINE(gesdd, gesdd)
MILLRACE_ROUTINE(gesvd, gesvd)
MILLRACE_ROUTINE(geev, geev)
MILLRACE_ROUTINE(gees, gees)
MILLRACE_ROUTINE(gehrd, gehrd)
MILLRACE_ROUTINE(sytrd, hetrd)
MILLRACE_ROUTINE(gtsv, gtsv)
MILLRACE_ROUTINE(gttrf, gttrf)
#undef MILLRACE_ROUTINE

}  // namespace millrace::devices::cpu::linalg
