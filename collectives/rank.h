// Rank: who takes part in a collective.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::collectives {

// Position of a participant in its group (0 .. size - 1).
enum class Rank : std::int32_t {};
constexpr int index(Rank rank) { return static_cast<int>(rank); }
inline std::string to_string(Rank rank) { return "rank " + std::to_string(index(rank)); }
// "rank 3" or "ranks 1, 4, 7"; at most eight are listed, then the count.
std::string to_string(const std::vector<Rank>& ranks);

// Typed detail of the errors of this room: who caused them (Error::detail<Culprits>()).
struct Culprits {
  enum class Kind : std::uint8_t { kMissing, kFailed, kMismatch, kInvalid };
  Kind kind;
  std::vector<Rank> ranks = {};
};

}  // namespace millrace::collectives
