// Rig: what a check works with: the plugin's table, a client, its devices, and the usual steps in a
// line each (put, compile, execute, get, wait). Everything goes through Table, so that each step is
// the plugin's own. Read next: execute_checks.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/devices/client.h"
#include "millrace/tools/conform/check.h"
#include "millrace/tools/conform/programs.h"
#include "millrace/tools/conform/table.h"

namespace millrace::conform {

struct RigOptions {
  std::map<std::string, devices::Attribute> settings;  // create options
  double patience_seconds = 30;                        // for an event
  int executions = 10'000;                             // of checks that look for leaks
};

enum Semantics : int {
  kImmutableOnlyDuringCall = 0,
  kImmutableUntilTransferCompletes = 1,
  kImmutableZeroCopy = 2,
  kMutableZeroCopy = 3,
};

// A program as the plugin gets it; text and format are borrowed.
abi::Program borrowed_program(std::string& text, const std::string& format);

using Floats = std::vector<float>;
std::string to_string(std::span<const float> values);  // "[1, 2, ...]", the first few

// A host array on its way to the device.
struct Put {
  HeldBuffer buffer;
  HeldEvent done;  // with the host array
};
struct PutOptions {
  int semantics = kImmutableOnlyDuringCall;
  abi::Device* device = nullptr;  // the first, where none is given
  abi::BufferType type = abi::BufferType::kF32;
  std::vector<std::int64_t> dims = {};
  std::vector<std::int64_t> byte_strides = {};
};

struct ExecuteOptions {
  std::vector<std::int64_t> kept;         // inputs that are not to be donated
  abi::Device* execute_device = nullptr;  // for a portable executable
  std::size_t outputs = 1;                // of each device
};
// Of one device.
struct Run {
  std::vector<HeldBuffer> outputs;
  HeldEvent done;
};

// Confined to the thread of the check, but what a check calls from its own threads is const or says
// so: put, get, execute, wait, raw calls.
class Rig {
 public:
  Rig(const Table& table, RigOptions options) : table_(table), options_(std::move(options)) {}

  const Table& table() const { return table_; }
  Trouble& trouble() const { return trouble_; }
  const RigOptions& options() const { return options_; }
  // Destroys the client; the first failure to destroy something.
  Status close();
  // The same, and the next call of client() makes another.
  Status restart() { return close(); }
  // For a second rig of a plugin that is initialized already.
  void adopt_initialized() { initialized_ = true; }
  // A remark for whoever reads that the check has passed.
  void note(std::string text) { note_ = std::move(text); }
  const std::string& remark() const { return note_; }

  // PJRT_Plugin_Initialize, once.
  Status initialize();
  // Made at the first call, and destroyed at the end of the check.
  Result<abi::Client*> client();
  Result<HeldClient> make_client();
  Result<std::vector<abi::Device*>> devices();
  Result<abi::Device*> device(std::size_t i = 0);
  // So many devices, or the check is skipped.
  Result<std::vector<abi::Device*>> several(std::size_t least);
  Result<int> id(abi::Device* device) const;
  Result<abi::Memory*> memory(abi::Device* device) const;  // its default

  // For the first device.
  Result<HeldLoaded> compile(const std::string& text);
  // For any one device, which the launch names.
  Result<HeldLoaded> compile_portable(const std::string& text);
  Result<HeldLoaded> compile_for(const std::string& text, std::span<abi::Device* const> devices,
                                 int replicas = 1, int partitions = 1);
  Result<HeldLoaded> compile_raw(abi::Client* client, std::string text, const std::string& format,
                                 const std::string& options) const;
  std::string portable_options() const;
  Result<HeldExecutable> executable(abi::LoadedExecutable* loaded) const;

  Result<Put> put_any(const void* data, const PutOptions& options);
  // Copied in the call; the buffer may be used at once.
  Result<HeldBuffer> put(std::span<const float> values, abi::Device* device = nullptr);
  Result<Floats> get(abi::Buffer* buffer, std::int64_t elements = kLength) const;
  Status get_bytes(abi::Buffer* buffer, void* target, std::size_t size) const;
  Result<Put> start_get(abi::Buffer* buffer, void* target, std::size_t size) const;

  Result<Run> execute(abi::LoadedExecutable* loaded, std::span<abi::Buffer* const> arguments,
                      const ExecuteOptions& options = {}) const;
  // One launch on several devices: arguments[device][argument].
  Result<std::vector<Run>> execute_all(abi::LoadedExecutable* loaded,
                                       const std::vector<std::vector<abi::Buffer*>>& arguments,
                                       const ExecuteOptions& options = {}) const;
  // Runs an executable of one argument and one result.
  Result<HeldBuffer> apply(abi::LoadedExecutable* loaded, abi::Buffer* argument) const;

  Result<HeldEvent> ready_event(abi::Buffer* buffer) const;
  Result<bool> is_ready(abi::Event* event) const;
  // Until it is ready, by its callback; its error. kDeadlineExceeded after options().patience.
  Status wait(const HeldEvent& event, std::string_view what) const;
  Status wait_ready(abi::Buffer* buffer) const;
  Result<bool> is_deleted(abi::Buffer* buffer) const;
  Status remove(abi::Buffer* buffer) const;  // PJRT_Buffer_Delete
  // Holds the memory of a buffer from outside, and gives it; nullptr where the host cannot read it.
  Result<const float*> hold_memory(abi::Buffer* buffer) const;
  Status let_go_of_memory(abi::Buffer* buffer) const;

  HeldBuffer hold(abi::Buffer* buffer) const { return {table_, trouble_, buffer}; }
  HeldEvent hold(abi::Event* event) const { return {table_, trouble_, event}; }
  HeldLoaded hold(abi::LoadedExecutable* loaded) const { return {table_, trouble_, loaded}; }

 private:
  Result<std::string> options_for(std::span<abi::Device* const> devices, int replicas,
                                  int partitions) const;

  const Table& table_;
  const RigOptions options_;
  mutable Trouble trouble_;
  std::string note_;
  bool initialized_ = false;
  HeldClient client_;
  std::vector<abi::Device*> devices_;
  std::string first_device_options_;  // of compile; empty until it is called
};

// The usual arguments: 1, 2, 3, 4.
inline Floats numbers() { return {1, 2, 3, 4}; }
// Ok if the values are equal.
Status expect_floats(std::span<const float> got, std::span<const float> wanted,
                     std::string_view what);
// An error of the plugin itself is what the check wants: ok. Whatever else went wrong goes on.
Status expect_refused(const Status& status, std::string_view what);

// Gives every check of a family what all of them build on.
std::vector<Check> after(const std::vector<std::string_view>& names, std::vector<Check> checks);

// Runs body(i) on so many threads at once; the first error of any.
Status on_threads(int threads, const std::function<Status(int)>& body);
inline constexpr int kThreads = 16;

}  // namespace millrace::conform
