#include "bench/step_model.h"

#include <cmath>
#include <utility>

#include "bench/figure.h"
#include "millrace/core/async/blocking.h"

namespace millrace::bench {
namespace {

using devices::Argument;
using devices::Buffer;
using devices::Buffers;
using devices::DType;
using devices::Executable;
using devices::HostArray;
using devices::Shape;

template <class T>
T or_give_up(Result<T> result) {
  if (!result) give_up("a training step", result.error().to_string());
  return *std::move(result);
}

Runtime make_runtime(int threads) {
  RuntimeOptions options;
  options.devices = 1;
  options.threads = threads;
  return or_give_up(Runtime::create(options));
}

// Knuth's multiplicative hash (The Art of Computer Programming, volume 3, section 6.4).
std::uint32_t mixed(std::uint32_t i) { return i * 2654435761U; }

}  // namespace

float batch_float(std::uint32_t i) {
  return static_cast<float>(mixed(i) >> 8) / static_cast<float>(1 << 24);
}
std::int32_t batch_integer(std::uint32_t i) {
  return static_cast<std::int32_t>((mixed(i) >> 8) % 1000);
}

StepModel::StepModel(const std::string& folder, int threads)
    : folder_(folder), runtime_(make_runtime(threads)) {
  const Executable init = compile("init");
  step_ = compile("step");
  static const std::uint32_t seed = 1;
  const Buffers made =
      run(init, {runtime_.device(0).put({.data = &seed, .shape = Shape(DType::kU32, {})})});
  tensors_.assign(made.begin(), made.end());
  for (const Shape& shape : step_.input_shapes().subspan(tensors_.size())) {
    batch_.push_back(batch_array(shape));
  }
}

StepModel::~StepModel() { static_cast<void>(wait_blocking(runtime_.close())); }

Executable StepModel::compile(const std::string& program) const {
  devices::Program text =
      or_give_up(devices::Program::from_file(folder_ + "/" + program + ".mlir"));
  return or_give_up(wait_blocking(runtime_.compile(std::move(text))));
}

double StepModel::compile_ms() const {
  return 1e3 * seconds_of([this] { compile("step"); });
}

Buffers StepModel::run(const Executable& program, const std::vector<Argument>& arguments) const {
  const Buffers made = or_give_up(wait_blocking(runtime_.device(0).execute(program, arguments)));
  for (const Buffer& buffer : made) {
    if (const Status done = wait_blocking(buffer.ready()); !done) {
      give_up("a training step", done.error().to_string());
    }
  }
  return made;
}

Argument StepModel::batch_array(const devices::Shape& shape) {
  HostArray array = HostArray::make(shape);
  const auto n = static_cast<std::uint32_t>(shape.elements());
  const auto fill = [&]<class T>(T* to, T (*value)(std::uint32_t)) {
    for (std::uint32_t i = 0; i < n; ++i) to[i] = value(i);
  };
  void* const data = array.mutable_bytes().data();
  if (shape.dtype() == DType::kF32) {
    fill(static_cast<float*>(data), &batch_float);
  } else {
    fill(static_cast<std::int32_t*>(data), &batch_integer);
  }
  const devices::HostView view{
      .data = data, .shape = shape, .byte_strides = {}, .owner = array.owner()};
  return or_give_up(wait_blocking(runtime_.device(0).put(view)));
}

float StepModel::step() {
  std::vector<Argument> arguments(tensors_.begin(), tensors_.end());
  arguments.insert(arguments.end(), batch_.begin(), batch_.end());
  tensors_.clear();
  const Buffers made = run(step_, arguments);
  tensors_.assign(made.begin() + 1, made.end());
  const HostArray loss = or_give_up(wait_blocking(runtime_.device(0).fetch(made[0])));
  const float value = loss.as<float>()[0];
  if (!std::isfinite(value)) give_up("a training step", "its loss is no number");
  return value;
}

}  // namespace millrace::bench
