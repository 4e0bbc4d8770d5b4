#include "millrace/devices/pjrt/client.h"

#include <cstdlib>
#include <optional>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/cache/build_id.h"
#include "millrace/devices/pjrt/buffer.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/executable.h"
#include "millrace/devices/pjrt/layout.h"
#include "millrace/devices/pjrt/program_facts.h"

namespace millrace::devices::pjrt {
namespace {

Error no_type_error(const Shape& shape) {
  return Error(ErrorCode::kUnimplemented, "PJRT has no element type for a " + shape.to_string());
}

std::string to_text(const Attributes& attributes) {
  std::string text;
  const auto add = [&text](const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::string>) {
      text += value;
    } else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
      for (const std::int64_t one : value) text += std::to_string(one) + " ";
    } else {
      text += std::to_string(value);
    }
  };
  for (const auto& [name, value] : attributes) {
    text += name + "=";
    std::visit(add, value);
    text += "\n";
  }
  return text;
}

// Options of XLA's compilers that no client knows.
std::string compiler_variables() {
  std::string text;
  for (const char* name : {"XLA_FLAGS", "LIBTPU_INIT_ARGS"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) text += std::string(name) + "=" + value + "\n";
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<PjrtClient>> PjrtClient::create(const Plugin& plugin,
                                                       PjrtClientOptions options) {
  MILLRACE_CHECK(options.completions != nullptr, "a PJRT client needs an executor");
  std::unique_ptr<PjrtClient> client(new PjrtClient(plugin, std::move(options)));
  if (Status opened = client->open(); !opened) {
    const Error error =
        opened.error().with_context("opening devices (PJRT API " + plugin.version_text() + ")");
    if (client->options().on_failure) client->options().on_failure(error);
    if (client->destroy_in_time()) return std::unexpected(error);
    static_cast<void>(client.release());  // a thread is still in there
    return std::unexpected(
        Error(error.code(), error.message() + "; nor has PJRT_Client_Destroy returned after that"));
  }
  return client;
}

Result<std::unique_ptr<PjrtClient>> open_client(const Plugin& plugin, PjrtClientOptions options,
                                                const OpeningOptions& opening) {
  MILLRACE_TRY_STATUS(may_begin(plugin.name(), opening.call));
  if (opening.thread == nullptr) return PjrtClient::create(plugin, std::move(options));
  if (options.store != nullptr) options.key_values = make_key_values(options);
  const std::shared_ptr<KeyValues> key_values = options.key_values;
  Opening under_way{.plugin = plugin.name(), .ended = {}, .number = plugin.number()};
  options.on_failure = [failure = under_way.failure](const Error& error) {
    const MutexLock lock(failure->mutex);
    failure->error = error;
  };
  // Shared with the work: a client that was not taken goes on the thread that made it.
  const auto made = std::make_shared<std::optional<Result<std::unique_ptr<PjrtClient>>>>();
  under_way.ended =
      make_ready().then(*opening.thread,
                        [&plugin, options = std::move(options), thread = under_way.thread,
                         made](const Status&) mutable -> Status {
                          thread->store(std::this_thread::get_id());
                          *made = PjrtClient::create(plugin, std::move(options));
                          return {};
                        });
  if (Status ended = wait_for(under_way, opening.call); !ended) {
    if (key_values) key_values->revoke();
    return std::unexpected(std::move(ended).error());
  }
  MILLRACE_TRY_STATUS(under_way.ended.result());  // an exception, or the thread was not there
  return *std::move(*made);
}

Result<PutResult> PjrtClient::put_in(const HostView& view, HostBufferSemantics semantics,
                                     DeviceId device, int memory, const DeviceLayout& layout) {
  MILLRACE_TRY_STATUS(layout.check(view.shape.rank()));
  WrittenLayout written(layout);
  const bool row_major =
      layout.minor_to_major == DeviceLayout::row_major(view.shape.rank()).minor_to_major;
  return put_laid_out(view, semantics, device, memory, written.get(), !row_major);
}

Result<DeviceLayout> PjrtClient::default_layout(const Shape& shape, DeviceId device) const {
  MILLRACE_TRY_STATUS(opened().find(device));
  if (to_buffer_type(shape.dtype()) == abi::BufferType::kInvalid)
    return std::unexpected(no_type_error(shape));
  MILLRACE_TRY(const std::string text, default_layout_text(plugin(), get(), shape));
  return DeviceLayout::from_text(text);
}

Result<PutResult> PjrtClient::put_laid_out(const HostView& view, HostBufferSemantics semantics,
                                           DeviceId device, int memory, abi::MemoryLayout* layout,
                                           bool laid_out) {
  MILLRACE_TRY(abi::Device* const target, opened().find(device));
  MILLRACE_TRY_STATUS(alive(device));
  MILLRACE_TRY_STATUS(check(view));
  gate().drain_frees();
  StripedScope::Hold hold = gate().scope().hold();
  if (!hold) [[unlikely]]
    return std::unexpected(gate().scope().closed_error());
  abi::ClientBufferFromHostBufferArgs args;
  args.client = get();
  args.data = view.data;
  args.type = to_buffer_type(view.shape.dtype());
  args.dims = view.shape.dims().data();
  args.num_dims = view.shape.dims().size();
  if (!view.byte_strides.empty()) args.byte_strides = view.byte_strides.data();
  args.num_byte_strides = view.byte_strides.size();
  args.host_buffer_semantics = static_cast<int>(semantics);
  args.device_layout = layout;
  if (memory == -1) {
    args.device = target;
  } else {
    MILLRACE_TRY(args.memory, opened().find_memory(device, memory));
  }
  if (args.type == abi::BufferType::kInvalid) [[unlikely]]
    return std::unexpected(no_type_error(view.shape));
  if (const Status put = plugin().call(args); !put) [[unlikely]] {
    return std::unexpected(put.error().with_context("cannot put a " + view.shape.to_string() +
                                                    " on " + name_of(device)));
  }
  abi::Event* const done = args.done_with_host_buffer;
  abi::Buffer* const made = args.buffer;
  // A zero-copy put releases its source when the buffer goes, which may be after the close: it is
  // no event that the device owes.
  const bool zero_copy = semantics >= HostBufferSemantics::kImmutableZeroCopy;
  const StripedScope::Hold late_use = zero_copy ? use() : StripedScope::Hold();
  if (zero_copy) hold.reset();  // late_use is there until the buffer's own begins
  constexpr const char* kPut = "PJRT_Client_BufferFromHostBuffer";
  Future<void> released = zero_copy ? take_event(plugin(), done, releases(), kPut,
                                                 releases_of(device), view.owner, nullptr, &gate())
                                    : watch(done, kPut, device, view.owner);
  if (!released.ready()) {
    released = std::move(released).then(
        inline_executor(),
        [hold = std::move(hold), owner = view.owner](Status done) { return done; });
  }
  if (made == nullptr) [[unlikely]] {
    released.ignore();
    return std::unexpected(
        plugin().require<abi::ClientBufferFromHostBufferArgs>(false, "buffer").error());
  }
  Buffer buffer(make_ref<PjrtBuffer>(*this, device, view.shape, made, laid_out));
  return PutResult{std::move(buffer), std::move(released)};
}

Result<Buffer> PjrtClient::copy(const Buffer& source, DeviceId device, int memory) {
  MILLRACE_TRY(abi::Device* const target, opened().find(device));
  MILLRACE_TRY_STATUS(alive(device));
  if (&source.body()->client() != this) {
    return fail(ErrorCode::kInvalidArgument, "the buffer to copy belongs to another client");
  }
  gate().drain_frees();
  const auto* from = static_cast<const PjrtBuffer*>(source.body().get());
  if (from->removed()) {
    return fail(ErrorCode::kFailedPrecondition, "a copy of a " + source.shape().to_string() +
                                                    " that was donated or removed before");
  }
  const auto take = [&]<class A>(const Result<A>& copied) -> Result<Buffer> {
    if (!copied) {
      return std::unexpected(copied.error().with_context(
          "cannot copy a " + source.shape().to_string() + " to " + name_of(device)));
    }
    MILLRACE_TRY_STATUS(plugin().require<A>(copied->dst_buffer != nullptr, "buffer"));
    return Buffer(
        make_ref<PjrtBuffer>(*this, device, source.shape(), copied->dst_buffer, from->laid_out()));
  };
  if (memory == -1) return take(plugin().ask<abi::BufferCopyToDeviceArgs>(from->get(), target));
  MILLRACE_TRY(abi::Memory* const into, opened().find_memory(device, memory));
  return take(plugin().ask<abi::BufferCopyToMemoryArgs>(from->get(), into));
}

Result<MemoryStats> PjrtClient::memory_stats(DeviceId device) const {
  const CallsFor mine(this);
  if (gate().may_call_here()) gate().drain_frees();  // what is freed counts as free
  MILLRACE_TRY(abi::Device* const target, opened().find(device));
  const auto answer = plugin().ask<abi::DeviceMemoryStatsArgs>(target);
  if (!answer) {
    return std::unexpected(
        answer.error().with_context("cannot report how much memory " + name_of(device) + " uses"));
  }
  const auto known = [](const abi::MaybeInt64& v) {
    return v.is_set ? std::optional<std::int64_t>(v.value) : std::nullopt;
  };
  return MemoryStats{.bytes_in_use = answer->bytes_in_use,
                     .peak_bytes_in_use = known(answer->peak_bytes_in_use),
                     .bytes_limit = known(answer->bytes_limit)};
}

Result<std::string> PjrtClient::written_options(const Program& program,
                                                const CompileOptions& options) {
  if (options.processes != 1) {
    return fail(ErrorCode::kUnimplemented,
                program.name() + " spans " + std::to_string(options.processes) +
                    " processes, which only the CPU device does by the job; a plugin's devices of "
                    "all processes are named by its own device assignment");
  }
  std::vector<std::int64_t> ids;
  if (!options.on_any_one()) {
    const auto count =
        static_cast<std::size_t>(options.replicas) * static_cast<std::size_t>(options.partitions);
    if (options.devices.size() != count) {
      return fail(ErrorCode::kInvalidArgument,
                  "compiling " + program.name() + " for " + std::to_string(options.replicas) +
                      " replicas of " + std::to_string(options.partitions) + " partitions takes " +
                      std::to_string(count) + " devices, not " +
                      std::to_string(options.devices.size()));
    }
    for (const DeviceId device : options.devices) {
      MILLRACE_TRY_STATUS(opened().find(device));
      ids.push_back(opened().global_id(device));
    }
  }
  // PJRT has no word for it: XLA's own flags do it on some devices.
  if (options.deterministic && !warned_of_determinism_.exchange(true)) {
    MILLRACE_LOG(kWarning, "pjrt",
                 program.name() +
                     " is compiled without the determinism that was asked for: the plugin " +
                     plugin().name() +
                     " does not get it, since PJRT has no such option; where XLA makes it, "
                     "XLA_FLAGS=--xla_gpu_deterministic_ops=true asks for it");
  }
  return write_compile_options(options, ids);
}

Result<Executable> PjrtClient::compile(const Program& program, const CompileOptions& options) {
  const CallsFor mine(this);
  MILLRACE_TRY(const std::string written, written_options(program, options));
  constexpr std::string_view kFormat = "mlir";
  abi::Program code;
  code.struct_size = abi::kStructSize<abi::Program>;
  code.code = const_cast<char*>(program.code().data());  // PJRT reads it only
  code.code_size = program.code().size();
  code.format = kFormat.data();
  code.format_size = kFormat.size();
  const auto compiled =
      plugin().ask<abi::ClientCompileArgs>(get(), &code, written.data(), written.size());
  if (!compiled)
    return std::unexpected(compiled.error().with_context("cannot compile " + program.name()));
  MILLRACE_TRY_STATUS(
      plugin().require<abi::ClientCompileArgs>(compiled->executable != nullptr, "executable"));
  return PjrtExecutable::create(*this, compiled->executable, &program, &options);
}

Result<Executable> PjrtClient::load_as(std::string_view serialized, const Program* program,
                                       const CompileOptions* options) {
  const CallsFor mine(this);
  std::string written;
  if (program != nullptr) {
    MILLRACE_TRY(written, written_options(*program, *options));
  }
  abi::ExecutableDeserializeAndLoadArgs args;
  args.client = get();
  args.serialized_executable = serialized.data();
  args.serialized_executable_size = serialized.size();
  args.overridden_compile_options = program != nullptr ? written.data() : nullptr;
  args.overridden_compile_options_size = written.size();
  if (const Status loaded = plugin().call(args); !loaded) {
    return std::unexpected(loaded.error().with_context(
        "cannot load " + (program != nullptr ? program->name() : "a program")));
  }
  MILLRACE_TRY_STATUS(plugin().require<abi::ExecutableDeserializeAndLoadArgs>(
      args.loaded_executable != nullptr, "executable"));
  return PjrtExecutable::create(*this, args.loaded_executable, program, options);
}

std::string PjrtClient::compiler_identity() const {
  std::string identity = opened().platform_name() + "\n" + opened().platform_version() + "\n" +
                         plugin().build() + "\n" + host_processor() + "\n" + compiler_variables();
  identity += to_text(attributes()) + to_text(options().settings);
  for (const DeviceInfo& info : devices()) {
    identity += std::to_string(opened().global_id(info.id)) + " " + std::to_string(info.process) +
                " " + info.kind + "\n";
  }
  return identity;
}

}  // namespace millrace::devices::pjrt
