#include "millrace/devices/pjrt/executable.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "millrace/core/base/pool.h"
#include "millrace/devices/launch_check.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/named_values.h"

namespace millrace::devices::pjrt {

Result<Executable> PjrtExecutable::create(ClientCore& client, abi::LoadedExecutable* loaded,
                                          const Program* program, const CompileOptions* options) {
  auto made = Ref<PjrtExecutable>::adopt(new PjrtExecutable(
      client, program != nullptr ? program->name() : "a loaded program", loaded));
  if (Status read = made->read(program, options); !read)
    return std::unexpected(read.error().with_context("cannot use " + made->name_));
  return Executable(std::move(made));
}

PjrtExecutable::~PjrtExecutable() {
  // In one, since what is handed over may be made by several threads.
  client_.gate().hand_over([&client = client_, inner = executable_, loaded = loaded_] {
    if (client.given_up()) return;
    if (inner != nullptr) client.plugin().call_quietly<abi::ExecutableDestroyArgs>(inner);
    client.plugin().call_quietly<abi::LoadedExecutableDestroyArgs>(loaded);
  });
}

Status PjrtExecutable::check_counts(const CompileOptions& options) const {
  if (!options.plugin_options.empty()) return {};  // they may say otherwise
  const auto check = [&](std::string_view function, int count, int wanted) -> Status {
    if (count == wanted) return {};
    return fail(ErrorCode::kInternal,
                std::string(function) + " of the plugin " + client_.plugin().name() + " reports " +
                    std::to_string(count) + " for what was compiled for " + std::to_string(wanted));
  };
  MILLRACE_TRY_STATUS(check("PJRT_Executable_NumReplicas", facts_.replicas, options.replicas));
  return check("PJRT_Executable_NumPartitions", facts_.partitions, options.partitions);
}

// Looks at the few inputs that are wanted, or lie, otherwise than row-major: a plugin would take
// the bytes as they lie.
Status PjrtExecutable::check_layouts(const LaunchArguments& call) const {
  for (const std::span<const Buffer> list : call.arguments) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto* buffer = static_cast<const PjrtBuffer*>(list[i].body().get());
      const auto wanted = std::ranges::find(facts_.layouts, i, &ProgramFacts::Layout::input);
      const bool row_major = wanted == facts_.layouts.end();
      if (row_major && !buffer->laid_out()) continue;
      const DeviceLayout takes = row_major ? DeviceLayout::row_major(buffer->shape().rank())
                                           : DeviceLayout{wanted->minor_to_major, {}};
      const Result<DeviceLayout> has = buffer->layout();
      if (!has || has->minor_to_major == takes.minor_to_major) continue;
      return fail(ErrorCode::kInvalidArgument,
                  "argument " + std::to_string(i) + " of " + name_ + ", a " +
                      buffer->shape().to_string() + ", lies in the layout " + has->to_text() +
                      ", but the program takes it in " + takes.to_text() + ": put it in that one");
    }
  }
  return {};
}

Status PjrtExecutable::read(const Program* program, const CompileOptions* options) {
  const Plugin& plugin = client_.plugin();
  MILLRACE_TRY(const auto inner, plugin.ask<abi::LoadedExecutableGetExecutableArgs>(loaded_));
  MILLRACE_TRY_STATUS(plugin.require<abi::LoadedExecutableGetExecutableArgs>(
      inner.executable != nullptr, "executable"));
  executable_ = inner.executable;
  MILLRACE_TRY(facts_, read_facts(plugin, executable_, program));
  if (options != nullptr) MILLRACE_TRY_STATUS(check_counts(*options));
  if (client_.trace() != nullptr) trace_name_ = client_.trace()->name(name_);
  donated_ = std::make_unique<bool[]>(facts_.inputs.size());
  std::ranges::copy(facts_.donated, donated_.get());
  donates_any_ = std::ranges::find(facts_.donated, true) != facts_.donated.end();

  if (options != nullptr && options->on_any_one()) return {};
  MILLRACE_TRY(const auto where, plugin.ask<abi::LoadedExecutableAddressableDevicesArgs>(loaded_));
  MILLRACE_TRY_STATUS(plugin.require<abi::LoadedExecutableAddressableDevicesArgs>(
      where.devices != nullptr || where.num_devices == 0, "list of devices"));
  for (std::size_t i = 0; i < where.num_devices; ++i) {
    MILLRACE_TRY(const DeviceId id, client_.opened().id_of(where.devices[i]));
    devices_.push_back(id);
  }
  const bool any_one = devices_.empty() && devices_per_launch() == 1;
  if (!any_one && devices_.size() != static_cast<std::size_t>(devices_per_launch())) {
    return fail(ErrorCode::kUnimplemented,
                "it runs on " + std::to_string(devices_per_launch()) + " devices, of which " +
                    std::to_string(devices_.size()) + " are in this process");
  }
  return {};
}

// What one call of PJRT_LoadedExecutable_Execute points to. Devices in the plugin's order. Kept by
// each thread, so that a launch asks for no memory here.
struct PjrtExecutable::Launch {
  void begin(std::size_t devices, std::size_t inputs, std::size_t outputs) {
    buffers.resize(devices * (inputs + outputs));
    std::fill_n(buffers.data() + devices * inputs, devices * outputs, nullptr);
    argument_lists.resize(devices);
    output_lists.resize(devices);
    done.resize(devices);
    std::fill_n(done.data(), devices, nullptr);
    kept.clear();
    given.clear();
    abi::Buffer** next = buffers.data();
    for (abi::Buffer* const*& list : argument_lists) list = std::exchange(next, next + inputs);
    for (abi::Buffer**& list : output_lists) list = std::exchange(next, next + outputs);
  }
  // twins[i]: input i of some device is another input of it, too.
  void find_twins(std::span<const std::span<const Buffer>> arguments) {
    twins.assign(arguments.empty() ? 0 : arguments[0].size(), false);
    for (const std::span<const Buffer> list : arguments) {
      order.clear();
      for (std::size_t i = 0; i < list.size(); ++i) order.emplace_back(list[i].body().get(), i);
      std::ranges::sort(order);
      for (std::size_t k = 1; k < order.size(); ++k) {
        if (order[k - 1].first != order[k].first) continue;
        twins[order[k - 1].second] = twins[order[k].second] = true;
      }
    }
  }
  // The launch was refused: nothing was donated.
  void revoke() const {
    for (PjrtBuffer* buffer : given) buffer->undo_donation();
  }
  std::vector<bool> twins;
  std::vector<std::pair<const BufferBody*, std::size_t>> order;
  std::vector<abi::Buffer*> buffers;  // the arguments of all devices, then their outputs
  std::vector<abi::Buffer* const*> argument_lists;
  std::vector<abi::Buffer**> output_lists;
  std::vector<abi::Event*> done;
  abi::RoomyExecuteOptions options;  // what is not set for each launch stays zero
  std::vector<std::int64_t> kept;    // inputs that are not to be donated
  std::vector<PjrtBuffer*> given;    // removed for this launch
  std::vector<Buffer> outputs;       // of one device, empty between launches
};

std::size_t PjrtExecutable::place_of(DeviceId device) const {
  if (devices_.empty() || devices_per_launch() == 1) return 0;
  return static_cast<std::size_t>(std::ranges::find(devices_, device) - devices_.begin());
}

Status PjrtExecutable::check_devices(std::span<const DeviceId> devices) const {
  for (const DeviceId device : devices) {
    MILLRACE_TRY_STATUS(client_.opened().find(device));
    MILLRACE_TRY_STATUS(client_.alive(device));
  }
  if (devices_.empty()) return {};
  for (const DeviceId device : devices) {
    if (std::ranges::find(devices_, device) != devices_.end()) [[likely]]
      continue;
    return fail(ErrorCode::kInvalidArgument, name_ + " was not compiled for " + name_of(device) +
                                                 " of '" + std::string(client_.platform_name()) +
                                                 "'");
  }
  return {};
}

// Removes the inputs that the launch takes for good, and notes the others.
Status PjrtExecutable::donate(const LaunchArguments& call, Launch& launch) const {
  const std::size_t inputs = facts_.inputs.size();
  // A buffer that stands in two places is read by one of them after the other would take it.
  launch.find_twins(call.arguments);
  for (std::size_t i = 0; i < inputs; ++i) {
    if (launch.twins[i] && donates(*this, call, i))
      launch.kept.push_back(static_cast<std::int64_t>(i));
  }
  std::ranges::sort(launch.kept);
  for (std::size_t i = 0; i < inputs; ++i) {
    if (!donated_[i] || std::ranges::binary_search(launch.kept, static_cast<std::int64_t>(i)))
      continue;
    for (const std::span<const Buffer> list : call.arguments) {
      auto* buffer = static_cast<PjrtBuffer*>(list[i].body().get());
      if (buffer->begin_donation()) {
        launch.given.push_back(buffer);
        continue;
      }
      launch.revoke();
      return fail(ErrorCode::kFailedPrecondition, "argument " + std::to_string(i) + " of " + name_ +
                                                      " was donated or removed before");
    }
  }
  return {};
}

Status PjrtExecutable::launch(const LaunchArguments& call, std::span<LaunchResult> results) {
  MILLRACE_TRY_STATUS(check_launch(*this, client_, call));
  MILLRACE_TRY_STATUS(check_devices(call.devices));
  client_.gate().drain_frees();
  if (!facts_.layouts.empty() || client_.any_laid_out()) MILLRACE_TRY_STATUS(check_layouts(call));
  const std::size_t devices = call.devices.size();
  const std::size_t inputs = facts_.inputs.size();
  StripedScope::Hold one_hold;  // most launches are of one device
  PooledVector<StripedScope::Hold> more_holds(devices == 1 ? 0 : devices);
  const std::span<StripedScope::Hold> holds =
      devices == 1 ? std::span(&one_hold, 1) : std::span<StripedScope::Hold>(more_holds);
  for (StripedScope::Hold& hold : holds) {
    hold = client_.gate().scope().hold();
    if (!hold) [[unlikely]]
      return std::unexpected(client_.gate().scope().closed_error());
  }

  thread_local Launch launch;
  launch.begin(devices, inputs, facts_.outputs.size());
  for (std::size_t d = 0; d < devices; ++d) {
    abi::Buffer** argument = launch.buffers.data() + place_of(call.devices[d]) * inputs;
    for (const Buffer& input : call.arguments[d])
      *argument++ = static_cast<PjrtBuffer*>(input.body().get())->get();
  }
  for (const int keep : call.non_donatable) launch.kept.push_back(keep);
  if (donates_any_) MILLRACE_TRY_STATUS(donate(call, launch));

  abi::RoomyExecuteOptions& options = launch.options;
  options.struct_size = abi::execute_options_size(client_.plugin().minor_version());
  options.non_donatable_input_indices = launch.kept.data();
  options.num_non_donatable_input_indices = launch.kept.size();
  // PJRT knows by it which parts of a launch belong together. One device's is 0, for none, so that
  // the others are numbered alike in all processes, and its threads count nothing in common.
  options.launch_id = devices == 1 ? 0 : client_.next_launch_id();
  abi::LoadedExecutableExecuteArgs args;
  args.executable = loaded_;
  args.options = &options;
  args.argument_lists = launch.argument_lists.data();
  args.num_devices = devices;
  args.num_args = inputs;
  args.output_lists = launch.output_lists.data();
  args.device_complete_events = launch.done.data();
  if (devices_.empty() || devices == 1)
    args.execute_device = client_.opened().device(call.devices[0]);
  const Plugin& plugin = client_.plugin();
  const TimePoint launched = client_.now();
  if (const Status status = plugin.call(args); !status) [[unlikely]] {
    launch.revoke();
    return std::unexpected(status.error().with_context("cannot run " + name_));
  }

  Status complete;
  for (std::size_t d = 0; d < devices; ++d) {
    const std::size_t place = place_of(call.devices[d]);
    results[d].done = note_end(
        client_.watch(launch.done[place], "PJRT_LoadedExecutable_Execute", call.devices[d]),
        {call.devices[d], trace_name_, launched, call.flow}, std::move(holds[d]));
    launch.outputs.clear();
    for (std::size_t o = 0; o < facts_.outputs.size(); ++o) {
      if (launch.output_lists[place][o] == nullptr) [[unlikely]] {
        complete = plugin.require<abi::LoadedExecutableExecuteArgs>(
            false, "output " + std::to_string(o) + " of " + name_);
        continue;
      }
      const bool laid_out = o < facts_.outputs_laid_out.size() && facts_.outputs_laid_out[o] != 0;
      launch.outputs.emplace_back(make_ref<PjrtBuffer>(client_, call.devices[d], facts_.outputs[o],
                                                       launch.output_lists[place][o], laid_out,
                                                       results[d].done));
    }
    results[d].outputs = Buffers::of_moved(launch.outputs);
  }
  if (!complete) [[unlikely]] {  // the run goes on, and its end, or its outputs', ends the holds
    for (LaunchResult& result : results.first(devices)) {
      result.done.ignore();
      result = {};
    }
  }
  return complete;
}

Future<void> PjrtExecutable::note_end(Future<void> done, const PjrtRun& run,
                                      StripedScope::Hold hold) {
  if (done.ready()) {  // no continuation: small programs have often run when the call returns
    client_.note_run(run);
    if (!done.result()) return done.result().error().with_context("running " + *label_);
    return done;
  }
  return std::move(done).then(
      brief_executor(),
      [client = &client_, run, label = label_, hold = std::move(hold)](Status ended) -> Status {
        client->note_run(run);
        if (!ended) return std::unexpected(ended.error().with_context("running " + *label));
        return ended;
      });
}

Result<Attributes> PjrtExecutable::cost_analysis() const {
  const CallsFor mine(&client_);
  const auto answer = client_.plugin().ask<abi::ExecutableGetCostAnalysisArgs>(executable_);
  if (!answer)
    return std::unexpected(answer.error().with_context("cannot report what " + name_ + " costs"));
  MILLRACE_TRY_STATUS(client_.plugin().require<abi::ExecutableGetCostAnalysisArgs>(
      answer->properties != nullptr || answer->num_properties == 0, "list of properties"));
  return read_values(answer->properties, answer->num_properties);
}

Result<std::string> PjrtExecutable::serialize() const {
  const CallsFor mine(&client_);
  const Plugin& plugin = client_.plugin();
  const auto serialized = plugin.ask<abi::ExecutableSerializeArgs>(executable_);
  if (!serialized)
    return std::unexpected(serialized.error().with_context("cannot serialize " + name_));
  const abi::ExecutableSerializeArgs& args = *serialized;
  std::string bytes;
  Status copied = plugin.require<abi::ExecutableSerializeArgs>(
      args.serialized_bytes != nullptr || args.serialized_bytes_size == 0, "bytes");
  if (args.serialized_bytes != nullptr) {
    try {
      bytes.assign(args.serialized_bytes, args.serialized_bytes_size);
    } catch (const std::exception&) {  // of memory that is not there, or that no string may have
      copied = fail(ErrorCode::kResourceExhausted,
                    "there is no memory for the " + std::to_string(args.serialized_bytes_size) +
                        " bytes of " + name_ + " that PJRT_Executable_Serialize of the plugin " +
                        plugin.name() + " reports");
    }
  }
  if (args.serialized_executable_deleter != nullptr) {
    plugin.quietly("the deleter of PJRT_Executable_Serialize",
                   [&] { args.serialized_executable_deleter(args.serialized_executable); });
  }
  MILLRACE_TRY_STATUS(copied);
  return bytes;
}

}  // namespace millrace::devices::pjrt
