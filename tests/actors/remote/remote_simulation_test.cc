// A job of 2 to 5 ranks on a network of a seed's: searches, tells, asks, casts, ends of actors,
// cuts, epochs and closes in any order. Every future completes and nothing is left.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/actors/remote/remote_job.h"

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::SimFaults;
using millrace::testing::Simulation;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using namespace testing;  // NOLINT(google-build-using-namespace): the actors of remote_job.h

// Numbers of one sender come in their order, whatever is lost (AK-1, SE-1).
class Ordered final : public Actor {
 public:
  struct Number {
    std::uint32_t from = 0;
    std::uint64_t number = 0;
    std::vector<std::byte> load = {};
    static constexpr auto fields() {
      return field_list("from", &Number::from, "number", &Number::number, "load", &Number::load);
    }
    std::size_t bytes() const { return sizeof(Number) + load.size(); }
    static void reduce(std::uint64_t& into, std::uint64_t&& next) { into = std::max(into, next); }
  };
  struct Hold {
    std::uint64_t microseconds = 0;
    static constexpr auto fields() { return field_list("microseconds", &Hold::microseconds); }
  };
  using Remote = RemoteMessages<Number, Hold, Keep>;

  explicit Ordered(Simulation* sim) : sim_(sim) {}
  std::uint64_t on(const Number& number) {
    EXPECT_GT(number.number, last_[number.from]);
    last_[number.from] = number.number;
    return number.number;
  }
  Future<void> on(const Hold& hold) {
    return sleep_until(sim_->now() + microseconds(hold.microseconds), sim_->timers());
  }
  void on(const Keep&, Reply<int> reply) { kept_ = std::move(reply); }

 private:
  Simulation* const sim_;
  std::map<std::uint32_t, std::uint64_t> last_;
  Reply<int> kept_;
};

class RandomJob {
 public:
  RandomJob(Simulation& sim, std::uint32_t size, bool with_cuts)
      : sim_(sim), job_(sim, size, faults(sim, with_cuts)), with_cuts_(with_cuts) {
    for (std::uint32_t rank = 0; rank < size; ++rank) spawn(rank);
  }

  void step() {
    const std::uint32_t rank = below(job_.processes.size());
    const std::uint64_t what = sim_.below(100);
    if (what < 20 || refs_.empty()) {
      found_.emplace_back(rank,
                          job_.remote(rank).find<Ordered>(below(job_.processes.size()), "it"));
    } else if (what < 70) {
      say();
    } else if (what < 75) {
      cast(rank);
    } else if (what < 80) {
      const auto& ref = refs_[sim_.below(refs_.size())];
      kept_.push_back(ref.ref.ask(Keep{}, limits()));
    } else if (what < 84) {
      downs_.push_back(refs_[sim_.below(refs_.size())].ref.down());
    } else if (what < 86) {
      stop(rank);
    } else if (what < 88) {
      link_one(rank);
    } else if (what == 88 && with_cuts_) {
      job_.meshes.network.cut_all();
    } else if (what == 89 && with_cuts_) {
      job_.mesh(rank).declare_lost(below(job_.processes.size()),
                                   Error(ErrorCode::kUnavailable, "so it is"));
    } else if (what == 90) {
      said_.push_back(job_.mesh(rank).set_epoch(job_.mesh(rank).epoch() + 1));
    } else if (what == 91 && sim_.chance(0.3)) {
      closed_.push_back(job_.remote(rank).close());
    } else if (what == 92 && sim_.chance(0.3)) {
      closed_.push_back(job_.mesh(rank).close());
    }
    sim_.run_for(microseconds(sim_.chance(0.5) ? sim_.below(30) : sim_.below(4000)));
    take_found();
  }

  void finish() {
    sim_.run_for(milliseconds(sim_.below(50)));
    take_found();
    refs_.clear();
    job_.close_all();
    sim_.run_for(std::chrono::seconds(40));  // until patience for ranks that never came has ended
    all_ready(said_);
    all_ready(answers_);
    all_ready(kept_);
    all_ready(downs_);
    all_ready(closed_);
    for (const auto& [rank, future] : found_) {
      EXPECT_TRUE(future.ready());
      future.ignore();
    }
  }

 private:
  struct Held {
    std::uint32_t from;
    RemoteRef<Ordered> ref;
  };
  static SimFaults faults(Simulation& sim, bool with_cuts) {
    SimFaults faults{.stalls = sim.chance(0.3) ? 0.01 : 0, .most_room = 300 + sim.below(5000)};
    if (with_cuts && sim.chance(0.3)) faults.cuts = 0.002;
    return faults;
  }
  template <class T>
  static void all_ready(const std::vector<Future<T>>& all) {
    for (const auto& one : all) {
      EXPECT_TRUE(one.ready());  // AK-2
      one.ignore();
    }
  }
  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(sim_.below(bound)); }
  CallOptions limits() {
    if (sim_.chance(0.8)) return {};
    return {.deadline = sim_.now() + microseconds(sim_.below(20'000))};
  }
  void spawn(std::uint32_t rank) {
    job_.remote(rank).serve<Ordered>();
    auto made =
        job_.system(rank).spawn<Ordered>("it", {.mailbox_bytes = 100 + sim_.below(4000)}, &sim_);
    if (made) here_[rank] = *made;
  }
  void take_found() {
    std::erase_if(found_, [&](const auto& one) {
      if (!one.second.ready()) return false;
      if (one.second.result()) refs_.push_back({one.first, *one.second.result()});
      return true;
    });
  }
  void say() {
    const Held& held = refs_[sim_.below(refs_.size())];
    if (sim_.chance(0.1)) {
      said_.push_back(held.ref.tell(Ordered::Hold{sim_.below(3000)}, limits()));
      return;
    }
    const Ordered::Number number{held.from, ++number_, std::vector<std::byte>(sim_.below(1500))};
    if (sim_.chance(0.5)) {
      said_.push_back(held.ref.tell(number, limits()));
    } else {
      answers_.push_back(held.ref.ask(number, limits()));
    }
  }
  // A cast to one rank is no sender of the others': it has a number of its own.
  void cast(std::uint32_t rank) {
    const Ordered::Number number{1000 + static_cast<std::uint32_t>(++number_), 1};
    answers_.push_back(job_.remote(rank).cast<Ordered>("it", number, limits()));
  }
  void stop(std::uint32_t rank) {
    const ActorRef<Ordered> old = here_[rank];
    const Future<Down> down =
        sim_.chance(0.5) ? old.stop() : old.kill(Error(ErrorCode::kInternal, "enough"));
    EXPECT_TRUE(sim_.run(down).has_value());
    spawn(rank);
  }
  void link_one(std::uint32_t rank) {
    const Held& held = refs_[sim_.below(refs_.size())];
    if (held.from == rank) link(here_[rank], held.ref);
  }

  Simulation& sim_;
  RemoteJob job_;
  const bool with_cuts_;
  std::uint64_t number_ = 0;
  std::map<std::uint32_t, ActorRef<Ordered>> here_;
  std::vector<std::pair<std::uint32_t, Future<RemoteRef<Ordered>>>> found_;
  std::vector<Held> refs_;
  std::vector<Future<void>> said_, closed_;
  std::vector<Future<std::uint64_t>> answers_;
  std::vector<Future<int>> kept_;
  std::vector<Future<Down>> downs_;
};

void run_random(Simulation& sim, bool with_cuts) {
  RandomJob job(sim, 2 + static_cast<std::uint32_t>(sim.below(4)), with_cuts);
  const std::uint64_t steps = 20 + sim.below(200);
  for (std::uint64_t i = 0; i < steps; ++i) job.step();
  job.finish();
}

TEST(RemoteSimulationTest, CallsEndsEpochsAndClosesInAnyOrderCompleteAndLeaveNothing) {
  for_each_seed(100, [](Simulation& sim) { run_random(sim, false); });
}

TEST(RemoteSimulationTest, CutsAndNewsOfLossesFailWhatTheyMustAndLeaveNothing) {
  for_each_seed(100, [](Simulation& sim) { run_random(sim, true); });
}

}  // namespace
}  // namespace millrace::actors
