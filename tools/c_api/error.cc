#include "millrace/tools/c_api/error.h"

#include <new>
#include <string>

#include "millrace/core/future.h"

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
static_assert(MILLRACE_CANCELLED == static_cast<int>(millrace::ErrorCode::kCancelled));
static_assert(MILLRACE_UNKNOWN == static_cast<int>(millrace::ErrorCode::kUnknown));
static_assert(MILLRACE_INVALID_ARGUMENT == static_cast<int>(millrace::ErrorCode::kInvalidArgument));
static_assert(MILLRACE_DEADLINE_EXCEEDED ==
              static_cast<int>(millrace::ErrorCode::kDeadlineExceeded));
static_assert(MILLRACE_NOT_FOUND == static_cast<int>(millrace::ErrorCode::kNotFound));
static_assert(MILLRACE_ALREADY_EXISTS == static_cast<int>(millrace::ErrorCode::kAlreadyExists));
static_assert(MILLRACE_PERMISSION_DENIED ==
              static_cast<int>(millrace::ErrorCode::kPermissionDenied));
static_assert(MILLRACE_RESOURCE_EXHAUSTED ==
              static_cast<int>(millrace::ErrorCode::kResourceExhausted));
static_assert(MILLRACE_FAILED_PRECONDITION ==
              static_cast<int>(millrace::ErrorCode::kFailedPrecondition));
static_assert(MILLRACE_ABORTED == static_cast<int>(millrace::ErrorCode::kAborted));
static_assert(MILLRACE_OUT_OF_RANGE == static_cast<int>(millrace::ErrorCode::kOutOfRange));
static_assert(MILLRACE_UNIMPLEMENTED == static_cast<int>(millrace::ErrorCode::kUnimplemented));
static_assert(MILLRACE_INTERNAL == static_cast<int>(millrace::ErrorCode::kInternal));
static_assert(MILLRACE_UNAVAILABLE == static_cast<int>(millrace::ErrorCode::kUnavailable));
static_assert(MILLRACE_DATA_LOSS == static_cast<int>(millrace::ErrorCode::kDataLoss));
static_assert(MILLRACE_UNAUTHENTICATED == static_cast<int>(millrace::ErrorCode::kUnauthenticated));
