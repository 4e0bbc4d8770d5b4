#include "tests/tools/train_fixture.h"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "millrace/devices/device_actor.h"

namespace millrace::train::testing {
namespace {

using devices::DType;
using devices::Shape;
using devices::sim::SimCall;
using devices::sim::SimProgram;
using std::chrono::milliseconds;

constexpr float kRate = 0.1F;
constexpr float kMomentum = 0.9F;

std::string tensor(const char* name, const char* role, const std::string& shape, const char* dtype,
                   const char* rest = "") {
  return std::string(R"({"name":")") + name + R"(","role":")" + role + R"(","shape":)" + shape +
         R"(,"dtype":")" + dtype + "\"" + rest + "}";
}

std::string program(const std::string& name, const std::string& rows, const std::string& inputs,
                    const std::string& outputs) {
  return R"({"name":")" + name + R"(","kind":")" + name + R"(","rows":)" + rows + R"(,"file":")" +
         name + R"(.mlir","inputs":[)" + inputs + R"(],"outputs":[)" + outputs + "]}";
}

std::string manifest(std::int64_t rows) {
  const auto family = [](const char* role, const char* rest = "") {
    return tensor("weight", role, "[4]", "f32", rest) + "," +
           tensor("bias", role, "[]", "f32", rest);
  };
  const std::string params = family("param");
  const std::string momenta = family("momentum");
  const std::string state = tensor("count", "state", "[]", "f32");
  const std::string r = std::to_string(rows);
  const std::string batch = tensor("images", "images", "[" + r + ",2,2]", "ui8") + "," +
                            tensor("labels", "labels", "[" + r + "]", "ui8");
  const char* donated = R"(,"donated":true)";
  const char* mean = R"(,"combine":"mean")";
  return R"({"schema":1,"model":{"name":"line","classes":10,"image_shape":[2,2]},"programs":[)" +
         program("init", "null", tensor("seed", "seed", "[]", "ui32"),
                 params + "," + momenta + "," + state) +
         "," +
         program(
             "grad", r,
             params + "," + state + "," + batch + "," + tensor("words", "random", "[3]", "ui32"),
             tensor("loss", "loss", "[]", "f32", mean) + "," + family("grad", mean) + "," +
                 tensor("count", "state", "[]", "f32", mean)) +
         "," +
         program(
             "update", "null",
             family("param", donated) + "," + family("momentum", donated) + "," + family("grad"),
             params + "," + momenta) +
         "," +
         program("eval", r,
                 params + "," + state + "," + batch + "," + tensor("rows", "rows", "[]", "i32"),
                 tensor("correct", "correct", "[]", "i32") + "," +
                     tensor("loss_sum", "loss_sum", "[]", "f32")) +
         "]}";
}

struct Line {
  float weight[kPixels] = {};
  float bias = 0;
};

template <class T>
const T* in(const SimCall& call, std::size_t i) {
  return reinterpret_cast<const T*>(call.inputs[i].data());
}
template <class T>
T* out(const SimCall& call, std::size_t i) {
  return reinterpret_cast<T*>(call.outputs[i].data());
}

float predict(const Line& line, const std::uint8_t* pixels) {
  float sum = line.bias;
  for (int i = 0; i < kPixels; ++i) sum += line.weight[i] * static_cast<float>(pixels[i]) / 255.0F;
  return sum;
}

// Mean squared error of the rows; adds its gradient.
float loss_and_grad(const Line& line, std::int64_t rows, const std::uint8_t* pixels,
                    const std::uint8_t* labels, Line& grad) {
  float loss = 0;
  const float n = static_cast<float>(rows);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::uint8_t* row = pixels + r * kPixels;
    const float miss = predict(line, row) - static_cast<float>(labels[r]);
    loss += miss * miss / n;
    for (int i = 0; i < kPixels; ++i)
      grad.weight[i] += 2 * miss * static_cast<float>(row[i]) / 255.0F / n;
    grad.bias += 2 * miss / n;
  }
  return loss;
}

Line line_of(const SimCall& call, std::size_t first) {
  Line line;
  std::memcpy(line.weight, in<float>(call, first), sizeof(line.weight));
  line.bias = *in<float>(call, first + 1);
  return line;
}

Status compute_grad(std::int64_t rows, std::span<const SimCall> calls) {
  for (const SimCall& call : calls) {
    Line grad;
    *out<float>(call, 0) = loss_and_grad(line_of(call, 0), rows, in<std::uint8_t>(call, 3),
                                         in<std::uint8_t>(call, 4), grad);
    std::memcpy(out<float>(call, 1), grad.weight, sizeof(grad.weight));
    *out<float>(call, 2) = grad.bias;
    *out<float>(call, 3) = *in<float>(call, 2) + 1;
  }
  return {};
}

void step(const float* w, const float* m, const float* g, float* w_out, float* m_out, int n) {
  for (int i = 0; i < n; ++i) {
    const float momentum = kMomentum * m[i] + g[i];
    w_out[i] = w[i] - kRate * momentum;
    m_out[i] = momentum;
  }
}

Status compute_update(std::span<const SimCall> calls) {
  for (const SimCall& c : calls) {
    step(in<float>(c, 0), in<float>(c, 2), in<float>(c, 4), out<float>(c, 0), out<float>(c, 2),
         kPixels);
    step(in<float>(c, 1), in<float>(c, 3), in<float>(c, 5), out<float>(c, 1), out<float>(c, 3), 1);
  }
  return {};
}

Status compute_eval(std::span<const SimCall> calls) {
  for (const SimCall& call : calls) {
    const Line line = line_of(call, 0);
    for (std::int32_t r = 0; r < *in<std::int32_t>(call, 5); ++r) {
      const float label = static_cast<float>(in<std::uint8_t>(call, 4)[r]);
      const float miss = predict(line, in<std::uint8_t>(call, 3) + r * kPixels) - label;
      *out<std::int32_t>(call, 0) += std::fabs(miss) < 0.5F ? 1 : 0;
      *out<float>(call, 1) += miss * miss;
    }
  }
  return {};
}

// Rank 0's init: not zero, so that a missing broadcast shows.
Status compute_init(std::span<const SimCall> calls) {
  for (const SimCall& call : calls) {
    for (int i = 0; i < kPixels; ++i) out<float>(call, 0)[i] = 0.1F * static_cast<float>(i + 1);
    *out<float>(call, 1) = 0.5F;
  }
  return {};
}

}  // namespace

ModelFolder::ModelFolder(std::int64_t rows) {
  std::string name = (std::filesystem::temp_directory_path() / "millrace-model-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
  std::ofstream(path_ + "/manifest.json") << manifest(rows);
  for (const char* program : {"init", "grad", "update", "eval"}) {
    std::ofstream(path_ + "/" + program + ".mlir") << "sim:" << program;
  }
}

ModelFolder::~ModelFolder() { std::filesystem::remove_all(path_); }

SimProgram grad_program(std::int64_t rows, const ProgramTimes& times) {
  const Shape scalar(DType::kF32, {});
  const Shape weight(DType::kF32, {kPixels});
  return {.name = "grad",
          .inputs = {weight, scalar, scalar, Shape(DType::kU8, {rows, 2, 2}),
                     Shape(DType::kU8, {rows}), Shape(DType::kU32, {kRandomWords})},
          .outputs = {scalar, weight, scalar, scalar},
          .duration = times.grad,
          .written_at = {times.grad / 5, times.grad * 4 / 5, times.grad * 2 / 5, times.grad / 5},
          .compute = [rows](std::span<const SimCall> calls) { return compute_grad(rows, calls); }};
}

void add_programs(devices::sim::SimClient& client, std::int64_t rows, const ProgramTimes& times) {
  const Shape scalar(DType::kF32, {});
  const Shape weight(DType::kF32, {kPixels});
  const Shape images(DType::kU8, {rows, 2, 2});
  const Shape labels(DType::kU8, {rows});
  client.add_program({.name = "init",
                      .inputs = {Shape(DType::kU32, {})},
                      .outputs = {weight, scalar, weight, scalar, scalar},
                      .compute = compute_init});
  client.add_program(grad_program(rows, times));
  client.add_program({.name = "update",
                      .inputs = {weight, scalar, weight, scalar, weight, scalar},
                      .outputs = {weight, scalar, weight, scalar},
                      .donated = {0, 1, 2, 3},
                      .duration = times.update,
                      .compute = compute_update});
  client.add_program({.name = "eval",
                      .inputs = {weight, scalar, scalar, images, labels, Shape(DType::kI32, {})},
                      .outputs = {Shape(DType::kI32, {}), scalar},
                      .duration = times.eval,
                      .compute = compute_eval});
}

ClockSource::ClockSource(TimerQueue& timers, std::uint64_t items, Duration read, Duration decode)
    : timers_(timers),
      items_(items),
      read_(read),
      decode_(decode),
      fields_{{"images", Shape(DType::kU8, {2, 2})}, {"labels", Shape(DType::kU8, {})}} {}

std::uint8_t ClockSource::pixel(std::uint64_t item, std::int64_t i) {
  return static_cast<std::uint8_t>((item * 37 + static_cast<std::uint64_t>(i) * 101) % 251);
}
std::uint8_t ClockSource::label(std::uint64_t item) {
  return static_cast<std::uint8_t>(pixel(item, 0) / 64);
}

Future<void> ClockSource::read(const Ref<transfer::SourceBatch>& batch, std::stop_token stop) {
  for (std::size_t r = 0; r < batch->items.size(); ++r) {
    for (std::int64_t i = 0; i < kPixels; ++i) {
      batch->fields[0][r * kPixels + static_cast<std::size_t>(i)] =
          std::byte{pixel(batch->items[r], i)};
    }
    batch->fields[1][r] = std::byte{label(batch->items[r])};
  }
  if (++reads_ == nth_) {
    if (fault_ == Fault::kReadFails) return fail(ErrorCode::kDataLoss, "scripted: the read failed");
    if (fault_ == Fault::kReadThrows) throw std::runtime_error("scripted: the read threw");
    if (fault_ == Fault::kReadHangs) {
      hung_.emplace_back();
      return hung_.back().future();
    }
  }
  return read_ == Duration() ? make_ready()
                             : sleep_until(timers_.clock().now() + read_, timers_, stop);
}

Future<void> ClockSource::decode(const Ref<transfer::SourceBatch>& /*batch*/,
                                 std::stop_token stop) {
  if (++decodes_ == nth_) {
    if (fault_ == Fault::kDecodeFails)
      return fail(ErrorCode::kDataLoss, "scripted: the decoding failed");
    if (fault_ == Fault::kDecodeThrows) throw std::runtime_error("scripted: the decoding threw");
  }
  return decode_ == Duration() ? make_ready()
                               : sleep_until(timers_.clock().now() + decode_, timers_, stop);
}

SimulatedTraining::SimulatedTraining(millrace::testing::Simulation& sim, int devices,
                                     std::int64_t rows, const ProgramTimes& times, bool in_order,
                                     Duration transfer_latency)
    : sim_(sim),
      model_(rows),
      trace_(*sim.environment().clock),
      client_({.timers = &sim.timers(),
               .devices = devices,
               .transfer_latency = transfer_latency,
               .in_order = in_order,
               .trace = &trace_}),
      rows_(rows) {
  add_programs(client_, rows, times);
  devices::DeviceActorOptions options;
  options.environment = sim.environment();
  devices_ = devices::make_devices(client_, options);
  sim.on_finish("the simulated client", [this] { return client_.close(); });
  for (const auto& device : devices_) {
    sim.on_finish("a device", [device] { return device.close(); });
  }
}

TrainingParts SimulatedTraining::parts() {
  TrainingParts parts;
  parts.environment = sim_.environment();
  parts.system = &sim_.actors();
  parts.devices = devices_;
  parts.compile = [this](const devices::Program& program, const devices::CompileOptions& options) {
    return Future<devices::Executable>(client_.compile(program, options));
  };
  parts.trace = &trace_;
  return parts;
}

TrainingOptions SimulatedTraining::options(std::uint64_t items, std::uint64_t epochs) {
  if (source_ == nullptr)
    source_ = std::make_shared<ClockSource>(sim_.timers(), items, Duration(), Duration());
  TrainingOptions options;
  options.model = model_.path();
  options.train_data = source_;
  options.batch_size = rows_ * static_cast<std::int64_t>(devices_.size());
  options.epochs = epochs;
  options.shuffle = false;
  return options;
}

std::vector<double> plain_losses(std::uint64_t items, std::int64_t rows, int shards,
                                 std::uint64_t steps) {
  Line line{{0.1F, 0.2F, 0.3F, 0.4F}, 0.5F};
  Line momentum;
  std::vector<double> losses;
  const std::uint64_t batch = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(shards);
  const std::uint64_t per_epoch = items / batch;
  for (std::uint64_t s = 0; s < steps; ++s) {
    Line mean;
    double loss = 0;
    for (int shard = 0; shard < shards; ++shard) {
      std::vector<std::uint8_t> pixels;
      std::vector<std::uint8_t> labels;
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::uint64_t item =
            (s % per_epoch) * batch + static_cast<std::uint64_t>(shard * rows + r);
        for (std::int64_t i = 0; i < kPixels; ++i) pixels.push_back(ClockSource::pixel(item, i));
        labels.push_back(ClockSource::label(item));
      }
      Line grad;
      loss += static_cast<double>(loss_and_grad(line, rows, pixels.data(), labels.data(), grad));
      for (int i = 0; i < kPixels; ++i) mean.weight[i] += grad.weight[i];
      mean.bias += grad.bias;
    }
    const float scale = 1.0F / static_cast<float>(shards);
    for (float& w : mean.weight) w *= scale;
    mean.bias *= scale;
    step(line.weight, momentum.weight, mean.weight, line.weight, momentum.weight, kPixels);
    step(&line.bias, &momentum.bias, &mean.bias, &line.bias, &momentum.bias, 1);
    losses.push_back(loss / shards);
  }
  return losses;
}

}  // namespace millrace::train::testing
