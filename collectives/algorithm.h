// Algorithm: how the processes of a group share the work of a collective: schedule.h says what each
// does. Within one process there is nothing to choose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace::collectives {

enum class Algorithm : std::uint8_t { kDirect, kRing, kRecursiveDoubling, kTree };
inline constexpr Algorithm kAlgorithms[] = {Algorithm::kDirect, Algorithm::kRing,
                                            Algorithm::kRecursiveDoubling, Algorithm::kTree};
// "recursive_doubling"
constexpr std::string_view to_string(Algorithm algorithm) {
  constexpr std::string_view kWords[] = {"direct", "ring", "recursive_doubling", "tree"};
  return kWords[static_cast<std::size_t>(algorithm)];
}

}  // namespace millrace::collectives
