// CallOptions: the stop token and the deadline that every asynchronous call of Millrace takes.
#pragma once

#include <stop_token>

#include "millrace/core/clock.h"

namespace millrace {

// stop gives kCancelled, the deadline (an absolute point of the runtime's Clock) gives
// kDeadlineExceeded.
struct CallOptions {
  std::stop_token stop;
  TimePoint deadline = kNoDeadline;
};

}  // namespace millrace
