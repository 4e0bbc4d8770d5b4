// StubClient: a device interface that has devices and does nothing, for tests to override the part
// that they are about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/devices/client.h"

namespace millrace::testing {

// What it does not do is kUnimplemented. Its calls may block, as a plugin's do.
class StubClient : public devices::Client {
 public:
  explicit StubClient(int devices) {
    for (int i = 0; i < devices; ++i) {
      infos_.push_back({.id = devices::DeviceId{i},
                        .process = 0,
                        .kind = "stub",
                        .memories = {},
                        .attributes = {}});
    }
  }
  std::string_view platform_name() const override { return "stub"; }
  std::string_view platform_version() const override { return "1"; }
  std::span<const devices::DeviceInfo> devices() const override { return infos_; }
  std::span<const devices::MemoryInfo> memories() const override { return {}; }
  bool calls_may_block() const override { return true; }
  Result<devices::Executable> compile(const devices::Program&,
                                      const devices::CompileOptions&) override {
    return none();
  }
  Result<devices::Executable> load(std::string_view) override { return none(); }
  Result<devices::PutResult> put(const devices::HostView&, devices::HostBufferSemantics,
                                 devices::DeviceId, int) override {
    return none();
  }
  Result<devices::Buffer> copy(const devices::Buffer&, devices::DeviceId, int) override {
    return none();
  }
  Result<devices::MemoryStats> memory_stats(devices::DeviceId) const override { return none(); }
  Future<void> close() override { return make_ready(); }

 protected:
  static std::unexpected<Error> none() { return fail(ErrorCode::kUnimplemented, "a stub"); }

 private:
  std::vector<devices::DeviceInfo> infos_;
};

}  // namespace millrace::testing
