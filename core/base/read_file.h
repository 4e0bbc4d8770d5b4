// Reading files that a user names: regular ones only, so that a pipe, a device or a folder is an
// error and never something that is waited for. Blocking. Read next: transfer/formats/file.h, which
// reads such a file at any offset.
#pragma once

#include <string>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"

namespace millrace {

// To read it with. kInvalidArgument for what is no regular file, with what it is, and what errno
// says: kNotFound, kPermissionDenied, kResourceExhausted, ...
Result<Descriptor> open_regular_file(const std::string& path);
// All of its bytes. The same errors, kDataLoss where the disk gives one, and that of no_memory()
// (memory_left.h) where there is no room for them.
Result<std::string> read_file(const std::string& path);

// "a folder", "a pipe", "a device", "a socket", "a file" of st_mode.
const char* kind_of_file(unsigned mode);

}  // namespace millrace
