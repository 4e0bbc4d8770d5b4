#include "millrace/core/wall_clock.h"

#include <chrono>

namespace millrace {

Duration wall_time() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace millrace
