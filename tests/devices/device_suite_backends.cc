// The backends that take part in the device suite: the CPU device, the simulated one, our plugin,
// and every one that tests/fetch_plugins has fetched.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/sim/sim_client.h"
#include "tests/devices/device_suite.h"
#include "tests/support/plugins.h"

namespace millrace::testing {

using devices::Client;

namespace {

std::string main_function(const std::string& arguments, const std::string& results,
                          const std::string& body) {
  return "func.func public @main(" + arguments + ") -> " + results + " {\n" + body + "}\n";
}

std::string text_of(const std::string& name) {
  const std::string v = "tensor<4xf32>";
  if (name == "add") {
    return main_function("%a: " + v + ", %b: " + v, v, R"(
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
)");
  }
  if (name == "increment") {
    return main_function("%a: " + v + " {tf.aliasing_output = 0 : i32}", v, R"(
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %1 = stablehlo.add %a, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
)");
  }
  if (name == "split") {
    return main_function("%a: " + v, "(" + v + ", " + v + ")", R"(
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  %1 = stablehlo.multiply %a, %a : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
)");
  }
  if (name == "long") {
    return main_function("%a: " + v, v, R"(
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<30000> : tensor<i32>
  %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %more = stablehlo.add %x, %ones : tensor<4xf32>
    stablehlo.return %next, %more : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
)");
  }
  if (name == "sharded_sum") {
    return "sdy.mesh @mesh = <[\"x\"=2]>\n" +
           main_function("%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}",
                         "(" + v + " {sdy.sharding = #sdy.sharding<@mesh, [{}]>})", R"(
  %halves = stablehlo.reshape %a : (tensor<8xf32>) -> tensor<2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%halves init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
)");
  }
  return main_function("%a: " + v, v, R"(
  %0 = "stablehlo.all_reduce"(%a) <{
    channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
)");
}

}  // namespace

SuiteProgram suite_program(const std::string& name) {
  const int replicas = name == "all_reduce" ? 2 : 1;
  const int partitions = name == "sharded_sum" ? 2 : 1;
  return {.name = name,
          .text = "module @" + name +
                  " attributes {mhlo.num_partitions = " + std::to_string(partitions) +
                  " : i32, mhlo.num_replicas = " + std::to_string(replicas) + " : i32} {\n" +
                  text_of(name) + "}\n",
          .replicas = replicas,
          .partitions = partitions};
}

Result<Executable> SuiteClient::compile(const SuiteProgram& program) {
  devices::CompileOptions options{.replicas = program.replicas, .partitions = program.partitions};
  if (program.replicas * program.partitions == 2)
    options.devices = {devices::DeviceId{0}, devices::DeviceId{1}};
  return client().compile(devices::Program::from_text(program.text, program.name), options);
}

void DeviceSuite::SetUp() {
  backend_ = GetParam().make(2);
  devices_ =
      devices::make_devices(backend_->client(), {.environment = {.clock = &steady_clock(),
                                                                 .timers = &timers_,
                                                                 .compute = threads_.get(),
                                                                 .blocking = threads_.get()}});
  ASSERT_EQ(devices_.size(), 2u);
}

void DeviceSuite::TearDown() {
  for (const Device& device : devices_) EXPECT_TRUE(wait_blocking(device.close()).has_value());
  EXPECT_TRUE(wait_blocking(backend_->client().close()).has_value());
  devices_.clear();
  EXPECT_TRUE(wait_blocking(threads_->close()).has_value());
  backend_.reset();
}

Buffer DeviceSuite::put(const Vector& values, std::size_t device) {
  return wait_blocking(devices_[device].put(view(values))).value();
}

Vector DeviceSuite::fetch(const Argument& buffer, std::size_t device) {
  const Result<HostArray> array = wait_blocking(devices_[device].fetch(buffer));
  Vector values{};
  EXPECT_TRUE(array.has_value()) << (array ? "" : array.error().to_string());
  if (array) std::ranges::copy(array->as<float>(), values.begin());
  return values;
}

Future<Buffer> DeviceSuite::first(const Future<Buffers>& outputs) {
  return outputs.then(inline_executor(), [](const Result<Buffers>& out) -> Result<Buffer> {
    if (!out) return std::unexpected(out.error());
    return (*out)[0];
  });
}

namespace {

class CpuSuiteClient final : public SuiteClient {
 public:
  explicit CpuSuiteClient(int devices) {
    devices::cpu::CpuClientOptions options{.compile = &devices::cpu::compile};
    for (int i = 0; i < devices; ++i) {
      threads_.push_back(make_executor(ExecutorBackend::kThreads, 2, "suite"));
      options.threads.push_back(
          {.executor = threads_.back().get(), .parallel = &threads_.back()->parallel()});
    }
    client_.emplace(std::move(options));
  }
  Client& client() override { return *client_; }

 private:
  std::vector<std::unique_ptr<PoolExecutor>> threads_;
  std::optional<devices::cpu::CpuClient> client_;
};

// A plugin: ours, or one that tests/fetch_plugins has fetched. count_option: how it calls the
// number of its devices.
class PjrtSuiteClient final : public SuiteClient {
 public:
  PjrtSuiteClient(const std::string& path, int devices, const std::string& count_option) {
    const devices::pjrt::Plugin* plugin = devices::pjrt::Plugin::load(path).value();
    client_ = devices::pjrt::PjrtClient::create(
                  *plugin, {.completions = completions_.get(),
                            .driver = driver_.get(),
                            .settings = {{count_option, std::int64_t{devices}}}})
                  .value();
  }
  ~PjrtSuiteClient() override {
    client_.reset();
    static_cast<void>(wait_blocking(driver_->close()));
    static_cast<void>(wait_blocking(completions_->close()));
  }
  Client& client() override { return *client_; }

 private:
  std::unique_ptr<PoolExecutor> completions_ =
      make_executor(ExecutorBackend::kThreads, 1, "events");
  std::unique_ptr<PoolExecutor> driver_ = make_executor(ExecutorBackend::kThreads, 1, "driver");
  std::unique_ptr<devices::pjrt::PjrtClient> client_;
};

// Programs take no time: time stands, since the test never moves the clock.
class SimSuiteClient final : public SuiteClient {
 public:
  explicit SimSuiteClient(int devices) : client_({.timers = &timers_, .devices = devices}) {
    add("add", 2, {}, 1, [](float a, float b, int) { return a + b; });
    add("increment", 1, {0}, 1, [](float a, float, int) { return a + 1; });
    add("split", 1, {}, 2, [](float a, float, int output) { return output == 0 ? a + a : a * a; });
    add("long", 1, {}, 1, [](float a, float, int) { return a + kLongSum; });
    for (const char* name : {"all_reduce", "sharded_sum"}) {
      client_.add_program({.name = name,
                           .inputs = {kVector},
                           .outputs = {kVector},
                           .devices = 2,
                           .compute = sum_of_all});
    }
  }
  Client& client() override { return client_; }
  Result<Executable> compile(const SuiteProgram& program) override {
    return client_.load("sim:" + program.name);
  }

 private:
  static Status sum_of_all(std::span<const devices::sim::SimCall> calls) {
    for (std::size_t e = 0; e < 4; ++e) {
      float sum = 0;
      for (const devices::sim::SimCall& call : calls) {
        float value = 0;
        std::memcpy(&value, call.inputs[0].data() + e * 4, 4);
        sum += value;
      }
      for (const devices::sim::SimCall& call : calls)
        std::memcpy(call.outputs[0].data() + e * 4, &sum, 4);
    }
    return {};
  }
  void add(std::string name, std::size_t inputs, std::vector<int> donated, std::size_t outputs,
           float (*f)(float, float, int)) {
    devices::sim::SimProgram program{.name = std::move(name),
                                     .inputs = std::vector(inputs, kVector),
                                     .outputs = std::vector(outputs, kVector),
                                     .donated = std::move(donated)};
    program.compute = [f](std::span<const devices::sim::SimCall> calls) -> Status {
      for (std::size_t o = 0; o < calls[0].outputs.size(); ++o) {
        for (std::size_t e = 0; e < 4; ++e) {
          float in[2] = {};
          for (std::size_t i = 0; i < calls[0].inputs.size(); ++i) {
            std::memcpy(&in[i], calls[0].inputs[i].data() + e * 4, 4);
          }
          const float out = f(in[0], in[1], static_cast<int>(o));
          std::memcpy(calls[0].outputs[o].data() + e * 4, &out, 4);
        }
      }
      return {};
    };
    client_.add_program(std::move(program));
  }

  ManualClock clock_;
  TimerQueue timers_{clock_};
  devices::sim::SimClient client_;
};

std::string backend_name(const ::testing::TestParamInfo<SuiteBackend>& info) {
  return info.param.name;
}

std::vector<SuiteBackend> backends() {
  std::vector<SuiteBackend> list = {
      {.name = "Cpu", .make = [](int n) { return std::make_unique<CpuSuiteClient>(n); }},
      {.name = "Sim",
       .make = [](int n) { return std::make_unique<SimSuiteClient>(n); },
       .compiles_text = false},
      {.name = "CpuPlugin",  // the first again, through PJRT
       .make = [](int n) {
         return std::make_unique<PjrtSuiteClient>(build_folder() + "/lib/libmillrace_pjrt.so", n,
                                                  "num_devices");
       }}};
  for (const auto& [name, path] : plugins_at_hand()) {
    list.push_back({.name = name,
                    .make =
                        [path](int n) {
                          return std::make_unique<PjrtSuiteClient>(path, n, "cpu_device_count");
                        },
                    .refusal = ErrorCode::kUnknown});  // XLA's; a plugin's code is kept
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Backends, DeviceSuite, ::testing::ValuesIn(backends()), backend_name);

}  // namespace
}  // namespace millrace::testing
