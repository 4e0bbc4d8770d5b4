#include "millrace/tools/commands/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace millrace::commands {
namespace {

std::size_t slips(std::string_view from, std::string_view to) {
  // Rows of the table of distances between the beginnings of both: two before, and this one.
  std::vector<std::size_t> before_last(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const bool same = from[i - 1] == to[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[to.size()];
}

}  // namespace

std::string closest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  std::size_t fewest = word.size() / 3 + 1;
  for (const std::string& one : known) {
    const std::size_t count = slips(word, one);
    if (count == 0) return "";
    if (count >= fewest) continue;
    fewest = count;
    best = one;
  }
  return best;
}

}  // namespace millrace::commands
