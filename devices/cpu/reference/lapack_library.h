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

namespace millrace::devices::cpu::reference::lapack {

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

extern "C" {
Potrf<float> spotrf_;
Potrf<double> dpotrf_;
Potrf<Complex64> cpotrf_;
Potrf<Complex128> zpotrf_;
Getrf<float> sgetrf_;
Getrf<double> dgetrf_;
Getrf<Complex64> cgetrf_;
Getrf<Complex128> zgetrf_;
Trsm<float> strsm_;
Trsm<double> dtrsm_;
Trsm<Complex64> ctrsm_;
Trsm<Complex128> ztrsm_;
Geqrf<float> sgeqrf_;
Geqrf<double> dgeqrf_;
Geqrf<Complex64> cgeqrf_;
Geqrf<Complex128> zgeqrf_;
GeqP3Real<float> sgeqp3_;
GeqP3Real<double> dgeqp3_;
GeqP3Complex<Complex64> cgeqp3_;
GeqP3Complex<Complex128> zgeqp3_;
Orgqr<float> sorgqr_;
Orgqr<double> dorgqr_;
Orgqr<Complex64> cungqr_;
Orgqr<Complex128> zungqr_;
Ormqr<float> sormqr_;
Ormqr<double> dormqr_;
Ormqr<Complex64> cunmqr_;
Ormqr<Complex128> zunmqr_;
Syevd<float> ssyevd_;
Syevd<double> dsyevd_;
Heevd<Complex64> cheevd_;
Heevd<Complex128> zheevd_;
GesddReal<float> sgesdd_;
GesddReal<double> dgesdd_;
GesddComplex<Complex64> cgesdd_;
GesddComplex<Complex128> zgesdd_;
GesvdReal<float> sgesvd_;
GesvdReal<double> dgesvd_;
GesvdComplex<Complex64> cgesvd_;
GesvdComplex<Complex128> zgesvd_;
GeevReal<float> sgeev_;
GeevReal<double> dgeev_;
GeevComplex<Complex64> cgeev_;
GeevComplex<Complex128> zgeev_;
GeesReal<float> sgees_;
GeesReal<double> dgees_;
GeesComplex<Complex64> cgees_;
GeesComplex<Complex128> zgees_;
Gehrd<float> sgehrd_;
Gehrd<double> dgehrd_;
Gehrd<Complex64> cgehrd_;
Gehrd<Complex128> zgehrd_;
Sytrd<float> ssytrd_;
Sytrd<double> dsytrd_;
Sytrd<Complex64> chetrd_;
Sytrd<Complex128> zhetrd_;
Gtsv<float> sgtsv_;
Gtsv<double> dgtsv_;
Gtsv<Complex64> cgtsv_;
Gtsv<Complex128> zgtsv_;
Gttrf<float> sgttrf_;
Gttrf<double> dgttrf_;
Gttrf<Complex64> cgttrf_;
Gttrf<Complex128> zgttrf_;
}  // extern "C"

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
template <class T>
inline constexpr auto library_potrf = choose<T>(spotrf_, dpotrf_, cpotrf_, zpotrf_);
template <class T>
inline constexpr auto library_getrf = choose<T>(sgetrf_, dgetrf_, cgetrf_, zgetrf_);
template <class T>
inline constexpr auto library_trsm = choose<T>(strsm_, dtrsm_, ctrsm_, ztrsm_);
template <class T>
inline constexpr auto library_geqrf = choose<T>(sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_);
template <class T>
inline constexpr auto library_geqp3 = choose<T>(sgeqp3_, dgeqp3_, cgeqp3_, zgeqp3_);
template <class T>
inline constexpr auto library_orgqr = choose<T>(sorgqr_, dorgqr_, cungqr_, zungqr_);
template <class T>
inline constexpr auto library_ormqr = choose<T>(sormqr_, dormqr_, cunmqr_, zunmqr_);
template <class T>
inline constexpr auto library_syevd = choose<T>(ssyevd_, dsyevd_, cheevd_, zheevd_);
template <class T>
inline constexpr auto library_gesdd = choose<T>(sgesdd_, dgesdd_, cgesdd_, zgesdd_);
template <class T>
inline constexpr auto library_gesvd = choose<T>(sgesvd_, dgesvd_, cgesvd_, zgesvd_);
template <class T>
inline constexpr auto library_geev = choose<T>(sgeev_, dgeev_, cgeev_, zgeev_);
template <class T>
inline constexpr auto library_gees = choose<T>(sgees_, dgees_, cgees_, zgees_);
template <class T>
inline constexpr auto library_gehrd = choose<T>(sgehrd_, dgehrd_, cgehrd_, zgehrd_);
template <class T>
inline constexpr auto library_sytrd = choose<T>(ssytrd_, dsytrd_, chetrd_, zhetrd_);
template <class T>
inline constexpr auto library_gtsv = choose<T>(sgtsv_, dgtsv_, cgtsv_, zgtsv_);
template <class T>
inline constexpr auto library_gttrf = choose<T>(sgttrf_, dgttrf_, cgttrf_, zgttrf_);

}  // namespace millrace::devices::cpu::reference::lapack
