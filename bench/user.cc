// user.*: what a program takes that uses the public headers alone (user_workload.h): on the
// embedded CPU device beside JAX from Python and fixed goals, and (user.plugin_*) on a PJRT plugin
// beside the bare C calls of that plugin. A value is the median over the calls of a round; p99 is
// that of each call. Where a thread of ours makes the call, which is so in a coroutine and with a
// deadline, its peer is the bare call and two raw wake-ups.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "bench/child.h"
#include "bench/pjrt_bare.h"
#include "bench/user_workload.h"
#include "bench/wake_ups.h"

namespace millrace::bench {
namespace {

using devices::HostBufferSemantics;
using devices::pjrt::abi::Buffer;
using Measure = std::function<Measured()>;

// What a figure is beside, and the end of its name where there are several.
struct Peer {
  std::string words;
  double limit = 1;
  Measure measure;
  std::string suffix = {};
};
using Peers = std::map<std::string, std::vector<Peer>>;  // by the name without family and prefix

// Another peer's time and so many microseconds.
Measure plus(const Measure& peer, const std::function<double()>& us) {
  return [=] {
    const Measured of = peer();
    const double more = us();
    return Measured(of.value + more, of.p99 > 0 ? of.p99 + more : 0);
  };
}
double wake_ups() { return two_wake_ups_us(Before::kBusy); }

// The calls of a program on a device. What has no peers is not measured.
void measure_all(Session& session, const std::string& prefix, Lazy<User>& user, Lazy<Pair>& pair,
                 const Peers& peers) {
  const auto figure = [&](const std::string& name, const char* unit, const Measure& ours,
                          Goal goal = Goal::kAtMost) {
    const auto found = peers.find(name);
    if (found == peers.end()) return;
    for (const auto& [words, limit, measure, suffix] : found->second) {
      const std::string whole = prefix + name + suffix;
      if (measure)
        session.measure({whole, unit, words, goal, limit}, ours, measure);
      else
        session.skip(whole, words);
    }
  };
  figure("dispatch", "us", [&] { return user->dispatch(); });
  figure("dispatch_driver", "us", [&] {
    return user->dispatch({.deadline = steady_clock().now() + std::chrono::hours(1)});
  });
  figure("dispatch_busy", "us", [&] {
    const std::jthread other([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
      }
    });
    return user->dispatch();
  });
  figure("chain", "us", [&] { return user->chain(); });
  figure("chain_behind", "us", [&] { return user->chain_behind(); });
  figure("chain_handles", "us", [&] { return user->chain_by_handles(); });
  figure("chain_co_await", "us", [&] { return user->chain_by_co_await(); });
  figure("put_fetch_4B", "us", [&] { return user->put_fetch(); });
  figure("put_64MiB", "ms", [&] { return user->put_large(); });
  figure("fetch_64MiB", "us", [&] { return user->fetch_large(); });
  figure("threads_16", "M/s", [&] { return user->dispatches(16); }, Goal::kAtLeast);
  figure("graph_replay", "us", [&] { return user->graph_replay(); });
  figure("all_reduce_4B", "us", [&] { return pair->all_reduce(); });
}

// What JAX takes in its own process (peers_user.py).
class Jax {
 public:
  explicit Jax(PythonPeers peers) : peers_(std::move(peers)) {}
  // of: a name that the script knows.
  Peer peer(const std::string& of, double limit, const std::string& suffix = "_jax") {
    if (peers_.python.empty()) return {peers_.why_not, limit, nullptr, suffix};
    return {"JAX from Python", limit, [this, of] { return ask(of); }, suffix};
  }

 private:
  Measured ask(const std::string& of) {
    if (!child_) {
      child_ = std::make_unique<Child>(
          std::vector<std::string>{peers_.python, source_folder() + "/bench/peers_user.py"});
      static_cast<void>(child_->ask("dispatch"));  // it has started, and leaves us the cores
    }
    const double median = child_->ask(of);
    return {median, child_->ask("p99")};
  }

  const PythonPeers peers_;
  std::unique_ptr<Child> child_;
};

Peer at_most(double goal) {
  return {"the goal", 1, [goal] { return goal; }};
}
Peer parts_of(Lazy<User>& user) {
  return {"its three calls, each waited for", 1.2, [&user] { return user->graph_parts(); }};
}

Measured copied_large_ms() {
  const std::vector<float> from(kLarge, 1);
  std::vector<float> to(kLarge);
  const auto copy = [&] { std::memcpy(to.data(), from.data(), from.size() * sizeof(float)); };
  return latency_us(kLargeCalls, copy).value / 1e3;
}

void measure_cpu(Session& session) {
  Lazy<User> user{RuntimeOptions{}};
  Lazy<Pair> pair{RuntimeOptions{}};
  Jax jax(python_peers());
  const Peers peers = {
      {"dispatch", {at_most(1.5), jax.peer("dispatch", 0.4)}},
      {"dispatch_busy", {at_most(3)}},
      {"chain", {at_most(0.9), jax.peer("chain", 0.4)}},
      {"chain_behind", {jax.peer("chain", 0.5, "")}},
      {"chain_handles", {at_most(0.9)}},
      {"chain_co_await", {jax.peer("chain", 0.4, "")}},
      {"put_fetch_4B", {at_most(0.5), jax.peer("put_fetch", 0.4)}},
      {"put_64MiB", {{"memcpy", 1.1, copied_large_ms}, jax.peer("put_64MiB", 1.1)}},
      {"fetch_64MiB", {jax.peer("fetch_64MiB", 1.1, "")}},
      {"threads_16", {{"one thread of ours", 0.8, [&] { return user->dispatches(1); }}}},
      {"graph_replay", {parts_of(user)}},
      {"all_reduce_4B", {{"two raw wake-ups and 5 us", 1, plus([] { return 5.0; }, &wake_ups)}}}};
  measure_all(session, "user.", user, pair, peers);
}

// The same work by bare calls of a plugin.
class BareUser {
 public:
  explicit BareUser(const std::string& path)
      : bare_(path),
        large_(kLarge, 1),
        x_(bare_.put(large_.data(), 4, HostBufferSemantics::kImmutableOnlyDuringCall)) {}
  ~BareUser() { bare_.destroy(x_); }
  BareUser(const BareUser&) = delete;
  BareUser& operator=(const BareUser&) = delete;

  Measured dispatch() const {
    return latency_us(kCalls, [&] { bare_.dispatch(x_, 1); });
  }
  Measured chain() const {
    return latency_us(kChains, [&] { bare_.chain(x_, kChain); }).value / kChain;
  }
  void put_fetch_once() const {
    float back = 0;
    Buffer* const there =
        bare_.put(large_.data(), 1, HostBufferSemantics::kImmutableOnlyDuringCall);
    bare_.read(there, std::span(&back, 1));
    bare_.destroy(there);
  }
  Measured put_fetch() const {
    return latency_us(kCalls, [&] { put_fetch_once(); });
  }
  Measured put_large() const {
    const auto put = [&] {
      Buffer* const there =
          bare_.put(large_.data(), kLarge, HostBufferSemantics::kImmutableUntilTransferCompletes);
      bare_.await_ready(there);
      bare_.destroy(there);
    };
    return latency_us(kLargeCalls, put).value / 1e3;
  }
  Measured fetch_large() const {
    Buffer* const there =
        bare_.put(large_.data(), kLarge, HostBufferSemantics::kImmutableUntilTransferCompletes);
    std::vector<float> back(kLarge);
    const Measured us = latency_us(kLargeCalls, [&] { bare_.read(there, back); });
    bare_.destroy(there);
    return us;
  }
  Measured dispatches() const {
    return calls_rate(1, [&] { bare_.dispatch(x_, 1); });
  }
  // What an all-reduce of two devices must do at least: each float comes to the host, and a sum
  // goes back. The drivers of the devices make these calls, the fetches before the puts.
  Measured twice_put_fetch() const {
    return latency_us(kCalls, [&] {
      put_fetch_once();
      put_fetch_once();
    });
  }

 private:
  const Bare bare_;
  const std::vector<float> large_;
  Buffer* const x_;
};

void measure_plugin(Session& session) {
  const std::string path = plugin_path();
  RuntimeOptions options = plugin_options();
  Lazy<User> user(options);
  const bool any_devices = std::getenv("MILLRACE_BENCH_PLUGIN") == nullptr;
  if (any_devices) options.plugins[0].settings["cpu_device_count"] = std::int64_t{2};
  Lazy<Pair> pair(options);
  Lazy<BareUser, std::string> bare(path);
  Jax jax(python_peers());
  const auto us = [](double more) { return [more] { return more; }; };
  const Measure dispatch = [&] { return bare->dispatch(); };
  const Measure chain = [&] { return bare->chain(); };
  Peers peers = {
      {"dispatch", {{"bare C calls and 3 us", 1, plus(dispatch, us(3))}, jax.peer("dispatch", 1)}},
      {"dispatch_busy", {{"bare C calls and 3 us, of an idle machine", 2, plus(dispatch, us(3))}}},
      {"dispatch_driver", {{"bare C calls and two raw wake-ups", 1, plus(dispatch, &wake_ups)}}},
      {"chain", {{"bare C calls", 1.3, chain}, jax.peer("chain", 1)}},
      {"chain_handles", {{"bare C calls", 1.3, chain}}},
      {"chain_co_await", {{"bare C calls and two raw wake-ups", 1, plus(chain, &wake_ups)}}},
      {"put_fetch_4B",
       {{"bare C calls and 4 us", 1, plus([&] { return bare->put_fetch(); }, us(4))}}},
      {"put_64MiB", {{"bare C calls", 1.1, [&] { return bare->put_large(); }}}},
      {"fetch_64MiB",
       {{"bare C calls and 4 us", 1, plus([&] { return bare->fetch_large(); }, us(4))}}},
      {"threads_16", {{"one thread's bare C calls", 0.8, [&] { return bare->dispatches(); }}}},
      {"graph_replay", {parts_of(user)}},
      {"all_reduce_4B",
       {{"bare puts and fetches, four raw wake-ups and 5 us", 1,
         plus([&] { return bare->twice_put_fetch(); }, [] { return 2 * wake_ups() + 5; })}}}};
  if (!any_devices) peers["all_reduce_4B"] = {{"it takes two devices", 1, nullptr}};
  if (path.empty()) {
    for (auto& [name, of] : peers) of = {{kNoPlugin, 1, nullptr}};
  }
  measure_all(session, "user.plugin_", user, pair, peers);
}

void measure(Session& session) {
  measure_cpu(session);
  measure_plugin(session);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
