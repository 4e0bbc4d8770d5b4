// millrace_error: an Error of ours as C sees it, and the border that no exception crosses.
#pragma once

#include <exception>

#include "millrace/core/base/error.h"
#include "millrace/tools/c_api/c_api.h"

namespace millrace::c_api {

// The caller's to destroy. Without memory it is one that says so, made before it is needed.
millrace_error* to_c(const Error& error) noexcept;
millrace_error* to_c(const std::exception_ptr& exception) noexcept;

// The body of every function that may fail: NULL, or its error.
template <class F>
millrace_error* guarded(F&& body) noexcept {
  try {
    const Status status = body();
    return status ? nullptr : to_c(status.error());
  } catch (...) {
    return to_c(std::current_exception());
  }
}

}  // namespace millrace::c_api
