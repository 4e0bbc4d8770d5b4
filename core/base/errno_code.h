// What an errno of a file operation means as an ErrorCode, and in words.
#pragma once

#include <string>

#include "millrace/core/base/error.h"

namespace millrace {

ErrorCode errno_code(int number);
std::string errno_text(int number);

}  // namespace millrace
