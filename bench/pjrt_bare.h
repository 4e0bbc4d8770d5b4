// Bare: PJRT calls as a program in C would make them, without a layer of any kind: the peer of the
// figures user.plugin_*.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "bench/figure.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/abi/api.h"
#include "millrace/tools/api/runtime_options.h"

namespace millrace::bench {

constexpr const char* kIncrement = R"(
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
})";

// That of MILLRACE_BENCH_PLUGIN, else XLA's CPU client as tests/fetch_plugins gets it; empty where
// there is none.
std::string plugin_path();
// As `--plugin` of the commands takes it: bench=PATH[,OPTION=VALUE...], PATH may be a manifest.
std::string plugin_text();
// Its create options.
std::map<std::string, devices::Attribute> plugin_settings();
// The options of a Runtime on its devices.
RuntimeOptions plugin_options();
inline constexpr const char* kNoPlugin = "no plugin here: tests/fetch_plugins gets it";

// A plugin, loaded, and a client of it with these create options. Thread-safety: as the plugin's.
class BareClient {
 public:
  explicit BareClient(
      const std::string& path,
      const std::map<std::string, devices::Attribute>& settings = plugin_settings());
  ~BareClient();
  BareClient(const BareClient&) = delete;
  BareClient& operator=(const BareClient&) = delete;

  template <class A>
  void call(A& args) const {
    args.struct_size = devices::pjrt::abi::Call<A>::kSize;
    const auto slot = static_cast<std::size_t>(devices::pjrt::abi::Call<A>::kSlot);
    if (reinterpret_cast<devices::pjrt::abi::Function<A>>(api_->functions[slot])(&args) !=
        nullptr) {
      give_up("pjrt", std::string(to_string(devices::pjrt::abi::Call<A>::kSlot)) + " failed");
    }
  }

 protected:
  const devices::pjrt::abi::Api* api_;
  devices::pjrt::abi::Client* client_ = nullptr;
};

// With one executable, x + 1 of four floats.
class Bare : public BareClient {
 public:
  explicit Bare(const std::string& path,
                const std::map<std::string, devices::Attribute>& settings = plugin_settings());
  ~Bare();

  // And destroys it.
  void await(devices::pjrt::abi::Event* event) const;
  void await_ready(devices::pjrt::abi::Buffer* buffer) const;
  // An array of f32; waits until the plugin needs the bytes no longer.
  devices::pjrt::abi::Buffer* put(const void* data, std::int64_t elements,
                                  devices::HostBufferSemantics semantics) const;
  // As a fetch: all of a buffer's numbers come to `to`; where the host can read the device's memory
  // no copy is needed, and the first `looked_at` stand for a look in place.
  void read(devices::pjrt::abi::Buffer* buffer, std::span<float> to,
            std::size_t looked_at = 1) const;
  void destroy(devices::pjrt::abi::Buffer* buffer) const;
  // done: nullptr where the caller does not wait for it.
  devices::pjrt::abi::Buffer* execute(devices::pjrt::abi::Buffer* input,
                                      devices::pjrt::abi::Event** done) const;
  // Executes and awaits so many, one after the other.
  void dispatch(devices::pjrt::abi::Buffer* input, int count) const;
  // Executes so many, each on the output of the one before, and awaits the last.
  void chain(devices::pjrt::abi::Buffer* input, int count) const;

 private:
  devices::pjrt::abi::Device* device_ = nullptr;
  devices::pjrt::abi::LoadedExecutable* executable_ = nullptr;
};

}  // namespace millrace::bench
