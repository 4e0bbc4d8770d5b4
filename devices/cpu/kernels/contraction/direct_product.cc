#include "millrace/devices/cpu/kernels/contraction/direct_product.h"

#include <algorithm>

#include "millrace/devices/cpu/kernels/base/split.h"

namespace millrace::devices::cpu {
namespace {

// Multiply-adds that make a part worth its start.
constexpr std::int64_t kDirectPartWork = 1 << 18;

// With fewer, most lanes would be idle.
constexpr std::int64_t kLeastBatch = 4;

bool fits_lanes(const MatmulSpec& s) {
  return s.batch >= kLeastBatch && std::max({s.m, s.n, s.k}) <= kSmallSide;
}

}  // namespace

template <class T>
DirectProduct<T>::DirectProduct(const MatmulSpec& spec, Index most_parts)
    : spec_(spec), tile_(MILLRACE_BEST_ISA(gemm_tile<T>())), most_parts_(most_parts) {
  if (fits_lanes(spec)) {
    way_ = Way::kSideBySide;
    return;
  }
  right_is_vector_ = spec.n == 1 && spec.c_row == 1;
  if (!right_is_vector_ && spec.m != 1) return;
  results_ = right_is_vector_ ? spec.m : spec.n;
  outer_ = right_is_vector_ ? spec.a_row : spec.b_column;
  term_ = right_is_vector_ ? spec.a_column : spec.b_row;
  step_ = right_is_vector_ ? spec.b_row : spec.a_column;
  if (term_ == 1 && step_ == 1)
    way_ = Way::kDots;
  else if (outer_ == 1)
    way_ = Way::kRows;
}

template <class T>
void DirectProduct<T>::multiply(const T* matrix, const T* vector, Index results, T* c) const {
  if (way_ == Way::kRows) return tile_.sum_rows(spec_.k, results, vector, step_, matrix, term_, c);
  for (Index i = 0; i < results; ++i) c[i] = tile_.dot(spec_.k, matrix + i * outer_, vector);
}

template <class T>
void DirectProduct<T>::run(const T* a, const T* b, T* c, Parallel& parallel) const {
  if (way_ == Way::kSideBySide) {
    const Index lanes = tile_.lanes, groups = (spec_.batch + lanes - 1) / lanes;
    split(groups, spec_.batch * spec_.m * spec_.n * spec_.k / kDirectPartWork, most_parts_,
          parallel, [&](Index begin, Index end) {
            for (Index i = begin * lanes; i < std::min(end * lanes, spec_.batch); i += lanes) {
              tile_.side_by_side(spec_, static_cast<int>(std::min(lanes, spec_.batch - i)),
                                 a + i * spec_.a_batch, b + i * spec_.b_batch,
                                 c + i * spec_.c_batch);
            }
          });
    return;
  }
  const Index all = spec_.batch * results_;
  split(all, all * spec_.k / kDirectPartWork, most_parts_, parallel, [&](Index begin, Index end) {
    for (Index i = begin; i < end;) {
      const Index batch = i / results_, first = i % results_,
                  some = std::min(results_ - first, end - i);
      const T* const left = a + batch * spec_.a_batch;
      const T* const right = b + batch * spec_.b_batch;
      multiply((right_is_vector_ ? left : right) + first * outer_, right_is_vector_ ? right : left,
               some, c + batch * spec_.c_batch + first);
      i += some;
    }
  });
}

template class DirectProduct<float>;
template class DirectProduct<double>;
template class DirectProduct<std::uint32_t>;
template class DirectProduct<std::uint64_t>;

}  // namespace millrace::devices::cpu
