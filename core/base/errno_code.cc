#include "millrace/core/base/errno_code.h"

#include <cerrno>
#include <system_error>

namespace millrace {

std::string errno_text(int number) { return std::generic_category().message(number); }

std::unexpected<Error> errno_error(const std::string& what, int number) {
  return fail(errno_code(number), what + ": " + errno_text(number));
}

ErrorCode errno_code(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case EISDIR:
      return ErrorCode::kInvalidArgument;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:  // the limit of a file system or of the process
      return ErrorCode::kResourceExhausted;
    case EIO:  // asking again would give it again
      return ErrorCode::kDataLoss;
    default:
      return ErrorCode::kUnavailable;
  }
}

}  // namespace millrace
