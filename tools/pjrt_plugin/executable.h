// Compiled programs as PJRT has them: what is known of one, which is immutable, and one that is
// loaded on a client. Read next: execute.cc, compile_calls.cc.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "millrace/devices/pjrt/named_values.h"
#include "millrace/tools/pjrt_plugin/client.h"
#include "millrace/tools/pjrt_plugin/program_facts.h"

namespace millrace::pjrt_plugin {

// Shared by the handles on one compilation. Thread-safety: immutable.
class CompiledProgram {
 public:
  // Compiles for a client. Errors: those of the options, of the program and of the compilation.
  static Result<std::shared_ptr<const CompiledProgram>> compile(ClientBody& body, std::string code,
                                                                std::string_view options);
  // What serialize() gave, here or in another process. options, where there are any, are compiled
  // by in place of those that were serialized.
  static Result<std::shared_ptr<const CompiledProgram>> load(ClientBody& body,
                                                             std::string_view serialized,
                                                             std::string_view options);
  // By the functions above.
  CompiledProgram(ClientBody& body, devices::Executable executable, ProgramFacts facts,
                  devices::CompileOptions options, std::string written_options,
                  const devices::Program& source);
  // Launches that came as a call per device, and not by all of them, fail: no call can come.
  ~CompiledProgram();
  CompiledProgram(const CompiledProgram&) = delete;
  CompiledProgram& operator=(const CompiledProgram&) = delete;

  ClientBody& body() const { return *body_; }
  const devices::Executable& executable() const { return executable_; }
  const devices::CompileOptions& options() const { return options_; }
  const ProgramFacts& facts() const { return facts_; }
  bool has_tokens() const { return has_tokens_; }
  const std::string& written_options() const { return written_options_; }
  const std::string& fingerprint() const { return fingerprint_; }
  // What one execution costs; an error where it is not known.
  const Result<devices::Attributes>& cost() const { return cost_; }
  const devices::pjrt::NamedValues& written_cost() const { return written_cost_; }
  // The program as StableHLO text, as it came: kernels are no language. One that is written for
  // whole arrays as it runs, for all its devices: clients cannot read Shardy in it.
  Result<std::string_view> text() const;
  // kInternal where the backend cannot.
  Result<std::string> serialize() const;

  // As PJRT reports them.
  struct Reported {
    std::vector<devices::pjrt::abi::BufferType> output_types;
    std::vector<std::int64_t> output_dims;
    std::vector<std::size_t> output_ranks;
    std::vector<const char*> output_kinds, argument_kinds;
    std::vector<std::size_t> output_kind_sizes, argument_kind_sizes;
  };
  const Reported& reported() const { return reported_; }
  // For the extension Shardings: none where each device has arrays of its own.
  struct Shardings {
    std::vector<const char*> texts;  // messages OpSharding
    std::vector<std::size_t> sizes;
  };
  const Shardings& argument_shardings() const { return argument_shardings_; }
  const Shardings& result_shardings() const { return result_shardings_; }

 private:
  const Ref<ClientBody> body_;  // first: outlives the executable
  const devices::Executable executable_;
  const ProgramFacts facts_;
  const bool has_tokens_;
  const devices::CompileOptions options_;
  const std::string written_options_;
  const devices::Program source_;
  const std::string fingerprint_;
  const Result<devices::Attributes> cost_;
  const devices::pjrt::NamedValues written_cost_;
  Reported reported_;
  Shardings argument_shardings_, result_shardings_;
  mutable Mutex mutex_;
  mutable std::string text_ MILLRACE_GUARDED_BY(mutex_);  // empty until it is asked for; it stays
};

}  // namespace millrace::pjrt_plugin

namespace millrace::devices::pjrt::abi {

// Thread-safety: immutable.
struct Executable final : pjrt_plugin::Handle<Executable> {
  explicit Executable(std::shared_ptr<const pjrt_plugin::CompiledProgram> of)
      : program(std::move(of)) {}
  const std::shared_ptr<const pjrt_plugin::CompiledProgram> program;
};

// Thread-safety: immutable, but for deleted.
struct LoadedExecutable final : pjrt_plugin::Handle<LoadedExecutable> {
  explicit LoadedExecutable(std::shared_ptr<const pjrt_plugin::CompiledProgram> of);
  const std::shared_ptr<const pjrt_plugin::CompiledProgram> program;
  std::vector<Device*> devices;               // none of a portable program
  std::vector<LogicalDeviceIds> logical_ids;  // of devices
  std::atomic<bool> deleted{false};
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {

void add_compilation(abi::Api& api);
void add_executables(abi::Api& api);
void add_loaded_executables(abi::Api& api);
void add_execution(abi::Api& api);

}  // namespace millrace::pjrt_plugin
