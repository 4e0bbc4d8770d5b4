// Rank: a participant of a collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::collectives {

// Position of a participant in its group (0 .. size - 1).
enum class Rank : std::int32_t {};
constexpr int index(Rank rank) { return static_cast<int>(rank); }
// Its place in a list by rank.
constexpr std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }
inline std::string to_string(Rank rank) { return "rank " + std::to_string(index(rank)); }
// "rank 3" or "ranks 1, 4, 7"; at most eight are listed, then the count.
inline std::string to_string(const std::vector<Rank>& ranks) {
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

// A source and a target of collective_permute.
struct RankPair {
  Rank source;
  Rank target;
  bool operator==(const RankPair&) const = default;
};

// Typed detail of the errors of this room: who caused them (Error::detail<Culprits>()).
struct Culprits {
  enum class Kind : std::uint8_t { kMissing, kFailed, kMismatch, kInvalid };
  Kind kind;
  std::vector<Rank> ranks = {};
};

}  // namespace millrace::collectives
