// What an errno of a file operation means as an ErrorCode, in words, and as an error.
#pragma once

#include <string>

#include "millrace/core/base/error.h"

namespace millrace {

ErrorCode errno_code(int number);
std::string errno_text(int number);
// "what: " and the words.
std::unexpected<Error> errno_error(const std::string& what, int number);

}  // namespace millrace
