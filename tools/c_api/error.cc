#include "millrace/tools/c_api/error.h"

#include <new>
#include <string>

#include "millrace/core/async/future.h"
#include "millrace/core/base/memory_left.h"

struct millrace_error {
  std::int32_t code;
  std::string message;
};

namespace millrace::c_api {
namespace {

// Fits where a string keeps short texts: made without memory. Never freed.
millrace_error no_memory{MILLRACE_RESOURCE_EXHAUSTED, "out of memory"};

}  // namespace

millrace_error* to_c(const Error& error) noexcept {
  try {
    return new millrace_error{static_cast<std::int32_t>(error.code()), error.message()};
  } catch (const std::bad_alloc&) {
    return &no_memory;
  }
}

millrace_error* to_c(const std::exception_ptr& exception) noexcept {
  try {
    std::rethrow_exception(exception);
  } catch (const NoMemory& e) {
    return to_c(e.error());
  } catch (const std::bad_alloc&) {
    return &no_memory;
  } catch (...) {
    try {
      return to_c(millrace::detail::exception_to_error(std::current_exception()));
    } catch (...) {  // there was no memory for the words
      return &no_memory;
    }
  }
}

}  // namespace millrace::c_api

extern "C" {

std::int32_t millrace_error_code(const millrace_error* error) {
  return error == nullptr ? MILLRACE_OK : error->code;
}

const char* millrace_error_message(const millrace_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

void millrace_error_destroy(millrace_error* error) {
  if (error != &millrace::c_api::no_memory) delete error;
}

}  // extern "C"

// The codes of the two are the same numbers.
#define MILLRACE_SAME(theirs, ours) \
  static_assert(MILLRACE_##theirs == static_cast<int>(millrace::ErrorCode::ours))
MILLRACE_SAME(CANCELLED, kCancelled);
MILLRACE_SAME(UNKNOWN, kUnknown);
MILLRACE_SAME(INVALID_ARGUMENT, kInvalidArgument);
MILLRACE_SAME(DEADLINE_EXCEEDED, kDeadlineExceeded);
MILLRACE_SAME(NOT_FOUND, kNotFound);
MILLRACE_SAME(ALREADY_EXISTS, kAlreadyExists);
MILLRACE_SAME(PERMISSION_DENIED, kPermissionDenied);
MILLRACE_SAME(RESOURCE_EXHAUSTED, kResourceExhausted);
MILLRACE_SAME(FAILED_PRECONDITION, kFailedPrecondition);
MILLRACE_SAME(ABORTED, kAborted);
MILLRACE_SAME(OUT_OF_RANGE, kOutOfRange);
MILLRACE_SAME(UNIMPLEMENTED, kUnimplemented);
MILLRACE_SAME(INTERNAL, kInternal);
MILLRACE_SAME(UNAVAILABLE, kUnavailable);
MILLRACE_SAME(DATA_LOSS, kDataLoss);
MILLRACE_SAME(UNAUTHENTICATED, kUnauthenticated);
#undef MILLRACE_SAME
