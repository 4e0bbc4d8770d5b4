// Futures and actors without devices: a program that links core and actors alone, on plain threads.
#include <cstdio>
#include <memory>

#include "millrace/actors/system.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/pool_executor.h"

using namespace millrace;

struct Add {
  int amount = 0;
};
struct Total {};

class Account final : public actors::Actor {
 public:
  void on(const Add& add) { total_ += add.amount; }
  int on(const Total&) const { return total_; }

 private:
  int total_ = 0;
};

int main() {
  const std::unique_ptr<PoolExecutor> threads = make_thread_executor(2, "example");
  TimerQueue timers(steady_clock());
  const Environment environment{.clock = &steady_clock(),
                                .timers = &timers,
                                .compute = threads.get(),
                                .blocking = threads.get()};
  actors::ActorSystem system(environment);
  Result<actors::ActorRef<Account>> account = system.spawn<Account>("account", {});
  if (!account) {
    std::fprintf(stderr, "%s\n", account.error().to_string().c_str());
    return 1;
  }
  for (int i = 1; i <= 10; ++i) account->tell(Add{i}).ignore();
  const Result<int> total = wait_blocking(account->ask(Total{}));  // after all of these
  if (!total) {
    std::fprintf(stderr, "%s\n", total.error().to_string().c_str());
    return 1;
  }
  std::printf("%d\n", *total);
  return wait_blocking(system.close()) ? 0 : 1;
}
