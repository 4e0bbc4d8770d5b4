// CallOptions: the stop token and the deadline that every asynchronous call of Millrace takes.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "millrace/core/base/braced.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/error.h"

namespace millrace {

// stop gives kCancelled, the deadline (an absolute point of the runtime's Clock) gives
// kDeadlineExceeded. A call whose stop is requested or whose deadline has passed always gives that
// error and begins nothing, however quick it would have been.
struct CallOptions {
  Braced<std::stop_token> stop = {};
  TimePoint deadline = kNoDeadline;
};

namespace detail {
inline Error too_late(const CallOptions& options, std::string_view what) {
  if (options.stop.stop_requested()) {
    return Error(ErrorCode::kCancelled, std::string(what) + " was stopped before it began");
  }
  return Error(ErrorCode::kDeadlineExceeded,
               std::string(what) + " was not begun: its deadline had passed when it was called");
}
}  // namespace detail

// The error of a call that comes too late: each call asks for it first. what: "the put".
inline Status check_in_time(const CallOptions& options, const Clock& clock, std::string_view what) {
  const bool late = options.deadline != kNoDeadline && options.deadline <= clock.now();
  if (!late && !options.stop.stop_requested()) [[likely]]
    return {};
  return std::unexpected(detail::too_late(options, what));
}

}  // namespace millrace
