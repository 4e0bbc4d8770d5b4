// The programs that the checks compile: StableHLO text over f32 arrays, plain enough for any
// plugin.
#pragma once

#include <cstdint>
#include <string>

namespace millrace::conform {

inline constexpr std::int64_t kLength = 4;            // of the arrays of the small programs
inline constexpr std::int64_t kLongLength = 1 << 14;  // of the long one's

std::string increment_program();          // (x) -> x + 1
std::string add_program();                // (a, b) -> a + b
std::string identity_program();           // (x) -> x
std::string split_program();              // (x) -> x + x, x * x
std::string constant_program();           // () -> 7, 7, 7, 7
std::string donated_increment_program();  // (x donated) -> x + 1, in place where the plugin can
std::string donated_pair_program();       // (a donated, b donated) -> a + 1, b + 1
std::string sum_over_replicas_program();  // (x) -> the sum of every replica's x
// (x) -> x + 1, of kLongLength floats, in so many additions that it takes a while.
std::string long_program();
inline constexpr int kLongSteps = 32;  // long_program adds 1 / kLongSteps so often

}  // namespace millrace::conform
