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
  ProcessLaunch* launch = nullptr;
  const Timed* timed = nullptr;

  Status going_on() const {
    if (!stop.stop_requested()) return {};
    return fail(ErrorCode::kCancelled, "the execution was stopped");
  }
  void finish(const Step& step) const {
    for (int output : step.outputs_written) output_written(output);
  }
};

Result<RunState> RunContext::run(const RunCall& call) {
  MILLRACE_TRY_STATUS(begin(call.inputs, call.outputs));
  return resume(call);
}

Result<RunState> RunContext::resume(const RunCall& call) {
  return go_on({call.parallel, call.output_written, call.stop, call.launch});
}

Status RunContext::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                       Parallel& parallel, FunctionRef<void(int)> output_written,
                       const std::stop_token& stop, const Timed* timed) {
  MILLRACE_TRY_STATUS(begin(inputs, outputs));
  MILLRACE_TRY(const RunState state, go_on({parallel, output_written, stop, nullptr, timed}));
  MILLRACE_CHECK(state == RunState::kDone, "a program of one process waits for another");
  return {};
}

Status RunContext::begin(std::span<const void* const> inputs, std::span<void* const> outputs) {
  MILLRACE_TRY_STATUS(bind(inputs, outputs));
  levels_.clear();
  levels_.push_back({.steps = &plan_.steps()});
  inside_ms_ = 0;
  return {};
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

Result<RunState> RunContext::go_on(const Execution& execution) {
  for (;;) {
    Level& level = levels_.back();
    if (level.next == level.steps->size()) {
      if (level.control == nullptr) return RunState::kDone;
      // The blocks of a loop may have no step.
      MILLRACE_TRY_STATUS(execution.going_on());
      leave(execution);
      continue;
    }
    const Step& step = (*level.steps)[level.next];
    MILLRACE_TRY_STATUS(execution.going_on());
    if (step.control != nullptr) {
      enter(step, execution);
      continue;
    }
    if (step.exchange) {
      MILLRACE_TRY(const bool done, exchange(step, execution));
      if (!done) return RunState::kWaits;
    } else {
      MILLRACE_TRY_STATUS(run_step(step, execution));
    }
    execution.finish(step);
    ++level.next;
  }
}

// An index out of range takes the last branch.
void RunContext::enter(const Step& step, const Execution& execution) {
  const Control& control = *step.control;
  Level level{.control = &step};
  if (control.is_while) {
    for (const compiler::Copy& each : control.before) copy(each);
  } else {
    const std::int32_t index = *reinterpret_cast<const std::int32_t*>(
        addresses_[static_cast<std::size_t>(control.decider)]);
    const auto last = static_cast<std::int32_t>(control.blocks.size()) - 1;
    level.block = static_cast<std::size_t>(index < 0 || index > last ? last : index);
  }
  if (execution.timed != nullptr) {
    level.before_ms = std::exchange(inside_ms_, 0);
    level.begin = steady_clock().now();
  }
  level.steps = &control.blocks[level.block].steps;
  levels_.push_back(level);
}

void RunContext::leave(const Execution& execution) {
  Level& level = levels_.back();
  const Step& step = *level.control;
  const Control& control = *step.control;
  for (const compiler::Copy& each : control.blocks[level.block].after) copy(each);
  const bool ends =
      !control.is_while ||
      (level.block == 0 && *reinterpret_cast<const std::uint8_t*>(
                               addresses_[static_cast<std::size_t>(control.decider)]) == 0);
  if (!ends) {
    level.block = 1 - level.block;
    level.steps = &control.blocks[level.block].steps;
    level.next = 0;
    return;
  }
  if (execution.timed != nullptr) {
    const std::chrono::duration<double, std::milli> took = steady_clock().now() - level.begin;
    (*execution.timed)(step, took.count() - inside_ms_);
    inside_ms_ = level.before_ms + took.count();
  }
  levels_.pop_back();
  execution.finish(step);
  ++levels_.back().next;
}

Result<bool> RunContext::exchange(const Step& step, const Execution& execution) const {
  const compiler::Exchange& with = *step.exchange;
  if (execution.launch == nullptr) {
    return fail(ErrorCode::kFailedPrecondition,
                "a program that spans processes runs by a launch of all of them");
  }
  const BufferId array = with.gives ? step.inputs[0] : step.outputs[0];
  const std::span<std::byte> bytes(addresses_[static_cast<std::size_t>(array)], step.info.bytes);
  if (!with.gives) return execution.launch->take(with.edge, with.process, bytes);
  MILLRACE_TRY_STATUS(execution.launch->give(with.edge, with.process, bytes));
  return true;
}

Status RunContext::run_step(const Step& step, const Execution& execution) {
  const StepFrame frame{
      .buffers = addresses_.data(),
      .inputs = step.inputs,
      .outputs = step.outputs,
      .scratch = step.scratch < 0 ? nullptr : addresses_[static_cast<std::size_t>(step.scratch)],
      .parallel = execution.parallel,
      .state = step.state < 0 ? nullptr : states_[static_cast<std::size_t>(step.state)].get()};
  if (execution.timed == nullptr) return step.run(frame);
  const auto begin = steady_clock().now();
  MILLRACE_TRY_STATUS(step.run(frame));
  const std::chrono::duration<double, std::milli> took = steady_clock().now() - begin;
  (*execution.timed)(step, took.count());
  inside_ms_ += took.count();
  return {};
}

void RunContext::copy(const compiler::Copy& copy) const {
  std::byte* const to = addresses_[static_cast<std::size_t>(copy.to)];
  const std::byte* const from = addresses_[static_cast<std::size_t>(copy.from)];
  // Arrays of no elements may be null.
  if (copy.bytes > 0 && to != from) std::memcpy(to, from, copy.bytes);
}

}  // namespace millrace::devices::cpu
