// The routines of LAPACK that lapack_*.cc call, as Fortran lays out their calls: everything by
// address, the lengths of strings behind. One name for the four element types: potrf<float> is
// spotrf, potrf<double> dpotrf, and so on. Workspaces are asked for with a size of -1; the optimal
// one comes back in their first element. A letter that it does not know may end the process, so the
// rules of the calls let none pass. What the arguments mean: the LAPACK Users' Guide,
// www.netlib.org/lapack. Any LAPACK of Debian's alternatives does (liblapack.so.3); the one of
// tools/packages.txt starts no threads, others may.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace millrace::devices::cpu::linalg {

using Integer = std::int32_t;
using Letter = const char*;
using Size = const Integer*;
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

// Types of routines; a real one and a complex one where these differ in more than T.
template <class T>
using Potrf = void(Letter uplo, Size n, T* a, Size lda, Integer* info, std::size_t);
template <class T>
using Getrf = void(Size m, Size n, T* a, Size lda, Integer* pivots, Integer* info);
template <class T>
using Trsm = void(Letter side, Letter uplo, Letter trans, Letter diag, Size m, Size n,
                  const T* alpha, const T* a, Size lda, T* b, Size ldb, std::size_t, std::size_t,
                  std::size_t, std::size_t);
template <class T>
using Geqrf = void(Size m, Size n, T* a, Size lda, T* tau, T* work, Size lwork, Integer* info);
template <class T>
using GeqP3Real = void(Size m, Size n, T* a, Size lda, Integer* columns, T* tau, T* work,
                       Size lwork, Integer* info);
template <class T>
using GeqP3Complex = void(Size m, Size n, T* a, Size lda, Integer* columns, T* tau, T* work,
                          Size lwork, Real<T>* rwork, Integer* info);
template <class T>
using Orgqr = void(Size m, Size n, Size k, T* a, Size lda, const T* tau, T* work, Size lwork,
                   Integer* info);
template <class T>
using Ormqr = void(Letter side, Letter trans, Size m, Size n, Size k, const T* a, Size lda,
                   const T* tau, T* c, Size ldc, T* work, Size lwork, Integer* info, std::size_t,
                   std::size_t);
template <class T>
using Syevd = void(Letter jobz, Letter uplo, Size n, T* a, Size lda, T* w, T* work, Size lwork,
                   Integer* iwork, Size liwork, Integer* info, std::size_t, std::size_t);
template <class T>
using Heevd = void(Letter jobz, Letter uplo, Size n, T* a, Size lda, Real<T>* w, T* work,
                   Size lwork, Real<T>* rwork, Size lrwork, Integer* iwork, Size liwork,
                   Integer* info, std::size_t, std::size_t);
template <class T>
using GesddReal = void(Letter jobz, Size m, Size n, T* a, Size lda, T* s, T* u, Size ldu, T* vt,
                       Size ldvt, T* work, Size lwork, Integer* iwork, Integer* info, std::size_t);
template <class T>
using GesddComplex = void(Letter jobz, Size m, Size n, T* a, Size lda, Real<T>* s, T* u, Size ldu,
                          T* vt, Size ldvt, T* work, Size lwork, Real<T>* rwork, Integer* iwork,
                          Integer* info, std::size_t);
template <class T>
using GesvdReal = void(Letter jobu, Letter jobvt, Size m, Size n, T* a, Size lda, T* s, T* u,
                       Size ldu, T* vt, Size ldvt, T* work, Size lwork, Integer* info, std::size_t,
                       std::size_t);
template <class T>
using GesvdComplex = void(Letter jobu, Letter jobvt, Size m, Size n, T* a, Size lda, Real<T>* s,
                          T* u, Size ldu, T* vt, Size ldvt, T* work, Size lwork, Real<T>* rwork,
                          Integer* info, std::size_t, std::size_t);
template <class T>
using GeevReal = void(Letter jobvl, Letter jobvr, Size n, T* a, Size lda, T* wr, T* wi, T* vl,
                      Size ldvl, T* vr, Size ldvr, T* work, Size lwork, Integer* info, std::size_t,
                      std::size_t);
template <class T>
using GeevComplex = void(Letter jobvl, Letter jobvr, Size n, T* a, Size lda, T* w, T* vl, Size ldvl,
                         T* vr, Size ldvr, T* work, Size lwork, Real<T>* rwork, Integer* info,
                         std::size_t, std::size_t);
// `select` is a function for sorting, which is never asked for.
template <class T>
using GeesReal = void(Letter jobvs, Letter sort, const void* select, Size n, T* a, Size lda,
                      Integer* sdim, T* wr, T* wi, T* vs, Size ldvs, T* work, Size lwork,
                      Integer* bwork, Integer* info, std::size_t, std::size_t);
template <class T>
using GeesComplex = void(Letter jobvs, Letter sort, const void* select, Size n, T* a, Size lda,
                         Integer* sdim, T* w, T* vs, Size ldvs, T* work, Size lwork, Real<T>* rwork,
                         Integer* bwork, Integer* info, std::size_t, std::size_t);
template <class T>
using Gehrd = void(Size n, Size low, Size high, T* a, Size lda, T* tau, T* work, Size lwork,
                   Integer* info);
template <class T>
using Sytrd = void(Letter uplo, Size n, T* a, Size lda, Real<T>* d, Real<T>* e, T* tau, T* work,
                   Size lwork, Integer* info, std::size_t);
template <class T>
using Gtsv = void(Size n, Size columns, T* dl, T* d, T* du, T* b, Size ldb, Integer* info);
template <class T>
using Gttrf = void(Size n, T* dl, T* d, T* du, T* du2, Integer* pivots, Integer* info);

template <class T>
constexpr auto choose(auto* s, auto* d, auto* c, auto* z) {
  if constexpr (std::is_same_v<T, float>)
    return s;
  else if constexpr (std::is_same_v<T, double>)
    return d;
  else if constexpr (std::is_same_v<T, Complex64>)
    return c;
  else
    return z;
}

// Declares library_NAME<T>; complex_name: where the routine of complex numbers has another.
#define MILLRACE_ROUTINE(name, RealType, complex_name, ComplexType) \
  extern "C" {                                                      \
  RealType<float> s##name##_;                                       \
  RealType<double> d##name##_;                                      \
  ComplexType<Complex64> c##complex_name##_;                        \
  ComplexType<Complex128> z##complex_name##_;                       \
  }                                                                 \
  template <class T>                                                \
  inline constexpr auto library_##name =                            \
      choose<T>(s##name##_, d##name##_, c##complex_name##_, z##complex_name##_);
MILLRACE_ROUTINE(potrf, Potrf, potrf, Potrf)
MILLRACE_ROUTINE(getrf, Getrf, getrf, Getrf)
MILLRACE_ROUTINE(trsm, Trsm, trsm, Trsm)
MILLRACE_ROUTINE(geqrf, Geqrf, geqrf, Geqrf)
MILLRACE_ROUTINE(geqp3, GeqP3Real, geqp3, GeqP3Complex)
MILLRACE_ROUTINE(orgqr, Orgqr, ungqr, Orgqr)
MILLRACE_ROUTINE(ormqr, Ormqr, unmqr, Ormqr)
MILLRACE_ROUTINE(syevd, Syevd, heevd, Heevd)
MILLRACE_ROUTINE(gesdd, GesddReal, gesdd, GesddComplex)
MILLRACE_ROUTINE(gesvd, GesvdReal, gesvd, GesvdComplex)
MILLRACE_ROUTINE(geev, GeevReal, geev, GeevComplex)
MILLRACE_ROUTINE(gees, GeesReal, gees, GeesComplex)
MILLRACE_ROUTINE(gehrd, Gehrd, gehrd, Gehrd)
MILLRACE_ROUTINE(sytrd, Sytrd, hetrd, Sytrd)
MILLRACE_ROUTINE(gtsv, Gtsv, gtsv, Gtsv)
MILLRACE_ROUTINE(gttrf, Gttrf, gttrf, Gttrf)
#undef MILLRACE_ROUTINE

}  // namespace millrace::devices::cpu::linalg
