#include "millrace/devices/cpu/kernels/contraction/gemm_vector.h"

#include <algorithm>

namespace millrace::devices::cpu {

using Index = std::int64_t;

GemmWithVector::GemmWithVector(const MatmulSpec& s, const GemmTile<double>& tile, Index most_parts)
    : spec_(s), tile_(tile), most_parts_(most_parts) {
  right_is_vector_ = s.n == 1 && s.c_row == 1;
  if (!right_is_vector_ && s.m != 1) return;
  results_ = right_is_vector_ ? s.m : s.n;
  outer_ = right_is_vector_ ? s.a_row : s.b_column;
  term_ = right_is_vector_ ? s.a_column : s.b_row;
  step_ = right_is_vector_ ? s.b_row : s.a_column;
  if (term_ == 1 && step_ == 1)
    way_ = Way::kDots;
  else if (outer_ == 1)
    way_ = Way::kRows;
}

void GemmWithVector::run(const double* a, const double* b, double* c, Parallel& parallel) const {
  const Index all = spec_.batch * results_;
  const Index parts =
      std::clamp<Index>(all * spec_.k / kGemmPartWork, 1, std::min(most_parts_, all));
  parallel.run(static_cast<int>(parts), [&](Index part) {
    const Index end = all * (part + 1) / parts;
    for (Index i = all * part / parts; i < end;) {
      const Index batch = i / results_, first = i % results_,
                  some = std::min(results_ - first, end - i);
      const double* const left = a + batch * spec_.a_batch;
      const double* const right = b + batch * spec_.b_batch;
      multiply((right_is_vector_ ? left : right) + first * outer_, right_is_vector_ ? right : left,
               some, c + batch * spec_.c_batch + first);
      i += some;
    }
  });
}

void GemmWithVector::multiply(const double* matrix, const double* vector, Index results,
                              double* c) const {
  if (way_ == Way::kRows) {
    tile_.sum_rows(spec_.k, results, vector, step_, matrix, term_, c);
    return;
  }
  for (Index i = 0; i < results; ++i) c[i] = tile_.dot(spec_.k, matrix + i * outer_, vector);
}

}  // namespace millrace::devices::cpu
