// One launch, as PJRT calls it. It checks all that a caller can get wrong before anything is
// donated, and gives handles at once; what runs longer than a wake-up costs runs on the client's
// threads.
//  - PP-6 a launch that is refused has donated nothing and written no handle.
//  - PP-7 a caller that is LaunchLimit::kMost launches ahead of a device waits; a thread of the
//    client's own never does, because what it waits for may need it, nor does a launch whose
//    arguments wait for what a caller has yet to bring. A launch on several devices counts for the
//    first of them; one that comes as a call per device counts for none.
// Read next: executable.h, devices/cpu/execution.h.
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "millrace/devices/cpu/execution.h"
#include "millrace/devices/launch_check.h"
#include "millrace/devices/pooled_array.h"
#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/event.h"
#include "millrace/tools/pjrt_plugin/executable.h"

namespace millrace::pjrt_plugin {
namespace {

using devices::PooledArray;

// What a launch may be given: its caller makes and destroys it.
struct ExecuteContext final : Handle<ExecuteContext> {};

// A launch's place in its device's limit, until it is given to the launch's end.
class LaunchPlace {
 public:
  explicit LaunchPlace(LaunchLimit* limit) : limit_(limit) {}
  LaunchPlace(const LaunchPlace&) = delete;
  LaunchPlace& operator=(const LaunchPlace&) = delete;
  ~LaunchPlace() {
    if (limit_ != nullptr) limit_->end();
  }
  void end_with(const Future<void>& done, ClientBody& body);

 private:
  LaunchLimit* limit_;
};

// Ends it.
class LaunchEnd final : public Waiter, public Pooled {
 public:
  LaunchEnd(Ref<ClientBody> body, LaunchLimit& limit) : body_(std::move(body)), limit_(limit) {}
  void on_complete(AsyncValue& /*value*/) noexcept override {
    limit_.end();
    delete this;
  }

 private:
  const Ref<ClientBody> body_;  // which has the limit
  LaunchLimit& limit_;
};

void LaunchPlace::end_with(const Future<void>& done, ClientBody& body) {
  if (limit_ == nullptr || done.ready()) return;
  auto* const end = new LaunchEnd(Ref<ClientBody>::share(&body), *limit_);
  limit_ = nullptr;
  done.cell()->watch(end);
}

std::unexpected<Error> refused(const devices::Executable& executable, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument,
              "a launch of " + executable.name() + " " + std::string(why));
}

Status check_counts(const abi::LoadedExecutable& loaded,
                    const abi::LoadedExecutableExecuteArgs& a) {
  const devices::Executable& executable = loaded.program->executable();
  if (loaded.deleted.load()) {
    return fail(ErrorCode::kFailedPrecondition, executable.name() + " was deleted before");
  }
  const auto devices = static_cast<std::size_t>(executable.body()->devices_per_launch());
  const bool is_part = a.num_devices == 1 && a.execute_device != nullptr;
  if (a.num_devices != devices && !is_part) {
    return refused(executable, "is for " + std::to_string(devices) + " devices, not for " +
                                   std::to_string(a.num_devices) +
                                   (devices > 1 && a.num_devices == 1
                                        ? "; a call for one of them names it (execute_device)"
                                        : ""));
  }
  if (a.argument_lists == nullptr && a.num_args != 0)
    return refused(executable, "has no list of arguments");
  const ProgramFacts& facts = loaded.program->facts();
  if (a.output_lists == nullptr && !facts.result_kinds.empty())
    return refused(executable, "has no list for its outputs");
  if (a.num_args != facts.argument_kinds.size()) {
    return refused(executable, "takes " + std::to_string(facts.argument_kinds.size()) +
                                   " arguments, not " + std::to_string(a.num_args));
  }
  return {};
}

Result<abi::Device*> find_device(const abi::LoadedExecutable& loaded,
                                 const abi::LoadedExecutableExecuteArgs& a) {
  ClientBody& body = loaded.program->body();
  if (a.execute_device == nullptr)
    return loaded.devices.empty() ? body.devices()[0] : loaded.devices[0];
  MILLRACE_GIVEN(device, execute_device);
  MILLRACE_TRY_STATUS(body.check(device));
  return &device;
}

// The arguments as the client takes them: without tokens.
Result<PooledArray<devices::Buffer>> read_arguments(const CompiledProgram& program,
                                                    abi::Buffer* const* arguments,
                                                    std::size_t count) {
  const devices::Executable& executable = program.executable();
  PooledArray<devices::Buffer> read(executable.input_shapes().size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i] == nullptr || !arguments[i]->is_live()) [[unlikely]] {
      return refused(executable, "has no buffer of this plugin as argument " + std::to_string(i));
    }
    if (program.has_tokens() && program.facts().argument_is_token[i] != 0) continue;
    read[next++] = arguments[i]->array;
  }
  return read;
}

// A buffer that is donated stands nowhere else among the arguments: the program would read what it
// has written over.
Status check_donations(const devices::Executable& executable, const devices::LaunchArguments& call,
                       std::span<const devices::Buffer> arguments) {
  const std::span<const bool> donated = executable.donated_inputs();
  if (arguments.size() < 2 || std::ranges::find(donated, true) == donated.end()) return {};
  PooledArray<std::pair<const devices::BufferBody*, std::size_t>> sorted(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) sorted[i] = {arguments[i].body().get(), i};
  std::ranges::sort(sorted);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const auto [body, place] = sorted[i];
    const auto [before, first] = sorted[i - 1];
    if (body != before) continue;
    if (!donates(*executable.body(), call, place) && !donates(*executable.body(), call, first))
      continue;
    return refused(executable, "has the same buffer as arguments " + std::to_string(first) +
                                   " and " + std::to_string(place) +
                                   ", and donates it: the program may write over it");
  }
  return {};
}

// Whether one of them has bytes that a caller has yet to bring.
bool waits_for_caller(std::span<abi::Buffer* const> arguments) {
  return std::ranges::any_of(arguments, [](const abi::Buffer* argument) {
    return argument->late && !argument->array.ready().ready();
  });
}

// What the caller says besides. Send and receive are no part of a program of this client.
Result<PooledArray<int>> read_options(const CompiledProgram& program,
                                      const abi::ExecuteOptions* given) {
  const devices::Executable& executable = program.executable();
  if (given == nullptr) return PooledArray<int>();
  const abi::ExecuteOptions options = abi::whole_of(*given);
  if (options.num_send_ops != 0 || options.num_recv_ops != 0) {
    return fail(ErrorCode::kUnimplemented,
                "a launch of " + executable.name() + " has callbacks for send or receive");
  }
  const std::size_t count =
      options.non_donatable_input_indices == nullptr ? 0 : options.num_non_donatable_input_indices;
  PooledArray<int> kept(count);
  const std::vector<char>& tokens = program.facts().argument_is_token;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t argument = options.non_donatable_input_indices[i];
    if (argument < 0 || argument >= std::ssize(tokens)) {
      return refused(executable, "keeps argument " + std::to_string(argument) + " of " +
                                     std::to_string(tokens.size()));
    }
    kept[i] = static_cast<int>(argument - std::count(tokens.begin(), tokens.begin() + argument, 1));
  }
  return kept;
}

// The outputs of the device whose lists are at this place.
Status give_outputs(const abi::LoadedExecutable& loaded, abi::Device& device, bool late,
                    const devices::LaunchResult& result, abi::LoadedExecutableExecuteArgs& a,
                    std::size_t place = 0) {
  const std::vector<int>& kinds = loaded.program->facts().result_kinds;
  const std::vector<char>& tokens = loaded.program->facts().result_is_token;
  PooledArray<std::unique_ptr<abi::Buffer>> made(kinds.size());
  std::size_t next = 0;
  for (std::size_t o = 0; o < made.size(); ++o) {
    abi::Memory* const memory = device.memory_list[static_cast<std::size_t>(kinds[o])];
    if (tokens[o] != 0) {
      MILLRACE_TRY(abi::Buffer* const token, make_token(device.body, memory, result.done));
      made[o].reset(token);
    } else {
      made[o].reset(make_buffer(device.body, result.outputs[next++], memory, late));
    }
  }
  if (a.device_complete_events != nullptr)
    a.device_complete_events[place] = make_event(result.done);
  for (std::size_t o = 0; o < made.size(); ++o) a.output_lists[place][o] = made[o].release();
  return {};
}

abi::Buffer* const* arguments_at(const abi::LoadedExecutableExecuteArgs& a, std::size_t place) {
  return a.num_args == 0 ? nullptr : a.argument_lists[place];
}

// On one device: all of the launch, or the call of this device in one that spans several, which
// starts when the others have come: what it gives waits for its caller.
Status execute_on_one(const abi::LoadedExecutable& loaded, abi::LoadedExecutableExecuteArgs& a) {
  const devices::Executable& executable = loaded.program->executable();
  MILLRACE_TRY(abi::Device* const device, find_device(loaded, a));
  abi::Buffer* const* const given = arguments_at(a, 0);
  MILLRACE_TRY(const PooledArray<devices::Buffer> arguments,
               read_arguments(*loaded.program, given, a.num_args));
  MILLRACE_TRY(const PooledArray<int> kept, read_options(*loaded.program, a.options));
  const devices::DeviceId id = device->id();
  const std::span<const devices::Buffer> inputs(arguments.span());
  const devices::LaunchArguments call{
      .devices = {&id, 1}, .arguments = {&inputs, 1}, .non_donatable = kept.span()};
  MILLRACE_TRY_STATUS(check_donations(executable, call, inputs));
  if (executable.body()->devices_per_launch() > 1) {
    auto& body = static_cast<devices::cpu::CpuExecutable&>(*executable.body());
    MILLRACE_TRY(const devices::LaunchResult part, body.launch_part(call));
    return give_outputs(loaded, *device, true, part, a);
  }
  ClientBody& body = device->body;
  const bool late = waits_for_caller({given, a.num_args});
  // One that is late takes no place of those that the device will end by itself.
  if (!late) device->launches.begin(!body.on_own_thread());
  LaunchPlace place(late ? nullptr : &device->launches);
  std::array<devices::LaunchResult, 1> results;
  MILLRACE_TRY_STATUS(executable.body()->launch(call, results));
  place.end_with(results[0].done, body);
  return give_outputs(loaded, *device, late, results[0], a);
}

// On all devices of the program. The launch stands in the line of the first of them.
Status execute_on_all(const abi::LoadedExecutable& loaded, abi::LoadedExecutableExecuteArgs& a) {
  const devices::Executable& executable = loaded.program->executable();
  const std::size_t count = loaded.devices.size();
  PooledArray<PooledArray<devices::Buffer>> arguments(count);
  PooledArray<std::span<const devices::Buffer>> inputs(count);
  PooledArray<devices::DeviceId> ids(count);
  bool late = false;
  for (std::size_t d = 0; d < count; ++d) {
    abi::Buffer* const* const given = arguments_at(a, d);
    MILLRACE_TRY(arguments[d], read_arguments(*loaded.program, given, a.num_args));
    late = late || waits_for_caller({given, a.num_args});
    inputs[d] = arguments[d].span();
    ids[d] = loaded.devices[d]->id();
  }
  MILLRACE_TRY(const PooledArray<int> kept, read_options(*loaded.program, a.options));
  const devices::LaunchArguments call{
      .devices = ids.span(), .arguments = inputs.span(), .non_donatable = kept.span()};
  for (const std::span<const devices::Buffer> list : inputs)
    MILLRACE_TRY_STATUS(check_donations(executable, call, list));
  abi::Device& first = *loaded.devices[0];
  if (!late) first.launches.begin(!first.body.on_own_thread());
  LaunchPlace place(late ? nullptr : &first.launches);
  PooledArray<devices::LaunchResult> results(count);
  MILLRACE_TRY_STATUS(executable.body()->launch(call, results.span()));
  place.end_with(results[0].done, first.body);
  for (std::size_t d = 0; d < count; ++d)
    MILLRACE_TRY_STATUS(give_outputs(loaded, *loaded.devices[d], late, results[d], a, d));
  return {};
}

Status execute(const abi::LoadedExecutable& loaded, abi::LoadedExecutableExecuteArgs& a) {
  MILLRACE_TRY_STATUS(check_counts(loaded, a));
  return a.num_devices == 1 ? execute_on_one(loaded, a) : execute_on_all(loaded, a);
}

}  // namespace

void add_execution(abi::Api& api) {
  // A context carries what extensions put there, of which there are none so far.
  add<&abi::ExecuteContextCreateArgs::context, "context">(
      api, [](abi::ExecuteContextCreateArgs& a) { a.context = new ExecuteContext; });
  add<&abi::ExecuteContextDestroyArgs::context, "context">(
      api, [](abi::ExecuteContextDestroyArgs& a) -> Status {
        auto* const context = static_cast<ExecuteContext*>(a.context);
        MILLRACE_TRY_STATUS(given(a, context, "context"));
        delete context;
        return {};
      });

  add<&abi::LoadedExecutableExecuteArgs::device_complete_events, "device_complete_events">(
      api, [](abi::LoadedExecutableExecuteArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        return execute(executable, a);
      });
}

}  // namespace millrace::pjrt_plugin
