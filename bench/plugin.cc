// plugin.*: what the CPU device takes as a PJRT plugin, from bare C calls (pjrt_bare.h) as a
// client makes them, beside the same calls of XLA's CPU client as a plugin in this process. Each
// client has its own threads, as many as it likes; the program is small enough for neither to use
// them.
#include <string>

#include "bench/child.h"
#include "bench/figure.h"
#include "bench/pjrt_bare.h"

namespace millrace::bench {
namespace {

constexpr int kCalls = 3000, kChain = 1000, kChains = 3;
constexpr double kLimit = 0.5;

// x + 1 on four floats.
class Side {
 public:
  Side(const std::string& path, const std::map<std::string, devices::Attribute>& settings)
      : bare_(path, settings),
        x_(bare_.put(kData, 4, devices::HostBufferSemantics::kImmutableOnlyDuringCall)) {}
  ~Side() { bare_.destroy(x_); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  // The first element after so many steps.
  float after(int steps) const {
    devices::pjrt::abi::Buffer* y = x_;
    for (int i = 0; i < steps; ++i) {
      devices::pjrt::abi::Buffer* const next = bare_.execute(y, nullptr);
      if (y != x_) bare_.destroy(y);
      y = next;
    }
    float out[4];
    bare_.read(y, out);
    bare_.destroy(y);
    return out[0];
  }
  // Executes, waits, and destroys the output.
  Measured dispatch() const {
    return latency_us(kCalls, [&] { bare_.dispatch(x_, 1); });
  }
  // A step of many, each on the output of the one before; the last is awaited.
  Measured chain() const {
    return latency_us(kChains, [&] { bare_.chain(x_, kChain); }).value / kChain;
  }

 private:
  static constexpr float kData[4] = {1, 2, 3, 4};
  const Bare bare_;
  devices::pjrt::abi::Buffer* const x_;
};

void measure(Session& session) {
  if (!session.wants("plugin.dispatch") && !session.wants("plugin.chain")) return;
  const std::string ours_path = own_plugin_path(), peer_path = plugin_path();
  if (ours_path.empty() || peer_path.empty()) {
    for (const char* const name : {"plugin.dispatch", "plugin.chain"})
      session.skip(name, ours_path.empty() ? kNoOwnPlugin : kNoPlugin);
    return;
  }
  const Side ours(ours_path, {}), peer(peer_path, plugin_settings());
  constexpr int kSteps = 3;
  if (ours.after(kSteps) != 1 + kSteps || peer.after(kSteps) != 1 + kSteps)
    give_up("plugin", "x + 1 is not what it should be");
  const Figure dispatch{.name = "plugin.dispatch",
                        .unit = "us",
                        .peer = "bare C calls of XLA's plugin",
                        .goal = Goal::kAtMost,
                        .limit = kLimit};
  Figure chain = dispatch;
  chain.name = "plugin.chain";
  session.measure(dispatch, [&] { return ours.dispatch(); }, [&] { return peer.dispatch(); });
  session.measure(chain, [&] { return ours.chain(); }, [&] { return peer.chain(); });
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
