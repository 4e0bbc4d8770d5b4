// PjrtClient: the device interface over a PJRT plugin: programs are compiled, arrays put and
// copied. Events become futures, whose continuations run on the completions executor. Read next:
// plugin.h, client_core.h (what outlives a call), events.h.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "millrace/devices/pjrt/client_core.h"

namespace millrace::devices::pjrt {

// Thread-safety: thread-safe.
class PjrtClient final : public ClientCore {
 public:
  // Blocking: devices are opened. Errors of the plugin name it and the call. Where there is an
  // executor for what frees, a client that was not opened gets close_timeout to end.
  static Result<std::unique_ptr<PjrtClient>> create(const Plugin& plugin,
                                                    PjrtClientOptions options);

  Result<Executable> compile(const Program& program, const CompileOptions& options) override;
  Result<Executable> load(std::string_view serialized) override {
    return load_as(serialized, nullptr, nullptr);
  }
  Result<Executable> load_compiled(std::string_view serialized, const Program& program,
                                   const CompileOptions& options) override {
    return load_as(serialized, &program, &options);
  }
  std::string compiler_identity() const override;
  Result<PutResult> put(const HostView& view, HostBufferSemantics semantics, DeviceId device,
                        int memory) override {
    return put_laid_out(view, semantics, device, memory, nullptr, false);
  }
  Result<PutResult> put_in(const HostView& view, HostBufferSemantics semantics, DeviceId device,
                           int memory, const DeviceLayout& layout) override;
  Result<DeviceLayout> default_layout(const Shape& shape, DeviceId device) const override;
  Result<Buffer> copy(const Buffer& source, DeviceId device, int memory) override;
  Result<MemoryStats> memory_stats(DeviceId device) const override;

 private:
  PjrtClient(const Plugin& plugin, PjrtClientOptions options)
      : ClientCore(plugin, std::move(options)) {}
  // layout: nullptr for the default one.
  Result<PutResult> put_laid_out(const HostView& view, HostBufferSemantics semantics,
                                 DeviceId device, int memory, abi::MemoryLayout* layout,
                                 bool laid_out);
  // CompileOptionsProto of the options, for this client's devices.
  Result<std::string> written_options(const Program& program, const CompileOptions& options);
  // program, options: nullptr where nothing is known of them.
  Result<Executable> load_as(std::string_view serialized, const Program* program,
                             const CompileOptions* options);

  std::atomic<bool> warned_of_determinism_{false};
};

// PjrtClient::create on the thread that is lent. Blocks; given up where `opening` says so, with
// OpeningGivenUp (registry.h): then all that the options point to is still used, but for the store.
// A client that comes after that is destroyed.
Result<std::unique_ptr<PjrtClient>> open_client(const Plugin& plugin, PjrtClientOptions options,
                                                const OpeningOptions& opening);

}  // namespace millrace::devices::pjrt
