// GemmWithVector: products of a matrix and a vector (gemm.h), which need no panels.
#pragma once

#include <cstdint>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/contraction/gemm_tile.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"

namespace millrace::devices::cpu {

// Multiply-adds that make a part worth its start.
inline constexpr std::int64_t kGemmPartWork = 1 << 18;

// A product of f64 with one vector, which reads its matrix once, where it lies. False where the
// matrix has neither rows nor columns whose elements are neighbours, or there is no vector.
// Thread-safety: immutable.
class GemmWithVector {
 public:
  GemmWithVector() = default;
  GemmWithVector(const MatmulSpec& s, const GemmTile<double>& tile, std::int64_t most_parts);
  explicit operator bool() const { return way_ != Way::kNone; }

  void run(const double* a, const double* b, double* c, Parallel& parallel) const;

 private:
  enum class Way : std::uint8_t { kNone, kDots, kRows };

  void multiply(const double* matrix, const double* vector, std::int64_t results, double* c) const;

  MatmulSpec spec_;
  GemmTile<double> tile_;
  std::int64_t most_parts_ = 1;
  bool right_is_vector_ = false;
  std::int64_t results_ = 0, outer_ = 0, term_ = 0, step_ = 0;
  Way way_ = Way::kNone;
};

}  // namespace millrace::devices::cpu
