#include "millrace/core/parallel_for.h"

namespace millrace {
namespace {

class SerialParallel final : public Parallel {
 public:
  int width() const override { return 1; }
  void run(int parts, FunctionRef<void(int)> body) override {
    for (int i = 0; i < parts; ++i) body(i);
  }
};

}  // namespace

std::unique_ptr<Parallel> make_serial_parallel() { return std::make_unique<SerialParallel>(); }

}  // namespace millrace
