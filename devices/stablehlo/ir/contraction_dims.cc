#include "millrace/devices/stablehlo/ir/contraction_dims.h"

#include <algorithm>
#include <charconv>

namespace millrace::devices::stablehlo::ir {
namespace {

bool is_label(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

using List = std::vector<std::int64_t>;

bool contains(const List& list, std::int64_t x) { return std::ranges::find(list, x) != list.end(); }

// "name = [1, 2]" somewhere in the text; an empty list where there is none. False if it is not
// well-formed.
bool read_list(std::string_view text, std::string_view name, List* out) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return true;
  const std::size_t open = text.find('[', at), close = text.find(']', at);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return false;
  const char* at_value = text.data() + open + 1;
  const char* const end = text.data() + close;
  const auto is_number = [](char c) { return c != ' ' && c != ','; };
  while ((at_value = std::find_if(at_value, end, is_number)) != end) {
    const auto [next, code] = std::from_chars(at_value, end, out->emplace_back());
    if (code != std::errc()) return false;
    at_value = next;
  }
  return true;
}

bool distinct_below(const List& a, const List& b, const List& c, int rank) {
  List all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) == all.end() &&
         (all.empty() || (all.front() >= 0 && all.back() < rank));
}

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

bool RaggedDot::fits(int lhs_rank, int rhs_rank) const {
  if (!distinct_below(lhs_batch, lhs_contract, {}, lhs_rank) ||
      !distinct_below(rhs_batch, rhs_contract, rhs_group, rhs_rank) ||
      lhs_batch.size() != rhs_batch.size() || lhs_contract.size() != rhs_contract.size() ||
      lhs_ragged.size() != 1 || lhs_ragged[0] < 0 || lhs_ragged[0] >= lhs_rank) {
    return false;
  }
  return rhs_group.size() == (mode() == RaggedMode::kFree ? 1 : 0);
}

RaggedMode RaggedDot::mode() const {
  if (contains(lhs_contract, lhs_ragged[0])) return RaggedMode::kContract;
  return contains(lhs_batch, lhs_ragged[0]) ? RaggedMode::kBatch : RaggedMode::kFree;
}

List RaggedDot::others(int rank, const List& a, const List& b) {
  List list;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (!contains(a, d) && !contains(b, d)) list.push_back(d);
  }
  return list;
}

List RaggedDot::prefix(int lhs_rank) const {
  const List kind = mode() == RaggedMode::kBatch      ? lhs_batch
                    : mode() == RaggedMode::kContract ? lhs_contract
                                                      : others(lhs_rank, lhs_batch, lhs_contract);
  List list = mode() == RaggedMode::kBatch ? List{} : lhs_batch;
  list.insert(list.end(), kind.begin(), std::ranges::find(kind, lhs_ragged[0]));
  return list;
}

std::optional<RaggedDot> ragged_dot_of(const Op& op) {
  const auto* attribute = op.attr<OpaqueAttr>("ragged_dot_dimension_numbers");
  if (attribute == nullptr) return std::nullopt;
  RaggedDot d;
  const std::string_view text = attribute->text;
  if (!read_list(text, "lhs_batching_dimensions", &d.lhs_batch) ||
      !read_list(text, "rhs_batching_dimensions", &d.rhs_batch) ||
      !read_list(text, "lhs_contracting_dimensions", &d.lhs_contract) ||
      !read_list(text, "rhs_contracting_dimensions", &d.rhs_contract) ||
      !read_list(text, "lhs_ragged_dimensions", &d.lhs_ragged) ||
      !read_list(text, "rhs_group_dimensions", &d.rhs_group)) {
    return std::nullopt;
  }
  return d;
}

}  // namespace millrace::devices::stablehlo::ir
