// What Runtime and RuntimeThreads have in common as they start threads: the fork that they must not
// come after, and the errors of a refusal.
#pragma once

#include <string>

#include "millrace/core/base/error.h"

namespace millrace {

// kFailedPrecondition in a process that was forked from one that had called it before.
Status check_first_generation(const std::string& what);
Error forked_error(const std::string& what);
// Inside of a catch: what it means that threads or memory were refused. what was not made.
Error not_made_error(const std::string& what);

}  // namespace millrace
