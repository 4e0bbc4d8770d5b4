// Bytes in words, for people.
#pragma once

#include <cstddef>
#include <string>

namespace millrace::inspect {

// "1.25 MiB", "640 B".
std::string bytes_text(std::size_t bytes);

}  // namespace millrace::inspect
