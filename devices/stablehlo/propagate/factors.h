// Factors: shardings of an operation's tensors seen by the factors of its rule, and how axes spread
// along a factor from the tensors that have them to those that do not. Two strategies: one that
// never lets a conflict arise, and one that decides conflicts. Read next: propagate.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "millrace/devices/stablehlo/propagate/axes.h"
#include "millrace/devices/stablehlo/propagate/rule.h"

namespace millrace::devices::stablehlo::propagate {

// From operands to results, back, or both: bits.
enum Direction : std::uint8_t { kNowhere = 0, kForward = 1, kBackward = 2, kBoth = 3 };
inline Direction operator&(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
inline Direction operator|(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

// How one tensor is cut along one factor.
struct FactorSharding {
  AxisList axes;
  AxisList overflow;       // of the dimension, that do not fit into the factor
  bool closed = false;     // takes no more axes
  bool innermost = false;  // the last factor of its dimension: parts need not divide it
  bool operator==(const FactorSharding&) const = default;
};

// A tensor by the factors that it has.
struct ProjectedTensor {
  std::vector<std::optional<FactorSharding>> factors;  // as many as the rule has
  AxisList replicated, unreduced;                      // axes that nothing may be cut along
  bool operator==(const ProjectedTensor&) const = default;
};

struct Projection {
  std::vector<ProjectedTensor> operands;
  std::vector<ProjectedTensor> results;
};

// nullptr: the tensor has no sharding so far, which is open everywhere.
ProjectedTensor project(const sharding::Sharding* sharding, const TensorFactors& mapping,
                        const Rule& rule);
// The dimensions' shardings of what is projected.
std::vector<sharding::DimSharding> unproject(const ProjectedTensor& tensor,
                                             const TensorFactors& mapping, const Rule& rule);

enum class Strategy : std::uint8_t { kBasic, kAggressive };

// Extends the projection; direction_of says where along a factor. elementwise: of the operation,
// whose conflicts are decided by what is cut most.
void spread_factors(Projection& projection, const Rule& rule, Strategy strategy, bool elementwise,
                    const std::function<Direction(int factor)>& direction_of);

}  // namespace millrace::devices::stablehlo::propagate
