// A few words about an array, for people: its shape and its elements, or their range where they are
// many.
#pragma once

#include <string>

#include "millrace/devices/buffer.h"

namespace millrace::commands {

// "tensor<2x2xf32> [1, 2, 3, 4]"; beyond 16 elements "tensor<...> min -1.5, max 2, mean 0.25, 3 not
// finite". Element types that C++ has no number for are named only.
std::string summarize(const devices::HostArray& array);

}  // namespace millrace::commands
