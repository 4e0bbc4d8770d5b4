#include "millrace/devices/stablehlo/ir/einsum.h"

#include <algorithm>

namespace millrace::devices::stablehlo::ir {
namespace {

bool is_label(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::optional<EinsumConfig> parse_einsum(std::string_view config, int operands) {
  const std::size_t arrow = config.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  EinsumConfig parsed;
  std::string_view left = config.substr(0, arrow);
  while (true) {
    const std::size_t comma = left.find(',');
    parsed.operands.emplace_back(left.substr(0, comma));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  parsed.result = config.substr(arrow + 2);
  if (parsed.operands.size() != static_cast<std::size_t>(operands)) return std::nullopt;
  std::string all;
  for (const std::string& labels : parsed.operands) all += labels;
  const auto known = [&all](char c) { return all.find(c) != std::string::npos; };
  if (!std::ranges::all_of(all, is_label) || !std::ranges::all_of(parsed.result, known))
    return std::nullopt;
  return parsed;
}

}  // namespace millrace::devices::stablehlo::ir
