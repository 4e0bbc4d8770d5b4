#include "millrace/core/async/call_options.h"

#include <string>

namespace millrace::detail {

Error too_late(const CallOptions& options, std::string_view what) {
  if (options.stop.stop_requested()) {
    return Error(ErrorCode::kCancelled, std::string(what) + " was stopped before it began");
  }
  return Error(ErrorCode::kDeadlineExceeded,
               std::string(what) + " was not begun: its deadline had passed when it was called");
}

}  // namespace millrace::detail
