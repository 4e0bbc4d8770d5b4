#include "millrace/devices/cpu/compile/run_context.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/clock.h"

namespace millrace::devices::cpu {
namespace {

constexpr std::size_t kInputAlignment = 16;
}  // namespace

Result<std::unique_ptr<RunContext>> RunContext::create(const Plan& plan) {
  std::unique_ptr<RunContext> c(new RunContext(plan));
  MILLRACE_TRY(c->arena_,
               allocate_memory(plan.temporary_bytes(), "the temporaries of an execution"));
  const compiler::BufferTable& buffers = plan.buffers();
  c->addresses_.assign(static_cast<std::size_t>(buffers.size()), nullptr);
  for (int b = 0; b < buffers.size(); ++b) {
    const compiler::Buffer& root = buffers.root(b);
    std::byte*& address = c->addresses_[static_cast<std::size_t>(b)];
    if (root.home == compiler::Home::kArena)
      address = c->arena_.get() + root.offset + buffers.inside_root(b);
    else if (root.home == compiler::Home::kConstant)
      address = const_cast<std::byte*>(
                    plan.parts().constants[static_cast<std::size_t>(root.index)].get()) +
                buffers.inside_root(b);
  }
  for (const OneDnnKernel* kernel : plan.parts().kernels) {
    MILLRACE_TRY(std::unique_ptr<OneDnnState> state, kernel->make_state());
    c->states_.push_back(std::move(state));
  }
  c->aligned_.resize(plan.inputs().size());
  c->inputs_.resize(plan.inputs().size());
  return c;
}

Result<std::unique_ptr<CompiledRun>> Plan::make_run() const { return RunContext::create(*this); }

struct RunContext::Execution {
  Parallel& parallel;
  FunctionRef<void(int)> output_written;
  const std::stop_token& stop;
  const Timed* timed = nullptr;
  double inside_ms = 0;  // of the steps that the present one has run

  Status going_on() const {
    if (!stop.stop_requested()) return {};
    return fail(ErrorCode::kCancelled, "the execution was stopped");
  }

  Status run(const Step& step, const StepFrame& frame) {
    if (timed == nullptr) return step.run(frame);
    const double before = std::exchange(inside_ms, 0);
    const auto begin = steady_clock().now();
    MILLRACE_TRY_STATUS(step.run(frame));
    const std::chrono::duration<double, std::milli> took = steady_clock().now() - begin;
    (*timed)(step, took.count() - inside_ms);
    inside_ms = before + took.count();
    return {};
  }
};

Status RunContext::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                       Parallel& parallel, FunctionRef<void(int)> output_written,
                       const std::stop_token& stop, const Timed* timed) {
  Execution execution{parallel, output_written, stop, timed};
  MILLRACE_TRY_STATUS(bind(inputs, outputs));
  return run_steps(plan_.steps(), execution);
}

Status RunContext::bind(std::span<const void* const> inputs, std::span<void* const> outputs) {
  MILLRACE_CHECK(inputs.size() == plan_.inputs().size() && outputs.size() == plan_.outputs().size(),
                 "a run with the wrong number of arrays");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    MILLRACE_TRY(inputs_[i], aligned(i, inputs[i]));
  }
  const compiler::BufferTable& buffers = plan_.buffers();
  for (int b = 0; b < buffers.size(); ++b) {
    const compiler::Buffer& root = buffers.root(b);
    const auto index = static_cast<std::size_t>(root.index);
    std::byte*& address = addresses_[static_cast<std::size_t>(b)];
    if (root.home == compiler::Home::kInput)
      address = inputs_[index] + buffers.inside_root(b);
    else if (root.home == compiler::Home::kOutput)
      address = static_cast<std::byte*>(outputs[index]) + buffers.inside_root(b);
  }
  return {};
}

Result<std::byte*> RunContext::aligned(std::size_t input, const void* data) {
  if (reinterpret_cast<std::uintptr_t>(data) % kInputAlignment == 0) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(data));
  }
  const std::size_t bytes = plan_.inputs()[input].size_bytes();
  auto& copy = aligned_[input];
  if (copy == nullptr) {
    MILLRACE_TRY(copy, allocate_memory(bytes, "an aligned copy of an argument"));
  }
  std::memcpy(copy.get(), data, bytes);
  return copy.get();
}

Status RunContext::run_steps(const StepList& steps, Execution& execution) {
  const auto nested = [&](const StepList& inner) { return run_steps(inner, execution); };
  // The body of a loop may have no step.
  if (steps.empty()) MILLRACE_TRY_STATUS(execution.going_on());
  for (const Step& step : steps) {
    MILLRACE_TRY_STATUS(execution.going_on());
    const StepFrame frame{
        .buffers = addresses_.data(),
        .inputs = step.inputs,
        .outputs = step.outputs,
        .scratch = step.scratch < 0 ? nullptr : addresses_[static_cast<std::size_t>(step.scratch)],
        .parallel = execution.parallel,
        .state = step.state < 0 ? nullptr : states_[static_cast<std::size_t>(step.state)].get(),
        .nested = nested};
    MILLRACE_TRY_STATUS(execution.run(step, frame));
    for (int output : step.outputs_written) execution.output_written(output);
  }
  return {};
}

}  // namespace millrace::devices::cpu
