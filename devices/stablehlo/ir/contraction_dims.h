// The dimensions of contractions that modules keep as text: einsum's labels, and the numbers of
// chlo.ragged_dot, an attribute of another dialect. The verifier and the evaluator read them by
// this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::stablehlo::ir {

// The configuration of einsum and unary_einsum: "ab,bc->ac", one letter per dimension.
struct EinsumConfig {
  std::vector<std::string> operands;  // the labels of each
  std::string result;
};

// nullopt if it has no arrow, another number of operands, something that is no letter, or a letter
// in the result that no operand has.
std::optional<EinsumConfig> parse_einsum(std::string_view config, int operands);

// chlo.ragged_dot cuts its left side into groups along one dimension. Its kind is the mode.
enum class RaggedMode : std::uint8_t {
  kFree,      // [b,m,k], [g,b,k,n], sizes along m -> [b,m,n]: each row has its group's matrix
  kContract,  // [b,m,k], [b,k,n], sizes along k -> [g,b,m,n]: one product per group
  kBatch,     // [b,m,k], [b,k,n], sizes along b -> [b,m,n]: the groups change nothing
};

struct RaggedDot {
  std::vector<std::int64_t> lhs_batch, rhs_batch, lhs_contract, rhs_contract, lhs_ragged, rhs_group;

  // Whether each list fits arrays of these ranks: in range, none twice, as many of one side as of
  // the other, one ragged dimension, and one group dimension in mode kFree, none in the others.
  bool fits(int lhs_rank, int rhs_rank) const;
  // Only for numbers that fit.
  RaggedMode mode() const;
  // The dimensions of an operand of this rank in none of two lists.
  static std::vector<std::int64_t> others(int rank, const std::vector<std::int64_t>& a,
                                          const std::vector<std::int64_t>& b);
  // The dimensions of the left side for each of which the group sizes may differ, in order: those
  // of its batch, and those before the ragged one of its kind.
  std::vector<std::int64_t> prefix(int lhs_rank) const;
};

// nullopt if the op has none that can be read.
std::optional<RaggedDot> ragged_dot_of(const Op& op);

}  // namespace millrace::devices::stablehlo::ir
