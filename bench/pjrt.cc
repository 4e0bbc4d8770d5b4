// pjrt.dispatch: x + 1 of four floats, executed and awaited, through our client in a tight loop, in
// microseconds; the peer is a bare loop of C calls over the same plugin and the same program.
// pjrt.chain: a thousand of them, each on the output of the one before, awaited at the end, per
// step; both sides learn of the end and of any failure from the last output alone. pjrt.h2d_*,
// pjrt.d2h_*: a put, and a fetch, of 4 B and of 64 MiB, each awaited; each round fetches from a
// buffer of its own, for where one lies decides how fast it is read. What a whole runtime over the
// same plugin takes is in pjrt_runtime.cc.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bench/figure.h"
#include "bench/pjrt_bare.h"
#include "millrace/core/blocking.h"
#include "millrace/core/make_executor.h"
#include "millrace/devices/pjrt/client.h"

namespace millrace::bench {
namespace {

using namespace devices;  // NOLINT(google-build-using-namespace)
namespace abi = pjrt::abi;

constexpr int kCalls = 5000;
constexpr int kChain = 1000;
constexpr int kChainSteps = 5;  // one is so short that who else runs decides the round
constexpr int kSmallCopies = 2000;
constexpr int kLargeCopies = 5;
constexpr std::int64_t kLargeElements = std::int64_t{16} << 20;  // f32: 64 MiB

// The same through the device interface, on the calling thread as on a driver thread.
class Ours {
 public:
  explicit Ours(const std::string& path) {
    auto plugin = pjrt::Plugin::load(path);
    if (!plugin) give_up("pjrt", plugin.error().to_string());
    auto client = pjrt::PjrtClient::create(
        **plugin, {.completions = threads_.get(), .settings = plugin_settings()});
    if (!client) give_up("pjrt", client.error().to_string());
    client_ = *std::move(client);
    executable_ = client_->compile(Program::from_text(kIncrement, "increment"), {}).value();
  }
  ~Ours() {
    executable_ = {};
    static_cast<void>(wait_blocking(client_->close()));
    client_.reset();
    static_cast<void>(wait_blocking(threads_->close()));
  }

  Buffer put(const void* data, std::int64_t elements) const {
    PutResult put =
        client_
            ->put({.data = data, .shape = Shape(DType::kF32, {elements})},
                  HostBufferSemantics::kImmutableUntilTransferCompletes, DeviceId{0}, -1)
            .value();
    static_cast<void>(wait_blocking(put.source_released));
    return std::move(put.buffer);
  }
  static void fetch(const Buffer& buffer, std::span<std::byte> to) {
    static_cast<void>(wait_blocking(buffer.body()->copy_to_host(to, nullptr)));
  }
  LaunchResult execute(const Buffer& input, bool wants_done = true) const {
    const std::span<const Buffer> inputs[] = {{&input, 1}};
    const DeviceId devices[] = {DeviceId{0}};
    LaunchResult result;
    if (!executable_.body()->launch(
            {.devices = devices, .arguments = inputs, .wants_done = wants_done}, {&result, 1})) {
      give_up("pjrt", "a launch failed");
    }
    return result;
  }

 private:
  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 1, "events");
  std::unique_ptr<pjrt::PjrtClient> client_;
  Executable executable_;
};

double us_per(int count, const std::function<void()>& work) {
  return 1e6 / count * seconds_of(work);
}

void our_steps(const Ours& ours, const Buffer& x) {
  for (int step = 0; step < kChainSteps; ++step) {
    Buffer y = x;
    for (int i = 0; i < kChain; ++i) y = ours.execute(y, false).outputs[0];
    static_cast<void>(wait_blocking(y.ready()));
  }
}

void bare_steps(const Bare& bare, abi::Buffer* x) {
  for (int step = 0; step < kChainSteps; ++step) {
    abi::Buffer* y = x;
    for (int i = 0; i < kChain; ++i) {
      abi::Buffer* const next = bare.execute(y, nullptr);
      if (y != x) bare.destroy(y);
      y = next;
    }
    abi::BufferReadyEventArgs ready;
    ready.buffer = y;
    bare.call(ready);
    bare.await(ready.event);
    bare.destroy(y);
  }
}

void measure_copies(Session& session, const Ours& ours, const Bare& bare, const char* size,
                    std::int64_t elements, int count) {
  std::vector<float> from(static_cast<std::size_t>(elements), 1.0F);
  std::vector<float> to(from.size());
  const auto bytes = std::as_writable_bytes(std::span(to));
  session.measure(
      {.name = std::string("pjrt.h2d_") + size,
       .unit = "us",
       .peer = "bare C calls",
       .goal = Goal::kAtMost,
       .limit = 1.1},
      [&] {
        return us_per(count, [&] {
          for (int i = 0; i < count; ++i) {
            const Buffer there = ours.put(from.data(), elements);
            static_cast<void>(wait_blocking(there.ready()));
          }
        });
      },
      [&] {
        return us_per(count, [&] {
          for (int i = 0; i < count; ++i) {
            abi::Buffer* const there = bare.put(from.data(), elements);
            abi::BufferReadyEventArgs ready;
            ready.buffer = there;
            bare.call(ready);
            bare.await(ready.event);
            bare.destroy(there);
          }
        });
      });
  session.measure(
      {.name = std::string("pjrt.d2h_") + size,
       .unit = "us",
       .peer = "bare C calls",
       .goal = Goal::kAtMost,
       .limit = 1.1},
      [&] {
        const Buffer there = ours.put(from.data(), elements);
        return us_per(count, [&] {
          for (int i = 0; i < count; ++i) Ours::fetch(there, bytes);
        });
      },
      [&] {
        abi::Buffer* const there = bare.put(from.data(), elements);
        const double us = us_per(count, [&] {
          for (int i = 0; i < count; ++i) bare.fetch(there, to.data(), bytes.size());
        });
        bare.destroy(there);
        return us;
      });
}

void measure(Session& session) {
  const std::string path = plugin_path();
  if (path.empty()) {
    for (const char* name : {"pjrt.dispatch", "pjrt.chain", "pjrt.h2d_4B", "pjrt.d2h_4B",
                             "pjrt.h2d_64MiB", "pjrt.d2h_64MiB"}) {
      session.skip(name, kNoPlugin);
    }
    return;
  }
  const Ours ours(path);
  const Bare bare(path);
  const std::array<float, 4> values = {1, 2, 3, 4};
  const Buffer x = ours.put(values.data(), 4);
  abi::Buffer* const bare_x = bare.put(values.data(), 4);
  session.measure(
      {.name = "pjrt.dispatch",
       .unit = "us",
       .peer = "bare C calls",
       .goal = Goal::kAtMost,
       .limit = 1.15},
      [&] {
        return us_per(kCalls, [&] {
          for (int i = 0; i < kCalls; ++i) {
            const LaunchResult result = ours.execute(x);
            static_cast<void>(wait_blocking(result.done));
          }
        });
      },
      [&] { return us_per(kCalls, [&] { bare.dispatch(bare_x, kCalls); }); });
  session.measure(
      {.name = "pjrt.chain",
       .unit = "us",
       .peer = "bare C calls",
       .goal = Goal::kAtMost,
       .limit = 1.1},
      [&] { return us_per(kChain * kChainSteps, [&] { our_steps(ours, x); }); },
      [&] { return us_per(kChain * kChainSteps, [&] { bare_steps(bare, bare_x); }); });
  measure_copies(session, ours, bare, "4B", 1, kSmallCopies);
  measure_copies(session, ours, bare, "64MiB", kLargeElements, kLargeCopies);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
