// What the coroutines of the training await, and how an error ends them. g++ 12 destroys lambdas
// and aggregates that are temporaries of a co_await expression twice: the macros give what is
// awaited a name before.
#pragma once

#include <utility>
#include <vector>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/async/environment.h"

// MILLRACE_CO_TRY(auto x, result): x = the value, or the error ends the coroutine.
#define MILLRACE_CO_TRY(declaration, expression) \
  MILLRACE_CO_TRY_IMPL(MILLRACE_CONCAT(millrace_co_try_, __LINE__), declaration, expression)
#define MILLRACE_CO_TRY_IMPL(temporary, declaration, expression)    \
  auto temporary = (expression);                                    \
  if (!temporary) co_await ::millrace::end_with(temporary.error()); \
  declaration = *std::move(temporary)
// The same for a Status, which has no value.
#define MILLRACE_CO_TRY_STATUS(expression)                                              \
  do {                                                                                  \
    auto millrace_co_status = (expression);                                             \
    if (!millrace_co_status) co_await ::millrace::end_with(millrace_co_status.error()); \
  } while (false)
// The same for what a Task or a Future gives.
#define MILLRACE_AWAIT(declaration, awaitable) \
  MILLRACE_AWAIT_IMPL(MILLRACE_CONCAT(millrace_await_, __LINE__), declaration, awaitable)
#define MILLRACE_AWAIT_IMPL(temporary, declaration, awaitable) \
  auto temporary = (awaitable);                                \
  MILLRACE_CO_TRY(declaration, co_await std::move(temporary))
#define MILLRACE_AWAIT_STATUS(awaitable)                          \
  do {                                                            \
    auto millrace_awaited = (awaitable);                          \
    MILLRACE_CO_TRY_STATUS(co_await std::move(millrace_awaited)); \
  } while (false)

namespace millrace::train {

// A call on the executor that may block, as a future.
template <class F>
auto on_blocking(const Environment& environment, F f) {
  return make_ready().then(*environment.blocking,
                           [f = std::move(f)](const Status&) { return f(); });
}

// Completes when all have, with their values or the first error in their order.
template <class T>
Task<std::vector<T>> all_of(std::vector<Future<T>> futures) {
  MILLRACE_AWAIT_STATUS(when_all(futures));
  std::vector<T> values;
  for (const Future<T>& future : futures) values.push_back(*future.take());
  co_return values;
}

}  // namespace millrace::train
