#include "millrace/tools/conform/rig.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>

#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/pjrt/program_facts.h"

namespace millrace::conform {

std::string to_string(std::span<const float> values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size() && i < 8; ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%g", static_cast<double>(values[i]));
    text += (i == 0 ? "" : ", ") + std::string(number);
  }
  return text + (values.size() > 8 ? ", ...]" : "]");
}

Status Rig::initialize() {
  if (initialized_) return {};
  abi::PluginInitializeArgs args;
  MILLRACE_TRY_STATUS(table_.call(args));
  initialized_ = true;
  return {};
}

Result<HeldClient> Rig::make_client() {
  MILLRACE_TRY_STATUS(initialize());
  const devices::pjrt::NamedValues values(options_.settings);
  abi::ClientCreateArgs args;
  args.create_options = values.data();
  args.num_options = values.size();
  MILLRACE_TRY_STATUS(table_.call(args));
  if (args.client == nullptr) return broken("PJRT_Client_Create gives no client");
  return HeldClient(table_, trouble_, args.client);
}

Result<abi::Client*> Rig::client() {
  if (!client_) {
    MILLRACE_TRY(client_, make_client());
  }
  return client_.get();
}

Result<std::vector<abi::Device*>> Rig::devices() {
  if (!devices_.empty()) return devices_;
  abi::ClientAddressableDevicesArgs args;
  MILLRACE_TRY(args.client, client());
  MILLRACE_TRY_STATUS(table_.call(args));
  if (args.num_devices == 0 || args.devices == nullptr) {
    return broken("the client has no device of this process");
  }
  devices_.assign(args.devices, args.devices + args.num_devices);
  return devices_;
}

Result<abi::Device*> Rig::device(std::size_t i) {
  MILLRACE_TRY(const auto all, several(i + 1));
  return all[i];
}

Result<std::vector<abi::Device*>> Rig::several(std::size_t least) {
  MILLRACE_TRY(auto all, devices());
  if (all.size() < least) {
    return skip("it wants " + std::to_string(least) + " devices and there is " +
                std::to_string(all.size()) + "; an option of the plugin may make more");
  }
  return all;
}

Result<int> Rig::id(abi::Device* device) const {
  abi::DeviceGetDescriptionArgs description;
  description.device = device;
  MILLRACE_TRY_STATUS(table_.call(description));
  abi::DeviceDescriptionIdArgs id;
  id.description = description.description;
  MILLRACE_TRY_STATUS(table_.call(id));
  return id.id;
}

Result<abi::Memory*> Rig::memory(abi::Device* device) const {
  abi::DeviceDefaultMemoryArgs args;
  args.device = device;
  MILLRACE_TRY_STATUS(table_.call(args));
  if (args.memory == nullptr) return broken("PJRT_Device_DefaultMemory gives no memory");
  return args.memory;
}

std::string Rig::portable_options() const {
  return devices::pjrt::write_compile_options(devices::CompileOptions{}, {});
}

Result<std::string> Rig::options_for(std::span<abi::Device* const> on, int replicas,
                                     int partitions) const {
  std::vector<std::int64_t> ids;
  for (abi::Device* device : on) {
    MILLRACE_TRY(const int number, id(device));
    ids.push_back(number);
  }
  devices::CompileOptions options;
  options.replicas = replicas;
  options.partitions = partitions;
  options.portable = false;
  return devices::pjrt::write_compile_options(options, ids);
}

Result<HeldLoaded> Rig::compile(const std::string& text) {
  MILLRACE_TRY(abi::Client* const c, client());
  if (first_device_options_.empty()) {
    MILLRACE_TRY(abi::Device* const first, device());
    MILLRACE_TRY(first_device_options_, options_for({{first}}, 1, 1));
  }
  return compile_raw(c, text, "mlir", first_device_options_);
}

Result<HeldLoaded> Rig::compile_portable(const std::string& text) {
  MILLRACE_TRY(abi::Client* const c, client());
  return compile_raw(c, text, "mlir", portable_options());
}

Result<HeldLoaded> Rig::compile_for(const std::string& text, std::span<abi::Device* const> on,
                                    int replicas, int partitions) {
  MILLRACE_TRY(abi::Client* const c, client());
  MILLRACE_TRY(const std::string options, options_for(on, replicas, partitions));
  return compile_raw(c, text, "mlir", options);
}

abi::Program borrowed_program(std::string& text, const std::string& format) {
  abi::Program program;
  program.struct_size = abi::kStructSize<abi::Program>;
  program.code = text.data();
  program.code_size = text.size();
  program.format = format.data();
  program.format_size = format.size();
  return program;
}

Result<HeldLoaded> Rig::compile_raw(abi::Client* client, std::string text,
                                    const std::string& format, const std::string& options) const {
  abi::Program program = borrowed_program(text, format);
  abi::ClientCompileArgs args;
  args.client = client;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  MILLRACE_TRY_STATUS(table_.call(args));
  if (args.executable == nullptr) return broken("PJRT_Client_Compile gives no executable");
  return hold(args.executable);
}

Result<HeldExecutable> Rig::executable(abi::LoadedExecutable* loaded) const {
  abi::LoadedExecutableGetExecutableArgs args;
  args.loaded_executable = loaded;
  MILLRACE_TRY_STATUS(table_.call(args));
  if (args.executable == nullptr) {
    return broken("PJRT_LoadedExecutable_GetExecutable gives no executable");
  }
  return HeldExecutable(table_, trouble_, args.executable);
}

Result<Put> Rig::put_any(const void* data, const PutOptions& options) {
  abi::ClientBufferFromHostBufferArgs args;
  MILLRACE_TRY(args.client, client());
  args.data = data;
  args.type = options.type;
  args.dims = options.dims.data();
  args.num_dims = options.dims.size();
  args.byte_strides = options.byte_strides.data();
  args.num_byte_strides = options.byte_strides.size();
  args.host_buffer_semantics = options.semantics;
  args.device = options.device;
  if (args.device == nullptr) {
    MILLRACE_TRY(args.device, device());
  }
  MILLRACE_TRY_STATUS(table_.call(args));
  Put put{.buffer = hold(args.buffer), .done = hold(args.done_with_host_buffer)};
  if (!put.buffer) return broken("PJRT_Client_BufferFromHostBuffer gives no buffer");
  if (!put.done) return broken("PJRT_Client_BufferFromHostBuffer gives no event");
  return put;
}

Result<HeldBuffer> Rig::put(std::span<const float> values, abi::Device* device) {
  PutOptions options;
  options.device = device;
  options.dims = {static_cast<std::int64_t>(values.size())};
  MILLRACE_TRY(Put made, put_any(values.data(), options));
  return std::move(made.buffer);
}

Result<Put> Rig::start_get(abi::Buffer* buffer, void* target, std::size_t size) const {
  abi::BufferToHostBufferArgs args;
  args.src = buffer;
  args.dst = target;
  args.dst_size = size;
  MILLRACE_TRY_STATUS(table_.call(args));
  if (args.event == nullptr) return broken("PJRT_Buffer_ToHostBuffer gives no event");
  return Put{.buffer = {}, .done = hold(args.event)};
}

Status Rig::get_bytes(abi::Buffer* buffer, void* target, std::size_t size) const {
  MILLRACE_TRY(const Put read, start_get(buffer, target, size));
  return wait(read.done, "PJRT_Buffer_ToHostBuffer");
}

Result<Floats> Rig::get(abi::Buffer* buffer, std::int64_t elements) const {
  Floats values(static_cast<std::size_t>(elements));
  MILLRACE_TRY_STATUS(get_bytes(buffer, values.data(), values.size() * sizeof(float)));
  return values;
}

Result<std::vector<Run>> Rig::execute_all(abi::LoadedExecutable* loaded,
                                          const std::vector<std::vector<abi::Buffer*>>& arguments,
                                          const ExecuteOptions& options) const {
  abi::ExecuteOptions extra;
  extra.struct_size = abi::kStructSize<abi::ExecuteOptions>;
  extra.non_donatable_input_indices = options.kept.data();
  extra.num_non_donatable_input_indices = options.kept.size();
  std::vector<std::vector<abi::Buffer*>> outputs(arguments.size());
  std::vector<abi::Buffer* const*> argument_lists;
  std::vector<abi::Buffer**> output_lists;
  std::vector<abi::Event*> done(arguments.size());
  for (std::size_t d = 0; d < arguments.size(); ++d) {
    outputs[d].resize(options.outputs);
    argument_lists.push_back(arguments[d].data());
    output_lists.push_back(outputs[d].data());
  }
  abi::LoadedExecutableExecuteArgs args;
  args.executable = loaded;
  args.options = &extra;
  args.argument_lists = argument_lists.data();
  args.num_devices = arguments.size();
  args.num_args = arguments[0].size();
  args.output_lists = output_lists.data();
  args.device_complete_events = done.data();
  args.execute_device = options.execute_device;
  MILLRACE_TRY_STATUS(table_.call(args));
  std::vector<Run> runs;
  for (std::size_t d = 0; d < arguments.size(); ++d) {
    Run run{.outputs = {}, .done = hold(done[d])};
    for (abi::Buffer* buffer : outputs[d]) run.outputs.push_back(hold(buffer));
    runs.push_back(std::move(run));
    if (done[d] == nullptr) {
      return broken("PJRT_LoadedExecutable_Execute gives no event that tells its end");
    }
    for (const HeldBuffer& buffer : runs.back().outputs) {
      if (!buffer) return broken("PJRT_LoadedExecutable_Execute leaves an output unset");
    }
  }
  return runs;
}

Result<Run> Rig::execute(abi::LoadedExecutable* loaded, std::span<abi::Buffer* const> arguments,
                         const ExecuteOptions& options) const {
  MILLRACE_TRY(std::vector<Run> runs,
               execute_all(loaded, {{arguments.begin(), arguments.end()}}, options));
  return std::move(runs[0]);
}

Result<HeldBuffer> Rig::apply(abi::LoadedExecutable* loaded, abi::Buffer* argument) const {
  MILLRACE_TRY(Run run, execute(loaded, {{argument}}));
  return std::move(run.outputs[0]);
}

Result<HeldEvent> Rig::ready_event(abi::Buffer* buffer) const {
  abi::BufferReadyEventArgs args;
  args.buffer = buffer;
  MILLRACE_TRY_STATUS(table_.call(args));
  if (args.event == nullptr) return broken("PJRT_Buffer_ReadyEvent gives no event");
  return hold(args.event);
}

Result<bool> Rig::is_ready(abi::Event* event) const {
  abi::EventIsReadyArgs args;
  args.event = event;
  MILLRACE_TRY_STATUS(table_.call(args));
  return args.is_ready;
}

namespace {

// Callbacks that somebody waits for, by a number that is never used again: a plugin that calls
// twice, or after nobody waits any more, finds nothing, where a pointer would be stale.
class Waits {
 public:
  struct Wait {
    std::condition_variable changed;
    bool called = false;
    abi::Error* error = nullptr;
  };
  std::uintptr_t add(Wait& wait) {
    const std::scoped_lock lock(mutex_);
    waits_.emplace(++last_, &wait);
    return last_;
  }
  // True if it was called; the number is void then.
  bool until(std::uintptr_t key, Wait& wait, std::chrono::duration<double> patience) {
    std::unique_lock lock(mutex_);
    wait.changed.wait_for(lock, patience, [&] { return wait.called; });
    waits_.erase(key);
    return wait.called;
  }
  void call(std::uintptr_t key, abi::Error* error) {
    const std::scoped_lock lock(mutex_);
    const auto found = waits_.find(key);
    if (found == waits_.end() || found->second->called) return;
    found->second->called = true;
    found->second->error = error;
    found->second->changed.notify_all();
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, Wait*> waits_;
  std::uintptr_t last_ = 0;
};
Waits& waits() {
  static Waits* instance = new Waits;  // never destroyed: plugins' threads run on
  return *instance;
}

}  // namespace

Status Rig::wait(const HeldEvent& event, std::string_view what) const {
  Waits::Wait wait;
  const std::uintptr_t key = waits().add(wait);
  abi::EventOnReadyArgs args;
  args.event = event.get();
  args.user_arg = reinterpret_cast<void*>(key);
  args.callback = [](abi::Error* error, void* user_arg) {
    waits().call(reinterpret_cast<std::uintptr_t>(user_arg), error);
  };
  const Status asked = table_.call(args);
  const double patience = asked ? options_.patience_seconds : 0;
  const bool called = waits().until(key, wait, std::chrono::duration<double>(patience));
  if (!asked) return asked;
  if (!called) {
    return fail(ErrorCode::kDeadlineExceeded,
                "an event of " + std::string(what) + " was not ready within " +
                    std::to_string(static_cast<int>(patience)) + " s");
  }
  if (wait.error == nullptr) return {};
  return std::unexpected(table_.take_error(wait.error, what));
}

Status Rig::wait_ready(abi::Buffer* buffer) const {
  MILLRACE_TRY(const HeldEvent event, ready_event(buffer));
  return wait(event, "PJRT_Buffer_ReadyEvent");
}

Result<bool> Rig::is_deleted(abi::Buffer* buffer) const {
  abi::BufferIsDeletedArgs args;
  args.buffer = buffer;
  MILLRACE_TRY_STATUS(table_.call(args));
  return args.is_deleted;
}

Status Rig::close() {
  client_.reset();
  devices_.clear();
  return trouble_.first();
}

Status Rig::remove(abi::Buffer* buffer) const {
  abi::BufferDeleteArgs args;
  args.buffer = buffer;
  return table_.call(args);
}

Result<const float*> Rig::hold_memory(abi::Buffer* buffer) const {
  abi::BufferIncreaseExternalReferenceCountArgs more;
  more.buffer = buffer;
  MILLRACE_TRY_STATUS(table_.call(more));
  abi::BufferOpaqueDeviceMemoryDataPointerArgs args;
  args.buffer = buffer;
  MILLRACE_TRY_STATUS(table_.call(args));
  if (args.device_memory_ptr == nullptr) return broken("the pointer is null");
  abi::BufferIsOnCpuArgs where;
  where.buffer = buffer;
  const bool readable = table_.call(where) && where.is_on_cpu;
  return readable ? static_cast<const float*>(args.device_memory_ptr) : nullptr;
}

Status Rig::let_go_of_memory(abi::Buffer* buffer) const {
  abi::BufferDecreaseExternalReferenceCountArgs less;
  less.buffer = buffer;
  return table_.call(less);
}

Status expect_floats(std::span<const float> got, std::span<const float> wanted,
                     std::string_view what) {
  if (got.size() == wanted.size()) {
    std::size_t i = 0;
    while (i < got.size() && got[i] == wanted[i]) ++i;
    if (i == got.size()) return {};
  }
  return broken(std::string(what) + " is " + to_string(got) + ", not " + to_string(wanted));
}

Status expect_refused(const Status& status, std::string_view what) {
  if (status) return broken(std::string(what) + " is accepted");
  if (status.error().detail<PluginError>() == nullptr) return status;
  return {};
}

std::vector<Check> after(const std::vector<std::string_view>& names, std::vector<Check> checks) {
  for (Check& check : checks) {
    for (const std::string_view name : names) {
      if (name != check.name) check.after.push_back(name);
    }
  }
  return checks;
}

Status on_threads(int threads, const std::function<Status(int)>& body) {
  std::vector<Status> results(static_cast<std::size_t>(threads));
  std::latch start(threads);
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        start.arrive_and_wait();
        results[static_cast<std::size_t>(i)] = body(i);
      });
    }
  }
  for (Status& result : results) {
    if (!result) return result;
  }
  return {};
}

}  // namespace millrace::conform
