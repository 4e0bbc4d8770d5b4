// BatchRig: a Batcher over simulated devices, with models that scale rows of three floats: y = x *
// factor. The factor is a constant of the model, so that versions can be told apart.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/transfer/batcher.h"
#include "tests/support/sim_devices.h"

namespace millrace::transfer {

using devices::DType;
using devices::HostView;
using devices::Shape;
using devices::sim::SimCall;
using devices::sim::SimOptions;
using devices::sim::SimProgram;
using millrace::testing::SimDevices;
using millrace::testing::Simulation;
using std::chrono::milliseconds;

inline SimProgram scaling(const std::string& name, std::int64_t rows, Duration duration) {
  const Shape shape(DType::kF32, {rows, 3});
  SimProgram program{.name = name,
                     .inputs = {Shape(DType::kF32, {1}), shape},
                     .outputs = {shape},
                     .duration = duration};
  program.compute = [](std::span<const SimCall> calls) -> Status {
    for (const SimCall& call : calls) {
      float factor = 0;
      std::memcpy(&factor, call.inputs[0].data(), 4);
      for (std::size_t i = 0; i < call.inputs[1].size(); i += 4) {
        float x = 0;
        std::memcpy(&x, call.inputs[1].data() + i, 4);
        x *= factor;
        std::memcpy(call.outputs[0].data() + i, &x, 4);
      }
    }
    return {};
  };
  return program;
}

// Rows (value, value, value), (value + 1, ...), ...
inline RowInput rows_from(float value, std::int64_t rows = 1, std::string name = "x") {
  auto values = std::make_shared<std::vector<float>>();
  for (std::int64_t r = 0; r < rows; ++r)
    for (int i = 0; i < 3; ++i) values->push_back(value + static_cast<float>(r));
  HostView view;
  view.data = values->data();
  view.shape = Shape(DType::kF32, {rows, 3});
  view.owner = std::move(values);
  return {.name = std::move(name), .view = std::move(view)};
}

inline std::vector<float> first_column(const RowOutputs& outputs) {
  std::vector<float> column;
  const std::span<const float> all = outputs.at(0).array.as<float>();
  for (std::size_t i = 0; i < all.size(); i += 3) column.push_back(all[i]);
  return column;
}

class BatchRig {
 public:
  explicit BatchRig(Simulation& sim, int count = 1, SimOptions options = {})
      : sim_(sim), devices([&] {
          options.devices = count;
          return std::make_unique<SimDevices>(sim, options);
        }()) {}
  ~BatchRig() {
    if (!batcher) return;
    static_cast<void>(sim_.run(batcher->close()));
    batcher.reset();
    sim_.run_until_idle();
  }

  // Sizes 1, 4 and 16, of 1 ms and a tenth of a millisecond per row.
  std::shared_ptr<const BatchModel> model(const std::string& name, float factor = 2,
                                          std::vector<std::int64_t> sizes = {1, 4, 16}) {
    BatchModel::Parts parts{
        .name = name,
        .inputs = {{.name = "x", .row = Shape(DType::kF32, {3}), .position = 1}},
        .outputs = {{.name = "y", .row = Shape(DType::kF32, {3})}}};
    for (const std::int64_t rows : sizes) {
      parts.programs.push_back({.executable = devices->program(scaling(
                                    name + std::to_string(rows) + "v" + std::to_string(versions_),
                                    rows, milliseconds(1) + rows * std::chrono::microseconds(100))),
                                .rows = rows});
    }
    ++versions_;
    for (std::size_t d = 0; d < devices->all().size(); ++d)
      parts.constants.push_back({{.position = 0, .buffer = devices->put(d, {factor})}});
    return BatchModel::create(std::move(parts)).value();
  }
  void start(BatcherOptions options = {}) {
    options.devices.assign(devices->all().begin(), devices->all().end());
    batcher = Batcher::create(sim_.actors(), std::move(options)).value();
  }
  Future<RowOutputs> run(float value, std::int64_t rows = 1, const RequestOptions& options = {},
                         const std::string& model = "m") {
    return batcher->run(model, {rows_from(value, rows)}, options);
  }

 private:
  Simulation& sim_;
  int versions_ = 0;

 public:
  std::unique_ptr<SimDevices> devices;
  std::optional<Batcher> batcher;
};

}  // namespace millrace::transfer
