// Names of backends and plugins, as users, variables and manifests give them.
#pragma once

#include <string>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace::devices {

// kInvalidArgument for an empty name and for control characters in one: names stand in lists, on
// terminals and in variables.
Status check_backend_name(std::string_view name);
// Control characters as "\x1b": for what a stranger wrote, in messages.
std::string printable(std::string_view text);

}  // namespace millrace::devices
