#include "millrace/core/ends_in_time.h"

#include <memory>
#include <semaphore>

#include "millrace/core/executor.h"

namespace millrace {

bool ends_in_time(const Future<void>& end, Duration limit) {
  // Shared with the end, which may come when nobody waits any more.
  const auto over = std::make_shared<std::binary_semaphore>(0);
  end.then(inline_executor(), [over](const Status&) { over->release(); }).ignore();
  return over->try_acquire_for(limit);
}

}  // namespace millrace
