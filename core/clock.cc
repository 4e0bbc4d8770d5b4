#include "millrace/core/clock.h"

namespace millrace {
namespace {

class SteadyClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& steady_clock() {
  static const SteadyClock instance;
  return instance;
}

}  // namespace millrace
