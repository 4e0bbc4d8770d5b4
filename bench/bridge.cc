// What a bridge to a foreign event loop costs, for a libuv loop, a libevent base and a plain
// poll(2) loop each:
//   bridge.hop         from submit, with a value that is there, to the callback on the sleeping
//                      loop's thread; the peer is the raw hop: write an eventfd here, epoll_wait
//                      and read it there. Both wake a thread on the other core.
//   bridge.saturation  values that another thread makes, waits for and completes as fast as it can,
//                      through one loop
#include <event2/event.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/figure.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/loop/completion_fd.h"
#include "millrace/core/loop/event_bridge.h"
#include "millrace/core/loop/event_fd.h"
#include "millrace/core/loop/uv_bridge.h"

namespace millrace::bench {
namespace {

constexpr int kHops = 2000;
constexpr int kValues = 300000;
constexpr int kOnTheirWay = 4096;  // of these at a time: as many as a busy program may have
constexpr Duration kPause = std::chrono::microseconds(20);  // the loop is asleep again after it

void spin_for(Duration time) {
  const TimePoint end = steady_clock().now() + time;
  while (steady_clock().now() < end) {
  }
}

// ---- loops: each makes a bridge, reports it, and turns until no coroutine waits on it

using Ready = std::function<void(const LoopBridge&)>;

void serve_uv(const Ready& ready) {
  uv_loop_t loop;
  uv_loop_init(&loop);
  {
    const UvBridge bridge = UvBridge::create(&loop).value();
    ready(bridge);
    uv_run(&loop, UV_RUN_DEFAULT);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}

void serve_event(const Ready& ready) {
  event_base* const base = event_base_new();
  {
    const EventBridge bridge = EventBridge::create(base).value();
    ready(bridge);
    event_base_dispatch(base);
  }
  event_base_free(base);
}

void serve_poll(const Ready& ready) {
  const CompletionFd bridge = CompletionFd::create().value();
  ready(bridge);
  pollfd waited{.fd = bridge.completion_fd(), .events = POLLIN, .revents = 0};
  while (bridge.stats().waiting != 0 && ::poll(&waited, 1, -1) > 0) {
    static_cast<void>(bridge.drain());
  }
}

// One of them on a thread of its own, until this is destroyed.
class Served {
 public:
  explicit Served(void (*serve)(const Ready&)) {
    thread_ = std::thread([this, serve] {
      pin_to_core(1);
      serve([this](const LoopBridge& bridge) {
        end_.future().then(bridge, [](const Status&) {}).ignore();  // keeps the loop alive
        bridge_.store(&bridge);
      });
    });
    while (bridge_.load() == nullptr) std::this_thread::yield();
  }
  ~Served() {
    end_.set_value();
    thread_.join();
  }
  const LoopBridge& bridge() const { return *bridge_.load(); }

 private:
  Promise<void> end_;
  std::atomic<const LoopBridge*> bridge_{nullptr};
  std::thread thread_;
};

// ---- the peer

class RawHop {
 public:
  RawHop() : thread_([this] { serve(); }) {}
  ~RawHop() {
    end_.store(true);
    event_.signal();
    thread_.join();
    ::close(epoll_);
  }
  // Has arrived say when, over there.
  void hop(std::atomic<TimePoint>& arrived) {
    arrived_.store(&arrived);
    event_.signal();
  }

 private:
  void serve() {
    pin_to_core(1);
    epoll_event wanted{.events = EPOLLIN, .data = {}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, event_.descriptor(), &wanted);
    while (!end_.load()) {
      epoll_event found;
      if (epoll_wait(epoll_, &found, 1, -1) != 1) continue;
      event_.consume();
      if (auto* arrived = arrived_.exchange(nullptr)) arrived->store(steady_clock().now());
    }
  }

  const EventFd event_ = EventFd::create().value();
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::atomic<bool> end_{false};
  std::atomic<std::atomic<TimePoint>*> arrived_{nullptr};
  std::thread thread_;
};

// ---- measuring

// The median of kHops hops in microseconds. hop(arrived) sends one that writes the time there.
template <class F>
double median_hop_us(F&& hop) {
  std::vector<double> times;
  for (int i = 0; i < kHops; ++i) {
    spin_for(kPause);
    std::atomic<TimePoint> arrived{TimePoint()};
    const TimePoint begin = steady_clock().now();
    hop(arrived);
    while (arrived.load() == TimePoint()) {
    }
    times.push_back(std::chrono::duration<double, std::micro>(arrived.load() - begin).count());
  }
  return quantile(std::move(times), 0.5);
}

double completions_per_s(const LoopBridge& bridge) {
  std::atomic<int> seen{0};  // written by the loop's thread alone
  const double seconds = seconds_of([&] {
    for (int i = 0; i < kValues; ++i) {
      while (i - seen.load(std::memory_order_relaxed) >= kOnTheirWay) std::this_thread::yield();
      Promise<int> promise;
      promise.future()
          .then(bridge,
                [&](const Result<int>&) {
                  seen.store(seen.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
                })
          .ignore();
      promise.set(i);
    }
    while (seen.load() != kValues) std::this_thread::yield();
  });
  return kValues / seconds;
}

void measure_loop(Session& session, const std::string& name, void (*serve)(const Ready&)) {
  const std::string hop = "bridge.hop." + name, saturation = "bridge.saturation." + name;
  if (!session.wants(hop) && !session.wants(saturation)) return;
  pin_to_core(0);
  const Served served(serve);
  const LoopBridge& bridge = served.bridge();
  RawHop raw;
  const auto ours_us = [&] {
    return median_hop_us([&](std::atomic<TimePoint>& arrived) {
      make_ready(1)
          .then(bridge, [&](const Result<int>&) { arrived.store(steady_clock().now()); })
          .ignore();
    });
  };
  const auto peer_us = [&] {
    return median_hop_us([&](std::atomic<TimePoint>& arrived) { raw.hop(arrived); });
  };
  session.measure(
      {.name = hop, .unit = "us", .peer = "raw eventfd hop", .goal = Goal::kAtMost, .limit = 1.2},
      ours_us, peer_us);
  session.measure(
      {.name = saturation, .unit = "M/s", .peer = "the limit", .goal = Goal::kAtLeast, .limit = 1},
      [&] { return completions_per_s(bridge) / 1e6; }, [] { return 1.0; });
}

void measure(Session& session) {
  measure_loop(session, "uv", &serve_uv);
  measure_loop(session, "event", &serve_event);
  measure_loop(session, "poll", &serve_poll);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
