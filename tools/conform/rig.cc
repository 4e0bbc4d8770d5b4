#include "millrace/tools/conform/rig.h"

#include <latch>
#include <set>
#include <thread>
#include <utility>

#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/pjrt/program_facts.h"

namespace millrace::conform {
namespace {

constexpr std::int64_t kDims[] = {kLength};

Result<HeldBuffer> created(Rig& rig) {
  MILLRACE_TRY(abi::Memory* const memory, rig.memory());
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientCreateErrorBufferArgs>(
                                    kErrorCode, kErrorText.data(), kErrorText.size(), kDims,
                                    std::size_t{1}, abi::BufferType::kF32, nullptr, memory));
  if (args.buffer == nullptr) return broken("PJRT_Client_CreateErrorBuffer gives no buffer");
  return rig.hold(args.buffer);
}

}  // namespace

std::string to_string(std::span<const float> values) {
  std::ostringstream text;
  for (std::size_t i = 0; i < values.size() && i < 8; ++i)
    text << (i == 0 ? "[" : ", ") << values[i];
  return text.str() + (values.empty() ? "[]" : values.size() > 8 ? ", ...]" : "]");
}

Status Rig::note_text(const char* text, std::size_t size, std::string_view what) {
  if (text == nullptr || size == 0) return broken(what, " is empty");
  return note(std::string_view(text, size));
}

Status Rig::initialize() {
  if (initialized_) return {};
  MILLRACE_TRY_STATUS(call<abi::PluginInitializeArgs>());
  initialized_ = true;
  return {};
}

Result<HeldClient> Rig::make_client() {
  MILLRACE_TRY_STATUS(initialize());
  const devices::pjrt::NamedValues values(options_.settings);
  MILLRACE_TRY(const auto args, ask<abi::ClientCreateArgs>(values.data(), values.size()));
  if (args.client == nullptr) return broken("PJRT_Client_Create gives no client");
  return hold(args.client);
}

Result<abi::Client*> Rig::client() {
  if (!client_) {
    MILLRACE_TRY(client_, make_client());
  }
  return client_.get();
}

Result<std::vector<abi::Device*>> Rig::devices() {
  if (!devices_.empty()) return devices_;
  MILLRACE_TRY(const auto args, ask_client<abi::ClientAddressableDevicesArgs>());
  if (args.num_devices == 0 || args.devices == nullptr) {
    return broken("the client has no device of this process");
  }
  devices_.assign(args.devices, args.devices + args.num_devices);
  return devices_;
}

Result<abi::Device*> Rig::device() {
  MILLRACE_TRY(const auto all, devices());
  return all[0];
}

Result<std::vector<abi::Device*>> Rig::several(std::size_t least) {
  MILLRACE_TRY(auto all, devices());
  if (all.size() < least) {
    return skip("it wants ", least, " devices and there is ", all.size(),
                "; an option of the plugin may make more");
  }
  return all;
}

Result<int> Rig::id(abi::Device* device) const {
  MILLRACE_TRY(const auto description, ask<abi::DeviceGetDescriptionArgs>(device));
  MILLRACE_TRY(const auto id, ask<abi::DeviceDescriptionIdArgs>(description.description));
  return id.id;
}

Result<abi::Memory*> Rig::memory(abi::Device* device) const {
  MILLRACE_TRY(const auto args, ask<abi::DeviceDefaultMemoryArgs>(device));
  if (args.memory == nullptr) return broken("PJRT_Device_DefaultMemory gives no memory");
  return args.memory;
}

Result<abi::Memory*> Rig::memory() {
  MILLRACE_TRY(abi::Device* const first, device());
  return memory(first);
}

std::string Rig::portable_options() const {
  return devices::pjrt::write_compile_options(devices::CompileOptions{}, {});
}

Result<std::string> Rig::options_for(std::span<abi::Device* const> on, int replicas) const {
  std::vector<std::int64_t> ids;
  for (abi::Device* device : on) {
    MILLRACE_TRY(const int number, id(device));
    ids.push_back(number);
  }
  devices::CompileOptions options;
  options.replicas = replicas;
  options.portable = false;
  return devices::pjrt::write_compile_options(options, ids);
}

Result<HeldLoaded> Rig::compile(const std::string& text) {
  if (first_device_options_.empty()) {
    MILLRACE_TRY(abi::Device* const first, device());
    MILLRACE_TRY(first_device_options_, options_for({{first}}, 1));
  }
  return compile_raw(text, "mlir", first_device_options_);
}

Result<HeldLoaded> Rig::compile_for(const std::string& text, std::span<abi::Device* const> on,
                                    int replicas) {
  MILLRACE_TRY(const std::string options, options_for(on, replicas));
  return compile_raw(text, "mlir", options);
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

Result<HeldLoaded> Rig::compile_raw(std::string text, const std::string& format,
                                    const std::string& options) {
  abi::Program program = borrowed_program(text, format);
  MILLRACE_TRY(const auto args,
               ask_client<abi::ClientCompileArgs>(&program, options.data(), options.size()));
  if (args.executable == nullptr) return broken("PJRT_Client_Compile gives no executable");
  return hold(args.executable);
}

Result<HeldExecutable> Rig::executable(abi::LoadedExecutable* loaded) const {
  MILLRACE_TRY(const auto args, ask<abi::LoadedExecutableGetExecutableArgs>(loaded));
  if (args.executable == nullptr) {
    return broken("PJRT_LoadedExecutable_GetExecutable gives no executable");
  }
  return hold(args.executable);
}

Result<Put> Rig::put_any(const void* data, const PutOptions& options) {
  abi::Device* target = options.device;
  if (target == nullptr) {
    MILLRACE_TRY(target, device());
  }
  MILLRACE_TRY(const auto args, ask_client<abi::ClientBufferFromHostBufferArgs>(
                                    data, options.type, options.dims.data(), options.dims.size(),
                                    options.byte_strides.data(), options.byte_strides.size(),
                                    options.semantics, target));
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

Result<HeldEvent> Rig::start_get(abi::Buffer* buffer, void* target, std::size_t size) const {
  MILLRACE_TRY(const auto args, ask<abi::BufferToHostBufferArgs>(buffer, nullptr, target, size));
  if (args.event == nullptr) return broken("PJRT_Buffer_ToHostBuffer gives no event");
  return hold(args.event);
}

Status Rig::get_bytes(abi::Buffer* buffer, void* target, std::size_t size) const {
  MILLRACE_TRY(const HeldEvent read, start_get(buffer, target, size));
  return wait(read, "PJRT_Buffer_ToHostBuffer");
}

Result<Floats> Rig::get(abi::Buffer* buffer, std::int64_t elements) const {
  Floats values(static_cast<std::size_t>(elements));
  MILLRACE_TRY_STATUS(get_bytes(buffer, values.data(), values.size() * sizeof(float)));
  return values;
}

Status Rig::expect(abi::Buffer* buffer, std::span<const float> wanted,
                   std::string_view what) const {
  MILLRACE_TRY(const Floats got, get(buffer, static_cast<std::int64_t>(wanted.size())));
  return expect_floats(got, wanted, what);
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
  MILLRACE_TRY_STATUS(call<abi::LoadedExecutableExecuteArgs>(
      loaded, &extra, argument_lists.data(), arguments.size(), arguments[0].size(),
      output_lists.data(), done.data(), options.execute_device));
  std::vector<Run> runs;
  for (std::size_t d = 0; d < arguments.size(); ++d) {
    Run run{.outputs = {}, .done = hold(done[d])};
    for (abi::Buffer* buffer : outputs[d]) run.outputs.push_back(hold(buffer));
    runs.push_back(std::move(run));
    if (done[d] == nullptr) {
      return broken("PJRT_LoadedExecutable_Execute gives no event that reports its end");
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

Result<Launch> Rig::prepare(const std::string& program, std::span<const float> x) {
  Launch made;
  MILLRACE_TRY(made.program, compile(program));
  MILLRACE_TRY(made.x, put(x));
  return made;
}

Result<Launch> Rig::launch(const std::string& program, std::span<const float> x) {
  MILLRACE_TRY(Launch made, prepare(program, x));
  MILLRACE_TRY(made.y, apply(made.program, made.x));
  return made;
}

Status Rig::expect_refused_run(const Result<Run>& run, std::string_view what) const {
  return expect_refused(run ? wait_ready(run->outputs[0]) : std::unexpected(run.error()), what);
}

Result<HeldEvent> Rig::ready_event(abi::Buffer* buffer) const {
  MILLRACE_TRY(const auto args, ask<abi::BufferReadyEventArgs>(buffer));
  if (args.event == nullptr) return broken("PJRT_Buffer_ReadyEvent gives no event");
  return hold(args.event);
}

Result<bool> Rig::is_ready(abi::Event* event) const {
  MILLRACE_TRY(const auto args, ask<abi::EventIsReadyArgs>(event));
  return args.is_ready;
}

Status Rig::wait(const HeldEvent& event, std::string_view what) const {
  const Callback callback;
  MILLRACE_TRY_STATUS(callback.attach(table_, event));
  if (callback.wait(1, options_.patience_seconds) == 0) {
    return fail(ErrorCode::kDeadlineExceeded,
                joined("an event of ", what, " was not ready within ",
                       static_cast<int>(options_.patience_seconds), " s"));
  }
  if (callback.error() == nullptr) return {};
  return std::unexpected(table_.take_error(callback.error(), what));
}

Status Rig::wait(const Callback& callback, int calls, std::string_view what) const {
  const int come = callback.wait(calls, options_.patience_seconds);
  return conform::expect(come >= calls, what, ": ", come, " of ", calls, " callbacks have come");
}

Status Rig::wait_ready(abi::Buffer* buffer) const {
  MILLRACE_TRY(const HeldEvent event, ready_event(buffer));
  return wait(event, "PJRT_Buffer_ReadyEvent");
}

Status Rig::expect_deleted(abi::Buffer* buffer, bool wanted, std::string_view what) const {
  MILLRACE_TRY(const auto args, ask<abi::BufferIsDeletedArgs>(buffer));
  return conform::expect(args.is_deleted == wanted, what,
                         args.is_deleted ? " is deleted" : " is not deleted");
}

Status Rig::close() {
  client_.reset();
  devices_.clear();
  return trouble_.first();
}

Status Rig::remove(abi::Buffer* buffer) const { return call<abi::BufferDeleteArgs>(buffer); }

Result<Floats> Rig::with_memory_held(abi::Buffer* buffer,
                                     const std::function<Status()>& work) const {
  MILLRACE_TRY_STATUS(call<abi::BufferIncreaseExternalReferenceCountArgs>(buffer));
  MILLRACE_TRY(const auto args, ask<abi::BufferOpaqueDeviceMemoryDataPointerArgs>(buffer));
  if (args.device_memory_ptr == nullptr) return broken("the pointer is null");
  const auto where = ask<abi::BufferIsOnCpuArgs>(buffer);
  MILLRACE_TRY_STATUS(work());
  const auto* const memory = static_cast<const float*>(args.device_memory_ptr);
  const bool readable = where && where->is_on_cpu;
  Floats seen = readable ? Floats(memory, memory + kLength) : numbers();
  MILLRACE_TRY_STATUS(call<abi::BufferDecreaseExternalReferenceCountArgs>(buffer));
  return seen;
}

Result<std::string> attribute_names(const abi::NamedValue* values, std::size_t count,
                                    abi::ValueType last) {
  std::set<std::string> names;
  std::string list;
  for (const abi::NamedValue& v : std::span(values, count)) {
    if (v.name == nullptr || v.name_size == 0) return broken("an attribute has no name");
    const std::string name(v.name, v.name_size);
    if (!names.insert(name).second) return broken("there are two attributes ", name);
    if (v.type < abi::ValueType::kString || v.type > last) {
      return broken("attribute ", name, " is of type ", static_cast<int>(v.type),
                    ", which clients do not know here; they end the process");
    }
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

Status expect_floats(std::span<const float> got, std::span<const float> wanted,
                     std::string_view what) {
  if (got.size() == wanted.size()) {
    std::size_t i = 0;
    while (i < got.size() && got[i] == wanted[i]) ++i;
    if (i == got.size()) return {};
  }
  return broken(what, " is ", to_string(got), ", not ", to_string(wanted));
}

Status expect_refused(const Status& status, std::string_view what) {
  if (status) return broken(what, " is accepted");
  if (status.error().detail<PluginError>() == nullptr) return status;
  return {};
}

Status on_threads(std::size_t threads, const std::function<Status(std::size_t)>& body) {
  std::vector<Status> results(threads);
  std::latch start(static_cast<std::ptrdiff_t>(threads));
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        start.arrive_and_wait();
        results[i] = body(i);
      });
    }
  }
  for (Status& result : results) {
    if (!result) return result;
  }
  return {};
}

Result<HeldTransferManager> make_transfer_manager(Rig& rig) {
  abi::ShapeSpec shape{{}, kDims, 1, abi::BufferType::kF32};
  shape.struct_size = abi::kStructSize<abi::ShapeSpec>;
  MILLRACE_TRY(abi::Memory* const memory, rig.memory());
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientCreateBuffersForAsyncHostToDeviceArgs>(
                                    &shape, std::size_t{1}, nullptr, std::size_t{0}, memory));
  if (args.manager == nullptr) return broken("there is no transfer manager");
  return rig.hold(args.manager);
}

Result<HeldBuffer> retrieve_buffer(Rig& rig, const HeldTransferManager& manager) {
  MILLRACE_TRY(const auto args, rig.ask<abi::TransferManagerRetrieveBufferArgs>(manager, 0));
  if (args.buffer == nullptr) return broken("there is no buffer to retrieve");
  return rig.hold(args.buffer);
}

Status fail_transfer(Rig& rig, const HeldTransferManager& manager) {
  return rig.call<abi::TransferManagerSetBufferErrorArgs>(manager, 0, kErrorCode, kErrorText.data(),
                                                          kErrorText.size());
}

Result<HeldBuffer> error_buffer(Rig& rig) {
  Result<HeldBuffer> made = created(rig);
  if (made || made.error().code() != ErrorCode::kUnimplemented) return made;
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  MILLRACE_TRY(HeldBuffer buffer, retrieve_buffer(rig, manager));
  MILLRACE_TRY_STATUS(fail_transfer(rig, manager));
  return buffer;
}

Status expect_that_error(const Status& status, std::string_view where, bool any_code) {
  if (status) return broken(where, " reports no error where there is one");
  if (status.error().detail<PluginError>() == nullptr) return status;
  if ((!any_code && status.error().code() != static_cast<ErrorCode>(kErrorCode)) ||
      !status.error().message().contains(kErrorText)) {
    return broken(where, " reports another error than there is: ",
                  millrace::to_string(status.error().code()), ": ", status.error().message());
  }
  return {};
}

}  // namespace millrace::conform
