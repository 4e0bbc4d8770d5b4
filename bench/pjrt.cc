// pjrt.dispatch: x + 1 of four floats, executed and awaited, through our client in a tight loop, in
// microseconds; the peer is a bare loop of C calls over the same plugin and the same program.
// pjrt.chain: a thousand of them, each on the output of the one before, awaited at the end, per
// step. pjrt.h2d_*, pjrt.d2h_*: a put, and a fetch, of 4 B and of 64 MiB, each awaited.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/figure.h"
#include "millrace/core/blocking.h"
#include "millrace/core/make_executor.h"
#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/pjrt/program_facts.h"

namespace millrace::bench {
namespace {

using namespace devices;  // NOLINT(google-build-using-namespace)
namespace abi = pjrt::abi;

constexpr const char* kIncrement = R"(
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
})";
constexpr int kCalls = 5000;
constexpr int kChain = 1000;
constexpr int kSmallCopies = 2000;
constexpr int kLargeCopies = 5;
constexpr std::int64_t kLargeElements = std::int64_t{16} << 20;  // f32: 64 MiB

std::string plugin_path() {
  const char* const given = std::getenv("MILLRACE_BENCH_PLUGIN");
  const std::string path =
      given != nullptr ? given : std::string(MILLRACE_BENCH_SOURCE) + "/.plugins/Xla0115.so";
  return std::filesystem::exists(path) ? path : "";
}

// The calls as a program in C would make them, without a layer of any kind.
class Bare {
 public:
  explicit Bare(const std::string& path) {
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) give_up("pjrt", ::dlerror());
    api_ = reinterpret_cast<const abi::Api* (*)()>(::dlsym(library, "GetPjrtApi"))();
    abi::ClientCreateArgs create;
    call(create);
    client_ = create.client;
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

  template <class A>
  void call(A& args) const {
    args.struct_size = abi::Call<A>::kSize;
    const auto slot = static_cast<std::size_t>(abi::Call<A>::kSlot);
    if (reinterpret_cast<abi::Function<A>>(api_->functions[slot])(&args) != nullptr) {
      give_up("pjrt", std::string(abi::to_string(abi::Call<A>::kSlot)) + " failed");
    }
  }
  void await(abi::Event* event) const {
    struct {
      std::size_t struct_size = 24;
      void* extension_start = nullptr;
      abi::Event* event = nullptr;
    } args;
    args.event = event;
    const auto slot = static_cast<std::size_t>(abi::Slot::kEvent_Await);
    if (reinterpret_cast<abi::Function<decltype(args)>>(api_->functions[slot])(&args) != nullptr) {
      give_up("pjrt", "an event has an error");
    }
    abi::EventDestroyArgs destroy;
    destroy.event = event;
    call(destroy);
  }
  abi::Buffer* put(const void* data, std::int64_t elements) const {
    abi::ClientBufferFromHostBufferArgs args;
    args.client = client_;
    args.data = data;
    args.type = abi::BufferType::kF32;
    args.dims = &elements;
    args.num_dims = 1;
    args.host_buffer_semantics = 1;
    args.device = device_;
    call(args);
    await(args.done_with_host_buffer);
    return args.buffer;
  }
  void fetch(abi::Buffer* buffer, void* to, std::size_t bytes) const {
    abi::BufferToHostBufferArgs args;
    args.src = buffer;
    args.dst = to;
    args.dst_size = bytes;
    call(args);
    await(args.event);
  }
  void destroy(abi::Buffer* buffer) const {
    abi::BufferDestroyArgs args;
    args.buffer = buffer;
    call(args);
  }
  // done: nullptr where nobody waits for it.
  abi::Buffer* execute(abi::Buffer* input, abi::Event** done) const {
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

 private:
  const abi::Api* api_;
  abi::Client* client_ = nullptr;
  abi::Device* device_ = nullptr;
  abi::LoadedExecutable* executable_ = nullptr;
};

// The same through the device interface, on the calling thread as on a driver thread.
class Ours {
 public:
  explicit Ours(const std::string& path) {
    auto plugin = pjrt::Plugin::load(path);
    if (!plugin) give_up("pjrt", plugin.error().to_string());
    auto client = pjrt::PjrtClient::create(**plugin, {.completions = threads_.get()});
    if (!client) give_up("pjrt", client.error().to_string());
    client_ = *std::move(client);
    executable_ = client_->compile(Program::from_text(kIncrement, "increment"), {}).value();
  }
  ~Ours() {
    executable_ = {};
    static_cast<void>(wait_blocking(client_->close()));
    client_.reset();
    static_cast<void>(wait_blocking(threads_->close()));
  }

  Buffer put(const void* data, std::int64_t elements) const {
    PutResult put =
        client_
            ->put({.data = data, .shape = Shape(DType::kF32, {elements})},
                  HostBufferSemantics::kImmutableUntilTransferCompletes, DeviceId{0}, -1)
            .value();
    static_cast<void>(wait_blocking(put.source_released));
    return std::move(put.buffer);
  }
  static void fetch(const Buffer& buffer, std::span<std::byte> to) {
    static_cast<void>(wait_blocking(buffer.body()->copy_to_host(to, nullptr)));
  }
  LaunchResult execute(const Buffer& input) const {
    const std::span<const Buffer> inputs[] = {{&input, 1}};
    const DeviceId devices[] = {DeviceId{0}};
    LaunchResult result;
    if (!executable_.body()->launch({.devices = devices, .arguments = inputs}, {&result, 1})) {
      give_up("pjrt", "a launch failed");
    }
    return result;
  }

 private:
  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 1, "events");
  std::unique_ptr<pjrt::PjrtClient> client_;
  Executable executable_;
};

double us_per(int count, const std::function<void()>& work) {
  return 1e6 / count * seconds_of(work);
}

void measure_copies(Session& session, const Ours& ours, const Bare& bare, const char* size,
                    std::int64_t elements, int count) {
  std::vector<float> from(static_cast<std::size_t>(elements), 1.0F);
  std::vector<float> to(from.size());
  const auto bytes = std::as_writable_bytes(std::span(to));
  session.measure(
      {.name = std::string("pjrt.h2d_") + size,
       .unit = "us",
       .peer = "bare C calls",
       .goal = Goal::kAtMost,
       .limit = 1.1},
      [&] {
        return us_per(count, [&] {
          for (int i = 0; i < count; ++i) {
            const Buffer there = ours.put(from.data(), elements);
            static_cast<void>(wait_blocking(there.ready()));
          }
        });
      },
      [&] {
        return us_per(count, [&] {
          for (int i = 0; i < count; ++i) {
            abi::Buffer* const there = bare.put(from.data(), elements);
            abi::BufferReadyEventArgs ready;
            ready.buffer = there;
            bare.call(ready);
            bare.await(ready.event);
            bare.destroy(there);
          }
        });
      });
  const Buffer mine = ours.put(from.data(), elements);
  abi::Buffer* const theirs = bare.put(from.data(), elements);
  session.measure(
      {.name = std::string("pjrt.d2h_") + size,
       .unit = "us",
       .peer = "bare C calls",
       .goal = Goal::kAtMost,
       .limit = 1.1},
      [&] {
        return us_per(count, [&] {
          for (int i = 0; i < count; ++i) Ours::fetch(mine, bytes);
        });
      },
      [&] {
        return us_per(count, [&] {
          for (int i = 0; i < count; ++i) bare.fetch(theirs, to.data(), bytes.size());
        });
      });
  bare.destroy(theirs);
}

void measure(Session& session) {
  const std::string path = plugin_path();
  if (path.empty()) {
    for (const char* name : {"pjrt.dispatch", "pjrt.chain", "pjrt.h2d_4B", "pjrt.d2h_4B",
                             "pjrt.h2d_64MiB", "pjrt.d2h_64MiB"}) {
      session.skip(name, "no plugin here: tests/fetch_plugins gets it");
    }
    return;
  }
  const Ours ours(path);
  const Bare bare(path);
  const std::array<float, 4> values = {1, 2, 3, 4};
  const Buffer x = ours.put(values.data(), 4);
  abi::Buffer* const bare_x = bare.put(values.data(), 4);
  session.measure(
      {.name = "pjrt.dispatch",
       .unit = "us",
       .peer = "bare C calls",
       .goal = Goal::kAtMost,
       .limit = 1.15},
      [&] {
        return us_per(kCalls, [&] {
          for (int i = 0; i < kCalls; ++i) {
            const LaunchResult result = ours.execute(x);
            static_cast<void>(wait_blocking(result.done));
          }
        });
      },
      [&] {
        return us_per(kCalls, [&] {
          for (int i = 0; i < kCalls; ++i) {
            abi::Event* done = nullptr;
            abi::Buffer* const y = bare.execute(bare_x, &done);
            bare.await(done);
            bare.destroy(y);
          }
        });
      });
  session.measure(
      {.name = "pjrt.chain",
       .unit = "us",
       .peer = "bare C calls",
       .goal = Goal::kAtMost,
       .limit = 1.1},
      [&] {
        return us_per(kChain, [&] {
          Buffer y = x;
          for (int i = 0; i < kChain; ++i) {
            LaunchResult result = ours.execute(y);
            result.done.ignore();
            y = result.outputs[0];
          }
          static_cast<void>(wait_blocking(y.ready()));
        });
      },
      [&] {
        return us_per(kChain, [&] {
          abi::Buffer* y = bare_x;
          for (int i = 0; i < kChain; ++i) {
            abi::Buffer* const next = bare.execute(y, nullptr);
            if (y != bare_x) bare.destroy(y);
            y = next;
          }
          abi::BufferReadyEventArgs ready;
          ready.buffer = y;
          bare.call(ready);
          bare.await(ready.event);
          bare.destroy(y);
        });
      });
  measure_copies(session, ours, bare, "4B", 1, kSmallCopies);
  measure_copies(session, ours, bare, "64MiB", kLargeElements, kLargeCopies);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
