// The configuration of einsum and unary_einsum: "ab,bc->ac", one letter per dimension. Read by the
// verifier and by the evaluator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::devices::stablehlo::ir {

struct EinsumConfig {
  std::vector<std::string> operands;  // the labels of each
  std::string result;
};

// nullopt if it has no arrow, another number of operands, something that is no letter, or a letter
// in the result that no operand has.
std::optional<EinsumConfig> parse_einsum(std::string_view config, int operands);

}  // namespace millrace::devices::stablehlo::ir
