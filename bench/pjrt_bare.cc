#include "bench/pjrt_bare.h"

#include <dlfcn.h>

#include <cstring>
#include <utility>
#include <vector>

#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/pjrt/plugin_list.h"
#include "millrace/devices/pjrt/program_facts.h"

namespace millrace::bench {

namespace abi = devices::pjrt::abi;
namespace pjrt = devices::pjrt;

namespace {

pjrt::PluginEntry plugin_entry() {
  Result<pjrt::PluginEntry> entry = pjrt::parse_plugin(plugin_text());
  if (!entry) give_up("MILLRACE_BENCH_PLUGIN", entry.error().message());
  return *std::move(entry);
}

}  // namespace

std::string plugin_text() {
  const char* const given = std::getenv("MILLRACE_BENCH_PLUGIN");
  return std::string("bench=") +
         (given != nullptr ? given : MILLRACE_BENCH_SOURCE "/.plugins/Xla0115.so");
}

std::string plugin_path() {
  const std::string path = plugin_entry().path;
  return std::filesystem::exists(path) ? path : "";
}

std::map<std::string, devices::Attribute> plugin_settings() { return plugin_entry().settings; }

RuntimeOptions plugin_options() {
  RuntimeOptions options;
  options.plugins.push_back({.name = "bench",
                             .path = plugin_path(),
                             .settings = plugin_settings(),
                             .origin = pjrt::kGivenPlugin});
  options.device = "bench";
  return options;
}

BareClient::BareClient(const std::string& path,
                       const std::map<std::string, devices::Attribute>& settings) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) give_up("pjrt", ::dlerror());
  api_ = reinterpret_cast<const abi::Api* (*)()>(::dlsym(library, "GetPjrtApi"))();
  abi::ClientCreateArgs create;
  const pjrt::NamedValues options(settings);
  create.create_options = options.data();
  create.num_options = options.size();
  call(create);
  client_ = create.client;
}

BareClient::~BareClient() {
  abi::ClientDestroyArgs client;
  client.client = client_;
  call(client);
}

Bare::Bare(const std::string& path, const std::map<std::string, devices::Attribute>& settings)
    : BareClient(path, settings) {
  abi::ClientAddressableDevicesArgs devices;
  devices.client = client_;
  call(devices);
  device_ = devices.devices[0];
  const std::string options = pjrt::write_compile_options({}, {});
  std::string code = kIncrement;
  abi::Program program;
  program.struct_size = abi::kStructSize<abi::Program>;
  program.code = code.data();
  program.code_size = code.size();
  program.format = "mlir";
  program.format_size = 4;
  abi::ClientCompileArgs compile;
  compile.client = client_;
  compile.program = &program;
  compile.compile_options = options.data();
  compile.compile_options_size = options.size();
  call(compile);
  executable_ = compile.executable;
}

Bare::~Bare() {
  abi::LoadedExecutableDestroyArgs executable;
  executable.executable = executable_;
  call(executable);
}

void Bare::await(abi::Event* event) const {
  abi::EventAwaitArgs wait;
  wait.event = event;
  call(wait);
  abi::EventDestroyArgs destroy;
  destroy.event = event;
  call(destroy);
}

void Bare::await_ready(abi::Buffer* buffer) const {
  abi::BufferReadyEventArgs ready;
  ready.buffer = buffer;
  call(ready);
  await(ready.event);
}

abi::Buffer* Bare::put(const void* data, std::int64_t elements,
                       devices::HostBufferSemantics semantics) const {
  abi::ClientBufferFromHostBufferArgs args;
  args.client = client_;
  args.data = data;
  args.type = abi::BufferType::kF32;
  args.dims = &elements;
  args.num_dims = 1;
  args.host_buffer_semantics = static_cast<int>(semantics);
  args.device = device_;
  call(args);
  await(args.done_with_host_buffer);
  return args.buffer;
}

void Bare::read(abi::Buffer* buffer, std::span<float> to, std::size_t looked_at) const {
  abi::BufferIsOnCpuArgs place;
  place.buffer = buffer;
  call(place);
  if (!place.is_on_cpu) {
    abi::BufferToHostBufferArgs copy;
    copy.src = buffer;
    copy.dst = to.data();
    copy.dst_size = to.size_bytes();
    call(copy);
    return await(copy.event);
  }
  await_ready(buffer);
  abi::BufferIncreaseExternalReferenceCountArgs begin;
  begin.buffer = buffer;
  call(begin);
  abi::BufferOpaqueDeviceMemoryDataPointerArgs where;
  where.buffer = buffer;
  call(where);
  std::memcpy(to.data(), where.device_memory_ptr, looked_at * sizeof(float));
  abi::BufferDecreaseExternalReferenceCountArgs end;
  end.buffer = buffer;
  call(end);
}

void Bare::destroy(abi::Buffer* buffer) const {
  abi::BufferDestroyArgs args;
  args.buffer = buffer;
  call(args);
}

abi::Buffer* Bare::execute(abi::Buffer* input, abi::Event** done) const {
  abi::ExecuteOptions options;
  options.struct_size = abi::kStructSize<abi::ExecuteOptions>;
  abi::Buffer* const* const inputs[] = {&input};
  abi::Buffer* output = nullptr;
  abi::Buffer** const outputs[] = {&output};
  abi::LoadedExecutableExecuteArgs args;
  args.executable = executable_;
  args.options = &options;
  args.argument_lists = inputs;
  args.num_devices = 1;
  args.num_args = 1;
  args.output_lists = outputs;
  args.device_complete_events = done;
  args.execute_device = device_;
  call(args);
  return output;
}

void Bare::dispatch(abi::Buffer* input, int count) const {
  for (int i = 0; i < count; ++i) {
    abi::Event* done = nullptr;
    abi::Buffer* const y = execute(input, &done);
    await(done);
    destroy(y);
  }
}

void Bare::chain(abi::Buffer* input, int count) const {
  abi::Buffer* y = input;
  for (int i = 0; i < count; ++i) {
    abi::Buffer* const next = execute(y, nullptr);
    if (y != input) destroy(y);
    y = next;
  }
  await_ready(y);
  if (y != input) destroy(y);
}

}  // namespace millrace::bench
