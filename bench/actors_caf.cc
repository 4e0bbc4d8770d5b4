#include "bench/actors_caf.h"

#if defined(MILLRACE_BENCH_CAF)

#include <caf/all.hpp>
#include <future>
#include <vector>

#include "bench/fan_in.h"
#include "bench/figure.h"

namespace millrace::bench {
namespace {

caf::behavior counter(caf::event_based_actor* self, FanIn* fan_in) {
  return {[self, fan_in](int) {
    if (fan_in->handled()) self->quit();
  }};
}

caf::behavior player(caf::event_based_actor* self, std::promise<void>* done) {
  return {[self, done](int left) {
    if (left == 0) {
      done->set_value();
    } else {
      self->send(caf::actor_cast<caf::actor>(self->current_sender()), left - 1);
    }
  }};
}

caf::behavior opener(caf::event_based_actor* self, const caf::actor& other, int left,
                     std::promise<void>* done) {
  self->send(other, left);
  return player(self, done);
}

caf::behavior idle(caf::event_based_actor* /*self*/) {
  return {[](int) {}};
}

class Peer final : public CafPeer {
 public:
  explicit Peer(int workers) : config_(workers), system_(config_) {}

  double fan_in_seconds(int messages) override {
    FanIn fan_in(messages);
    const caf::actor actor = system_.spawn(counter, &fan_in);
    return fan_in.seconds([&](int i) { caf::anon_send(actor, i); });
  }

  double ping_pong_seconds(int round_trips) override {
    std::promise<void> done;
    const caf::actor other = system_.spawn(player, &done);
    caf::actor first;
    const double seconds = seconds_of([&] {
      first = system_.spawn(opener, other, 2 * round_trips, &done);
      done.get_future().wait();
    });
    caf::anon_send_exit(first, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(other, caf::exit_reason::user_shutdown);
    return seconds;
  }

  void spawn_idle(int actors) override {
    for (int i = 0; i < actors; ++i) idle_.push_back(system_.spawn(idle));
  }

  ~Peer() override {
    for (const caf::actor& actor : idle_) {
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    }
  }

 private:
  struct Config : caf::actor_system_config {
    explicit Config(int workers) {
      set("scheduler.max-threads", static_cast<std::size_t>(workers));
    }
  };
  Config config_;
  caf::actor_system system_;
  std::vector<caf::actor> idle_;
};

}  // namespace

std::unique_ptr<CafPeer> make_caf_peer(int workers) { return std::make_unique<Peer>(workers); }

}  // namespace millrace::bench

#else

namespace millrace::bench {
std::unique_ptr<CafPeer> make_caf_peer(int /*workers*/) { return nullptr; }
}  // namespace millrace::bench

#endif
