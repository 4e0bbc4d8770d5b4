// bench_bridge_hop [ROUNDS]: what a bridge to somebody else's loop costs, for a libuv loop, a
// libevent base and a plain poll(2) loop each:
//   bridge.hop         from submit, with a value that is there, to the callback on the sleeping
//                      loop's thread; the peer is the raw hop in the same run: write an eventfd
//                      here, epoll_wait and read it there
//   bridge.saturation  values that another thread completes as fast as it can, through one loop
// Rounds of ours and of the peer alternate, and each gives one ratio of their medians. Prints
// medians and quartiles and one JSON line per figure.
#include <event2/event.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/clock.h"
#include "millrace/core/completion_fd.h"
#include "millrace/core/event_bridge.h"
#include "millrace/core/event_fd.h"
#include "millrace/core/uv_bridge.h"

namespace millrace {
namespace {

constexpr int kHops = 2000;
constexpr int kValues = 200000;
constexpr Duration kPause = std::chrono::microseconds(20);  // the loop is asleep again after it

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

void spin_for(Duration time) {
  const TimePoint end = steady_clock().now() + time;
  while (steady_clock().now() < end) {
  }
}

// ---- loops: each makes a bridge, tells it, and turns until nobody waits on it

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
  std::vector<Promise<int>> promises(kValues);
  std::atomic<bool> done{false};
  int left = kValues;  // of the loop's thread
  for (auto& p : promises) {
    p.future()
        .then(bridge,
              [&](const Result<int>&) {
                if (--left == 0) done.store(true);
              })
        .ignore();
  }
  const TimePoint begin = steady_clock().now();
  for (auto& p : promises) p.set(1);
  while (!done.load()) std::this_thread::yield();
  return kValues / std::chrono::duration<double>(steady_clock().now() - begin).count();
}

void print(const std::string& figure, const char* unit, const std::vector<double>& ours,
           const char* peer, const std::vector<double>& peers, double goal, bool at_most) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / peers[i]);
  const double ratio = quantile(ratios, 0.5);
  std::printf("%-24s %12.2f %-4s peer %12.2f   ratio %.3f (quartiles %.3f to %.3f, %zu rounds)\n",
              figure.c_str(), quantile(ours, 0.5), unit, quantile(peers, 0.5), ratio,
              quantile(ratios, 0.25), quantile(ratios, 0.75), ratios.size());
  std::printf(
      "{\"figure\":\"%s\",\"unit\":\"%s\",\"ours\":%.3f,\"peer\":\"%s\",\"peer_value\":%.3f,"
      "\"ratio\":%.3f,\"goal\":%.2f,\"met\":%s}\n",
      figure.c_str(), unit, quantile(ours, 0.5), peer, quantile(peers, 0.5), ratio, goal,
      (at_most ? ratio <= goal : ratio >= goal) ? "true" : "false");
}

void measure(const char* name, void (*serve)(const Ready&), int rounds) {
  RawHop raw;
  const Served served(serve);
  const LoopBridge& bridge = served.bridge();
  std::vector<double> ours, peers, rates;
  for (int round = -1; round < rounds; ++round) {  // the first warms up
    const double here = median_hop_us([&](std::atomic<TimePoint>& arrived) {
      make_ready(1)
          .then(bridge, [&](const Result<int>&) { arrived.store(steady_clock().now()); })
          .ignore();
    });
    const double there = median_hop_us([&](std::atomic<TimePoint>& arrived) { raw.hop(arrived); });
    const double rate = completions_per_s(bridge);
    if (round < 0) continue;
    ours.push_back(here);
    peers.push_back(there);
    rates.push_back(rate);
  }
  const std::string suffix = std::string(".") + name;
  print("bridge.hop" + suffix, "us", ours, "raw eventfd hop", peers, 1.2, true);
  print("bridge.saturation" + suffix, "1/s", rates, "1 million a second",
        std::vector<double>(rates.size(), 1e6), 1.0, false);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  const int rounds = std::max(9, argc > 1 ? std::atoi(argv[1]) : 11);
  millrace::measure("uv", &millrace::serve_uv, rounds);
  millrace::measure("event", &millrace::serve_event, rounds);
  millrace::measure("poll", &millrace::serve_poll, rounds);
  return 0;
}
