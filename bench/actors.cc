// actors.fan_in: two threads send small messages to one actor, in messages per second.
// actors.ping_pong: two actors on one worker send a message back and forth, in round trips per
// second: neither side ever sleeps, so this is what a message costs, not a wake-up. The peer is
// CAF, with as many workers. actors.bytes: resident memory per idle actor, of a process of its own.
#include <unistd.h>

#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bench/actors_caf.h"
#include "bench/child.h"
#include "bench/fan_in.h"
#include "bench/figure.h"
#include "millrace/actors/system.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"

namespace millrace::bench {
namespace {

constexpr int kMessages = 500000;  // of each of the two senders
constexpr int kRoundTrips = 300000;
constexpr int kIdleActors = 100000;
constexpr const char* kNoCaf = "built without CAF; tools/install_packages bench installs it";

// What an actor system needs, on so many threads.
struct System {
  explicit System(int threads)
      : pool(make_executor(default_compute_backend(), threads, "bench")),
        timers(steady_clock()),
        actors(Environment{.clock = &steady_clock(),
                           .timers = &timers,
                           .compute = pool.get(),
                           .blocking = pool.get()}) {}
  ~System() { static_cast<void>(wait_blocking(actors.close())); }

  std::unique_ptr<PoolExecutor> pool;
  TimerQueue timers;
  actors::ActorSystem actors;
};

struct Add {
  int number;
};

class Counter final : public actors::Actor {
 public:
  explicit Counter(FanIn* fan_in) : fan_in_(fan_in) {}
  void on(const Add& /*add*/) { static_cast<void>(fan_in_->handled()); }

 private:
  FanIn* const fan_in_;
};

class Player;
struct Ball {
  int left;
  actors::ActorRef<Player> from;
};

class Player final : public actors::Actor {
 public:
  explicit Player(std::promise<void>* done) : done_(done) {}
  void on(const Ball& ball) {
    if (ball.left == 0) {
      done_->set_value();
    } else {
      ball.from.tell(Ball{ball.left - 1, actors::ActorRef<Player>(this)}).ignore();
    }
  }

 private:
  std::promise<void>* const done_;
};

class Idle final : public actors::Actor {
 public:
  void on(const Add& /*add*/) {}
};

double fan_in_seconds(System& system) {
  FanIn fan_in(kMessages);
  // Room for all that is on its way, as CAF's mailboxes have no bound.
  const actors::ActorOptions options{.mailbox_bytes = std::size_t{1} << 30};
  const auto actor = system.actors.spawn<Counter>("counter", options, &fan_in).value();
  const double seconds = fan_in.seconds([&](int i) { actor.tell(Add{i}).ignore(); });
  static_cast<void>(wait_blocking(actor.stop()));
  return seconds;
}

double ping_pong_seconds(System& system) {
  std::promise<void> done;
  const auto first = system.actors.spawn<Player>("first", {}, &done).value();
  const auto second = system.actors.spawn<Player>("second", {}, &done).value();
  const double seconds = seconds_of([&] {
    first.tell(Ball{2 * kRoundTrips, second}).ignore();
    done.get_future().wait();
  });
  static_cast<void>(wait_blocking(first.stop()));
  static_cast<void>(wait_blocking(second.stop()));
  return seconds;
}

double resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long pages = 0;
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1) {
    give_up("/proc/self/statm", "it cannot be read");
  }
  std::fclose(file);
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// In a process of its own: memory that was used before and is free again would not be counted.
int idle_part(const std::string& whose) {
  double before = 0;
  const auto print = [&] {
    std::printf("%.1f\n", (resident_bytes() - before) / kIdleActors);
    std::fflush(stdout);
    std::_Exit(0);
  };
  if (whose == "caf") {
    const auto peer = make_caf_peer(1);
    peer->spawn_idle(100);
    before = resident_bytes();
    peer->spawn_idle(kIdleActors);
    print();
  }
  System system(1);
  std::vector<actors::ActorRef<Idle>> actors(kIdleActors);  // the caller's, not counted
  const auto spawn = [&](int number) {
    return system.actors.spawn<Idle>("idle-" + std::to_string(number), {}).value();
  };
  for (int i = 0; i < 100; ++i)
    static_cast<void>(wait_blocking(spawn(kIdleActors + i).ask(Add{0})));
  before = resident_bytes();
  // Each has started and sleeps when it has answered. One after the other: else the executor keeps
  // room for a hundred thousand first slices at once, which is no actor's.
  for (int i = 0; i < kIdleActors; ++i) {
    auto& actor = actors[static_cast<std::size_t>(i)] = spawn(i);
    static_cast<void>(wait_blocking(actor.ask(Add{0})));
  }
  print();
  return 0;
}
const Part idle_actors("idle_actors", &idle_part);

double idle_bytes(const std::string& whose) {
  Child child(Part::command("idle_actors", whose));
  const auto line = child.read_line();
  if (!line) give_up("idle_actors", "no answer");
  return std::stod(*line);
}

void measure_rates(Session& session) {
  if (make_caf_peer(1) == nullptr) {
    session.skip("actors.fan_in", kNoCaf);
    session.skip("actors.ping_pong", kNoCaf);
    return;
  }
  if (session.wants("actors.fan_in")) {
    System system(1);
    const auto peer = make_caf_peer(1);
    session.measure(
        {.name = "actors.fan_in", .unit = "M/s", .peer = "CAF", .goal = Goal::kAtLeast, .limit = 2},
        [&] { return 2.0 * kMessages / fan_in_seconds(system) / 1e6; },
        [&] { return 2.0 * kMessages / peer->fan_in_seconds(kMessages) / 1e6; });
  }
  if (session.wants("actors.ping_pong")) {
    System system(1);
    const auto peer = make_caf_peer(1);
    session.measure(
        {.name = "actors.ping_pong",
         .unit = "M/s",
         .peer = "CAF",
         .goal = Goal::kAtLeast,
         .limit = 2},
        [&] { return kRoundTrips / ping_pong_seconds(system) / 1e6; },
        [&] { return kRoundTrips / peer->ping_pong_seconds(kRoundTrips) / 1e6; });
  }
}

void measure_bytes(Session& session) {
  if (!session.wants("actors.bytes")) return;
  session.measure(
      {.name = "actors.bytes",
       .unit = "bytes",
       .peer = "the limit",
       .goal = Goal::kAtMost,
       .limit = 1},
      [] { return idle_bytes("ours"); }, [] { return 384.0; });
  if (make_caf_peer(1) != nullptr) {
    session.remark("an idle actor of CAF: " + std::to_string(idle_bytes("caf")) + " bytes");
  }
}

const Registration rates(&measure_rates);
const Registration bytes(&measure_bytes);

}  // namespace
}  // namespace millrace::bench
