#include "millrace/collectives/rank.h"

namespace millrace::collectives {

std::string to_string(const std::vector<Rank>& ranks) {
  constexpr std::size_t kListed = 8;
  if (ranks.size() == 1) return to_string(ranks[0]);
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < kListed; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(index(ranks[i]));
  }
  if (ranks.size() > kListed) text += ", ... (" + std::to_string(ranks.size()) + " in all)";
  return text;
}

}  // namespace millrace::collectives
