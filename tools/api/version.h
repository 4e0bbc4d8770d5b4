// What this build is: version, compiler, and the libraries that it was built with.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace millrace {

std::string_view version();     // "0.1.0"
std::string_view compiler();    // "GNU 12.2.0"
std::string_view build_type();  // "Release", "Sanitize, thread sanitizer"
// Name and version, in order of the names.
std::span<const std::pair<std::string_view, std::string_view>> libraries();

}  // namespace millrace
