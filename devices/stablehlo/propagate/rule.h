// Rule: which dimensions of an operation's operands and results are cut together. A factor is what
// dimensions have in common; a dimension is one factor, or several, the first outermost:
// dot_general of [i, k] and [k, j] gives [i, j], a reshape of [ij] gives [i, j]. Read next:
// op_rules.h, the rule of each operation; factors.h, what is done with it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::stablehlo::propagate {

// The dimension of a tensor that has no part in a factor.
inline constexpr int kNoDim = -1;

struct FactorKind {
  std::int64_t size = 1;
  bool passes = true;    // cut alike everywhere, the operation needs no other device
  bool blocked = false;  // nothing is propagated along it
};

// The factors of each dimension of a tensor.
using TensorFactors = std::vector<std::vector<int>>;

struct Rule {
  std::vector<FactorKind> factors;
  std::vector<TensorFactors> operands;
  std::vector<TensorFactors> results;
};

// How a factor is cut where its parts are on several devices.
enum class Cut : std::uint8_t {
  kPasses,
  kReduces,     // parts are added up
  kReplicates,  // must not be cut
  kPermutes,    // neighbours exchange their edges
};

// Puts a rule together. Dimensions that no factor was given become factors of their own.
// Thread-safety: confined.
class RuleBuilder {
 public:
  // With the ranks of the operation's values; what is no tensor has none.
  explicit RuleBuilder(const ir::Op& op);
  RuleBuilder(std::span<const ir::Type> operands, std::span<const ir::Type> results);

  // One dimension, or kNoDim, for each operand and each result.
  RuleBuilder& add(std::span<const int> operands, std::span<const int> results, std::int64_t size,
                   Cut cut = Cut::kPasses, bool blocked = false);
  RuleBuilder& add(std::initializer_list<int> operands, std::initializer_list<int> results,
                   std::int64_t size, Cut cut = Cut::kPasses, bool blocked = false) {
    return add(std::span(operands.begin(), operands.size()),
               std::span(results.begin(), results.size()), size, cut, blocked);
  }
  // The same dimension of all tensors that are no scalars; of operands or results alone.
  RuleBuilder& add_to_all(int dim, std::int64_t size, Cut cut = Cut::kPasses, bool blocked = false);
  RuleBuilder& add_to_operands(int dim, std::int64_t size, Cut cut);
  RuleBuilder& add_to_results(int dim, std::int64_t size, Cut cut);
  // Each dimension of the shape, in all tensors.
  RuleBuilder& add_pointwise(std::span<const std::int64_t> shape);
  // The same where in and out agree; else `differing`.
  RuleBuilder& add_where_equal(std::span<const std::int64_t> in, std::span<const std::int64_t> out,
                               Cut differing, bool blocked);

  Rule build();

 private:
  int make_factor(std::int64_t size, Cut cut, bool blocked);

  Rule rule_;
};

// The rule of what gives what it gets: tensors of one shape.
Rule identity_rule(ir::Type type, int operands, int results);

// #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}, custom>, of an
// operation whose values have the same ranks.
Result<Rule> read_rule(std::string_view text, const ir::Op& op);

}  // namespace millrace::devices::stablehlo::propagate
