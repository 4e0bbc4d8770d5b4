// The rules of StableHLO's operations: how each may be cut over devices without another result.
// Which dimensions go together is what the operations mean; where there is a choice, it is that of
// Shardy, so that arrays lie where XLA lays them. Read next: rule.h.
#pragma once

#include <optional>

#include "millrace/devices/stablehlo/ir/op.h"
#include "millrace/devices/stablehlo/propagate/rule.h"

namespace millrace::devices::stablehlo::propagate {

// The operation has static shapes and was verified. nullopt: it has no rule, or is no operation of
// its own (control flow, edges): then nothing is propagated through it. Its own attribute
// sdy.sharding_rule goes first, and an error is that of the attribute.
Result<std::optional<Rule>> rule_of(const ir::Op& op);

// It does to each element what it does to the others, or is a constraint.
bool is_elementwise(const ir::Op& op);

// Parts of rule_of in files of their own: what moves windows and indexed slices.
Rule gather_rule(const ir::Op& op);
Rule scatter_rule(const ir::Op& op);
Rule convolution_rule(const ir::Op& op);
Rule reduce_window_rule(const ir::Op& op);
Rule select_and_scatter_rule(const ir::Op& op);
std::optional<Rule> custom_call_rule(const ir::Op& op);
std::optional<Rule> reshape_rule(const ir::Op& op);

}  // namespace millrace::devices::stablehlo::propagate
