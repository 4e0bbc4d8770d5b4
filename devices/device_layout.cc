#include "millrace/devices/device_layout.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

namespace millrace::devices {
namespace {

std::string list_of(std::span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t n : numbers) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

// "2,0,1": nullopt for anything else.
std::optional<std::vector<std::int64_t>> read_list(std::string_view text) {
  std::vector<std::int64_t> numbers;
  if (text.empty()) return numbers;
  for (const char* at = text.data();;) {
    const char* const end = text.data() + text.size();
    std::int64_t number = 0;
    const auto [stopped, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return std::nullopt;
    numbers.push_back(number);
    if (stopped == end) return numbers;
    if (*stopped != ',') return std::nullopt;
    at = stopped + 1;
  }
}

}  // namespace

DeviceLayout DeviceLayout::row_major(int rank) {
  DeviceLayout layout;
  for (int d = rank - 1; d >= 0; --d) layout.minor_to_major.push_back(d);
  return layout;
}

std::string DeviceLayout::to_text() const {
  std::string text = "{" + list_of(minor_to_major);
  if (!tiles.empty()) text += ":T";
  for (const auto& tile : tiles) text += "(" + list_of(tile) + ")";
  return text + "}";
}

Result<DeviceLayout> DeviceLayout::from_text(std::string_view text) {
  const std::string quoted = "'" + std::string(text) + "'";
  const auto no_layout = [&] {
    return fail(ErrorCode::kInvalidArgument, quoted + " is no layout, as {1,0} is one");
  };
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return no_layout();
  std::string_view rest = text.substr(1, text.size() - 2);
  const std::size_t colon = rest.find(':');
  DeviceLayout layout;
  auto order = read_list(rest.substr(0, colon));
  if (!order) return no_layout();
  layout.minor_to_major = *std::move(order);
  if (colon == std::string_view::npos) return layout;
  rest.remove_prefix(colon + 1);
  const auto more = [&] {
    return fail(ErrorCode::kUnimplemented,
                "the layout " + quoted + " says more than an order of dimensions and tiles");
  };
  if (!rest.starts_with("T(")) return more();
  rest.remove_prefix(1);
  while (!rest.empty()) {
    const std::size_t end = rest.find(')');
    if (rest.front() != '(') return more();
    if (end == std::string_view::npos) return no_layout();
    auto tile = read_list(rest.substr(1, end - 1));
    if (!tile) return more();  // as "*" for a dimension that is joined with the next
    layout.tiles.push_back(*std::move(tile));
    rest.remove_prefix(end + 1);
  }
  return layout;
}

Status DeviceLayout::check(int rank) const {
  std::vector<std::int64_t> sorted = minor_to_major;
  std::ranges::sort(sorted);
  bool good = sorted.size() == static_cast<std::size_t>(rank);
  for (std::size_t d = 0; good && d < sorted.size(); ++d)
    good = sorted[d] == static_cast<std::int64_t>(d);
  for (const auto& tile : tiles)
    good = good && !tile.empty() && std::ranges::all_of(tile, [](auto n) { return n > 0; });
  if (good) return {};
  return fail(ErrorCode::kInvalidArgument,
              to_text() + " is no layout of an array of " + std::to_string(rank) + " dimensions");
}

}  // namespace millrace::devices
