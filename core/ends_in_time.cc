#include "millrace/core/ends_in_time.h"

#include <memory>
#include <semaphore>
#include <stop_token>

#include "millrace/core/executor.h"

namespace millrace {

bool ends_in_time(const Future<void>& end, Duration limit) {
  // Shared with the end, which may come when nobody waits any more.
  const auto over = std::make_shared<std::binary_semaphore>(0);
  end.then(inline_executor(), [over](const Status&) { over->release(); }).ignore();
  return over->try_acquire_for(limit);
}

bool ends_in_time(const Future<void>& end, const CallOptions& call) {
  const auto over = std::make_shared<std::counting_semaphore<2>>(0);
  end.then(inline_executor(), [over](const Status&) { over->release(); }).ignore();
  const std::stop_callback stopped(call.stop, [over] { over->release(); });
  if (call.deadline == kNoDeadline) {
    over->acquire();
  } else {
    static_cast<void>(over->try_acquire_until(call.deadline));
  }
  return end.ready();
}

}  // namespace millrace
