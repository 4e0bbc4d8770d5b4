#include "tests/support/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/philox.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/stablehlo/ir/float_format.h"
#include "tests/support/plugins.h"

namespace millrace::testing {

using devices::Buffer;
using devices::DeviceId;
using devices::DType;
using devices::HostArray;
using devices::Shape;

namespace {

// By the program's text.
using Executables = std::map<std::string, devices::Executable, std::less<>>;

Result<devices::Executable> compile(devices::Client& client, const devices::Program& program,
                                    Executables& compiled) {
  if (const auto found = compiled.find(program.code()); found != compiled.end()) {
    return found->second;
  }
  MILLRACE_TRY(devices::Executable executable, client.compile(program, {}));
  return compiled.emplace(program.code(), std::move(executable)).first->second;
}

Result<std::vector<HostArray>> run_on(devices::Client& client, const devices::Program& program,
                                      Executables& compiled, std::span<const HostArray> inputs) {
  MILLRACE_TRY(const devices::Executable executable, compile(client, program, compiled));
  std::vector<Buffer> buffers;
  for (const HostArray& input : inputs) {
    MILLRACE_TRY(
        devices::PutResult put,
        client.put({.data = input.bytes().data(), .shape = input.shape()},
                   devices::HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1));
    buffers.push_back(std::move(put.buffer));
  }
  const std::span<const Buffer> arguments[] = {buffers};
  const DeviceId device[] = {DeviceId{0}};
  devices::LaunchResult launched;
  MILLRACE_TRY_STATUS(
      executable.body()->launch({.devices = device, .arguments = arguments}, {&launched, 1}));
  std::vector<HostArray> results;
  for (const Buffer& output : launched.outputs) {
    HostArray array = HostArray::make(output.shape());
    MILLRACE_TRY_STATUS(
        wait_blocking(output.body()->copy_to_host(array.mutable_bytes(), array.owner())));
    results.push_back(std::move(array));
  }
  MILLRACE_TRY_STATUS(wait_blocking(launched.done));
  return results;
}

template <class T>
T element(std::span<const std::byte> bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

// Elements of floating types as doubles, complex ones as two; nothing for other types.
std::optional<std::vector<double>> as_doubles(const HostArray& array) {
  using At = double (*)(std::span<const std::byte>, std::size_t);
  At at = nullptr;
  std::size_t width = devices::byte_width(array.shape().dtype());
  switch (array.shape().dtype()) {
    case DType::kC64:
    case DType::kF32:
      at = [](auto bytes, std::size_t i) { return static_cast<double>(element<float>(bytes, i)); };
      width = 4;
      break;
    case DType::kC128:
    case DType::kF64:
      at = [](auto bytes, std::size_t i) { return element<double>(bytes, i); };
      width = 8;
      break;
    case DType::kF16:
      at = [](auto bytes, std::size_t i) {
        return devices::stablehlo::ir::decode_float(DType::kF16, element<std::uint16_t>(bytes, i));
      };
      break;
    case DType::kBF16:
      at = [](auto bytes, std::size_t i) {
        return devices::stablehlo::ir::decode_float(DType::kBF16, element<std::uint16_t>(bytes, i));
      };
      break;
    default:
      return std::nullopt;
  }
  std::vector<double> values;
  for (std::size_t i = 0; i * width < array.bytes().size(); ++i)
    values.push_back(at(array.bytes(), i));
  return values;
}

double largest(std::span<const double> values) {
  double most = 1;
  for (const double v : values) {
    if (std::isfinite(v)) most = std::max(most, std::fabs(v));
  }
  return most;
}

bool close(double ours, double theirs, const Tolerance& tolerance) {
  if (ours == theirs || (std::isnan(ours) && std::isnan(theirs))) return true;
  return std::fabs(ours - theirs) <= tolerance.absolute + tolerance.relative * std::fabs(theirs);
}

std::optional<std::string> first_difference(const HostArray& ours, const HostArray& theirs,
                                            std::span<const HostArray> or_else,
                                            Tolerance tolerance) {
  const auto a = as_doubles(ours), b = as_doubles(theirs);
  if (a && b) {
    if (tolerance.scaled) tolerance.absolute *= largest(*b);
    std::vector<std::vector<double>> others;
    for (const HostArray& other : or_else) others.push_back(as_doubles(other).value());
    for (std::size_t i = 0; i < a->size(); ++i) {
      if (close((*a)[i], (*b)[i], tolerance)) continue;
      if (std::ranges::any_of(
              others, [&](const auto& other) { return close(other[i], (*b)[i], tolerance); }))
        continue;
      return "element " + std::to_string(i) + ": " + std::to_string((*a)[i]) + ", not " +
             std::to_string((*b)[i]);
    }
    return std::nullopt;
  }
  const std::size_t width = devices::byte_width(ours.shape().dtype());
  for (std::size_t i = 0; i * width < ours.bytes().size(); ++i) {
    const std::span mine = ours.bytes().subspan(i * width, width);
    const std::span other = theirs.bytes().subspan(i * width, width);
    if (std::ranges::equal(mine, other)) continue;
    if (std::ranges::any_of(or_else, [&](const HostArray& array) {
          return std::ranges::equal(array.bytes().subspan(i * width, width), other);
        }))
      continue;
    std::int64_t values[2] = {};
    std::memcpy(&values[0], mine.data(), std::min<std::size_t>(width, 8));
    std::memcpy(&values[1], other.data(), std::min<std::size_t>(width, 8));
    return "element " + std::to_string(i) + " has other bytes: " + std::to_string(values[0]) +
           ", not " + std::to_string(values[1]);
  }
  return std::nullopt;
}

}  // namespace

struct Oracle::State {
  std::unique_ptr<PoolExecutor> threads = make_executor(ExecutorBackend::kThreads, 2, "oracle");
  std::unique_ptr<devices::cpu::CpuClient> cpu;
  std::unique_ptr<devices::pjrt::PjrtClient> xla;
  std::unique_ptr<devices::pjrt::PjrtClient> xla_devices;  // several, once they are needed
  Executables on_cpu, on_xla;
};

std::unique_ptr<devices::pjrt::PjrtClient> open_xla(const std::string& path, Executor& threads,
                                                    int devices) {
  return devices::pjrt::PjrtClient::create(
             *devices::pjrt::Plugin::load(path).value(),
             {.completions = &threads,
              .settings = {{"cpu_device_count", static_cast<std::int64_t>(devices)}}})
      .value();
}

Oracle::Oracle() : state_(std::make_unique<State>()) {}

Oracle::~Oracle() {
  for (devices::Client* client : {static_cast<devices::Client*>(state_->cpu.get()),
                                  static_cast<devices::Client*>(state_->xla.get()),
                                  static_cast<devices::Client*>(state_->xla_devices.get())}) {
    if (client != nullptr) static_cast<void>(wait_blocking(client->close()));
  }
  state_->on_cpu.clear();
  state_->on_xla.clear();
  state_->cpu.reset();
  state_->xla.reset();
  state_->xla_devices.reset();
  static_cast<void>(wait_blocking(state_->threads->close()));
}

std::unique_ptr<Oracle> Oracle::open_if_there() {
  const auto plugins = plugins_at_hand();
  const auto found = plugins.find("Xla0115");
  if (found == plugins.end()) return nullptr;
  std::unique_ptr<Oracle> oracle(new Oracle);
  State& s = *oracle->state_;
  devices::cpu::CpuClientOptions options{.compile = &devices::cpu::compile};
  options.threads.push_back({.executor = s.threads.get(), .parallel = &s.threads->parallel()});
  s.cpu = std::make_unique<devices::cpu::CpuClient>(std::move(options));
  s.xla = open_xla(found->second, *s.threads, 1);
  return oracle;
}

Result<std::vector<HostArray>> Oracle::ours(const devices::Program& program,
                                            std::span<const HostArray> inputs) {
  return run_on(*state_->cpu, program, state_->on_cpu, inputs);
}

Result<std::vector<HostArray>> Oracle::theirs(const devices::Program& program,
                                              std::span<const HostArray> inputs) {
  return run_on(*state_->xla, program, state_->on_xla, inputs);
}

Result<Oracle::PerDevice> Oracle::theirs_on_devices(
    const devices::Program& program, int replicas, int partitions,
    std::span<const std::vector<HostArray>> inputs) {
  constexpr int kDevices = 4;
  if (state_->xla_devices == nullptr) {
    state_->xla_devices =
        open_xla(plugins_at_hand().find("Xla0115")->second, *state_->threads, kDevices);
  }
  devices::Client& client = *state_->xla_devices;
  devices::CompileOptions options{.replicas = replicas, .partitions = partitions};
  std::vector<DeviceId> ids;
  for (int d = 0; d < replicas * partitions; ++d) ids.push_back(DeviceId{d});
  options.devices = ListOf<DeviceId>(ids);
  MILLRACE_TRY(const devices::Executable executable, client.compile(program, options));
  std::vector<std::vector<Buffer>> buffers(ids.size());
  std::vector<std::span<const Buffer>> arguments;
  for (std::size_t d = 0; d < ids.size(); ++d) {
    for (const HostArray& input : inputs[d]) {
      MILLRACE_TRY(devices::PutResult put,
                   client.put({.data = input.bytes().data(), .shape = input.shape()},
                              devices::HostBufferSemantics::kImmutableOnlyDuringCall, ids[d], -1));
      buffers[d].push_back(std::move(put.buffer));
    }
    arguments.emplace_back(buffers[d]);
  }
  std::vector<devices::LaunchResult> launched(ids.size());
  MILLRACE_TRY_STATUS(
      executable.body()->launch({.devices = ids, .arguments = arguments}, launched));
  PerDevice results;
  for (const devices::LaunchResult& device : launched) {
    auto& arrays = results.emplace_back();
    for (const Buffer& output : device.outputs) {
      HostArray array = HostArray::make(output.shape());
      MILLRACE_TRY_STATUS(
          wait_blocking(output.body()->copy_to_host(array.mutable_bytes(), array.owner())));
      arrays.push_back(std::move(array));
    }
    MILLRACE_TRY_STATUS(wait_blocking(device.done));
  }
  return results;
}

Result<std::vector<Shape>> Oracle::input_shapes(const devices::Program& program) {
  MILLRACE_TRY(const devices::Executable executable,
               compile(*state_->cpu, program, state_->on_cpu));
  return std::vector<Shape>(executable.input_shapes().begin(), executable.input_shapes().end());
}

std::optional<std::string> Oracle::difference(const devices::Program& program,
                                              std::span<const HostArray> inputs,
                                              const Tolerance& tolerance) {
  const auto mine = ours(program, inputs);
  const auto other = theirs(program, inputs);
  if (!mine) return "ours: " + mine.error().message();
  if (!other) return "theirs: " + other.error().message();
  return testing::difference(*mine, *other, tolerance);
}

Comparison Oracle::compare_once(const devices::Program& program, std::span<const HostArray> inputs,
                                const Tolerance& tolerance) {
  Executables here, there;
  const auto mine = run_on(*state_->cpu, program, here, inputs);
  if (!mine) return {Verdict::kOursRefused, mine.error().to_string(), {}, {}};
  const auto other = run_on(*state_->xla, program, there, inputs);
  if (!other) return {Verdict::kTheirsRefused, other.error().to_string(), *mine, {}};
  if (const auto wrong = testing::difference(*mine, *other, tolerance))
    return {Verdict::kDifferent, *wrong, *mine, *other};
  return {.ours = *mine, .theirs = *other};
}

std::optional<std::string> difference(std::span<const HostArray> ours,
                                      std::span<const HostArray> theirs, const Tolerance& tolerance,
                                      std::span<const std::vector<HostArray>> or_else) {
  if (ours.size() != theirs.size()) {
    return std::to_string(ours.size()) + " results, not " + std::to_string(theirs.size());
  }
  for (std::size_t r = 0; r < ours.size(); ++r) {
    const std::string result = "result " + std::to_string(r) + ", ";
    if (!(ours[r].shape() == theirs[r].shape())) {
      return result + "a " + ours[r].shape().to_string() + ", not a " +
             theirs[r].shape().to_string();
    }
    std::vector<HostArray> others;
    for (const auto& other : or_else) others.push_back(other[r]);
    if (const auto wrong = first_difference(ours[r], theirs[r], others, tolerance))
      return result + *wrong;
  }
  return std::nullopt;
}

std::vector<HostArray> random_arrays(std::span<const Shape> shapes, std::uint64_t seed) {
  std::vector<HostArray> arrays;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    RandomStream random(seed, static_cast<std::uint32_t>(i), 0);
    HostArray array = HostArray::make(shapes[i]);
    const std::size_t width = devices::byte_width(shapes[i].dtype());
    for (std::size_t at = 0; at < array.bytes().size(); at += width) {
      std::byte* const to = array.mutable_bytes().data() + at;
      if (shapes[i].dtype() == DType::kF32) {
        const float value = random.next_float() - 0.5F;
        std::memcpy(to, &value, sizeof(value));
      } else if (shapes[i].dtype() == DType::kF64) {
        const double value = static_cast<double>(random.next_float()) - 0.5;
        std::memcpy(to, &value, sizeof(value));
      } else {
        *to = std::byte(random.next() % 8);  // of little-endian integers the lowest byte
      }
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace millrace::testing
