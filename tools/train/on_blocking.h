// on_blocking: a call on the executor that may block, as a future. Make the future first and
// co_await it then: g++ 12 destroys lambdas that are temporaries of a co_await expression twice.
#pragma once

#include <utility>

#include "millrace/core/environment.h"
#include "millrace/core/future.h"

namespace millrace::train {

template <class F>
auto on_blocking(const Environment& environment, F f) {
  return make_ready().then(*environment.blocking,
                           [f = std::move(f)](const Status&) { return f(); });
}

}  // namespace millrace::train
