// PjrtExecutable: a program that a plugin has compiled and loaded. Internal to client.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/buffer.h"
#include "millrace/devices/pjrt/client_core.h"
#include "millrace/devices/pjrt/program_facts.h"

namespace millrace::devices::pjrt {

// Owns a PJRT_LoadedExecutable. Thread-safety: thread-safe.
class PjrtExecutable final : public ExecutableBody {
 public:
  // Takes `loaded` in any case. program, options: what was compiled, and how; nullptr where the
  // program was loaded. kInternal where the plugin has compiled for another number of devices than
  // the options say.
  static Result<Executable> create(ClientCore& client, abi::LoadedExecutable* loaded,
                                   const Program* program, const CompileOptions* options);

  const std::string& name() const override { return name_; }
  Client& client() const override { return client_; }
  std::span<const Shape> input_shapes() const override { return facts_.inputs; }
  std::span<const Shape> output_shapes() const override { return facts_.outputs; }
  std::span<const bool> donated_inputs() const override {
    return {donated_.get(), facts_.inputs.size()};
  }
  int devices_per_launch() const override { return facts_.replicas * facts_.partitions; }
  std::int64_t temporary_bytes() const override { return facts_.temporary_bytes; }
  Status launch(const LaunchArguments& call, std::span<LaunchResult> results) override;
  Result<std::string> serialize() const override;
  Result<Attributes> cost_analysis() const override;

 private:
  struct Launch;

  PjrtExecutable(ClientCore& client, std::string name, abi::LoadedExecutable* loaded)
      : client_(client),
        name_(std::move(name)),
        label_(std::make_shared<const std::string>(name_)),
        loaded_(loaded) {}
  ~PjrtExecutable() override;
  Status read(const Program* program, const CompileOptions* options);
  Status check_counts(const CompileOptions& options) const;
  Status check_layouts(const LaunchArguments& call) const;
  Status check_devices(std::span<const DeviceId> devices) const;
  Status donate(const LaunchArguments& call, Launch& launch) const;
  // Where the plugin has it in a launch.
  std::size_t place_of(DeviceId device) const;
  // done, and the client's notes of the run before it completes.
  Future<void> note_end(Future<void> done, const PjrtRun& run, StripedScope::Hold hold);

  ClientCore& client_;
  const StripedScope::Hold use_ = client_.use();
  const std::string name_;
  const std::shared_ptr<const std::string> label_;  // the name, for runs that outlive this
  abi::LoadedExecutable* const loaded_;
  abi::Executable* executable_ = nullptr;
  ProgramFacts facts_;
  std::unique_ptr<bool[]> donated_;
  bool donates_any_ = false;
  TraceName trace_name_{};
  // In the order in which the plugin wants their arguments; empty: any one device, named at launch.
  std::vector<DeviceId> devices_;
};

}  // namespace millrace::devices::pjrt
