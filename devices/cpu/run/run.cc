#include "millrace/devices/cpu/run/run.h"

#include <sys/mman.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "millrace/core/check.h"
#include "millrace/core/clock.h"

namespace millrace::devices::cpu {
namespace {

constexpr std::size_t kInputAlignment = 16;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::byte* allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : 64;
  const std::size_t size =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  auto* p = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  // Only advice: small pages work as well.
  if (p != nullptr && alignment == kHugePage) madvise(p, size, MADV_HUGEPAGE);
  return p;
}

}  // namespace

void RunContext::Free::operator()(std::byte* p) const { std::free(p); }

RunContext::~RunContext() = default;

Result<std::unique_ptr<RunContext>> RunContext::create(const Plan& plan) {
  std::unique_ptr<RunContext> c(new RunContext);
  c->arena_.reset(allocate(plan.arena_bytes()));
  if (c->arena_ == nullptr) {
    return fail(ErrorCode::kResourceExhausted, "no memory for the " +
                                                   std::to_string(plan.arena_bytes()) +
                                                   " bytes that one execution needs");
  }
  const plan::BufferTable& buffers = plan.buffers();
  c->addresses_.assign(static_cast<std::size_t>(buffers.size()), nullptr);
  for (int b = 0; b < buffers.size(); ++b) {
    const plan::Buffer& root = buffers.root(b);
    const std::size_t inside = buffers[b].root == b ? 0 : buffers[b].offset;
    std::byte*& address = c->addresses_[static_cast<std::size_t>(b)];
    if (root.home == plan::Home::kArena)
      address = c->arena_.get() + root.offset + inside;
    else if (root.home == plan::Home::kConstant)
      address = const_cast<std::byte*>(plan.constant(root.index)) + inside;
  }
  for (int i = 0; i < plan.states(); ++i) c->states_.push_back(plan.kernel(i).make_state());
  c->aligned_.resize(plan.inputs().size());
  c->inputs_.resize(plan.inputs().size());
  return c;
}

using Timed = FunctionRef<void(const Step&, double ms)>;

// One execution. Thread-safety: confined.
class Runner {
 public:
  Runner(const Plan& plan, RunContext& context, Parallel& parallel,
         FunctionRef<void(int)> output_written, std::stop_token stop)
      : plan_(plan),
        context_(context),
        parallel_(parallel),
        output_written_(output_written),
        stop_(std::move(stop)) {}

  void bind(std::span<const void* const> inputs, std::span<void* const> outputs) {
    MILLRACE_CHECK(
        inputs.size() == plan_.inputs().size() && outputs.size() == plan_.outputs().size(),
        "a run with the wrong number of arrays");
    for (std::size_t i = 0; i < inputs.size(); ++i) context_.inputs_[i] = input(i, inputs[i]);
    const plan::BufferTable& buffers = plan_.buffers();
    for (int b = 0; b < buffers.size(); ++b) {
      const plan::Buffer& root = buffers.root(b);
      const auto index = static_cast<std::size_t>(root.index);
      const std::size_t inside = buffers[b].root == b ? 0 : buffers[b].offset;
      std::byte*& address = context_.addresses_[static_cast<std::size_t>(b)];
      if (root.home == plan::Home::kInput)
        address = context_.inputs_[index] + inside;
      else if (root.home == plan::Home::kOutput)
        address = static_cast<std::byte*>(outputs[index]) + inside;
    }
  }

  Status run(const StepList& list) {
    const auto nested = [this](const StepList& inner) { return run(inner); };
    for (const Step& step : list.steps) {
      if (stop_.stop_requested()) return fail(ErrorCode::kCancelled, "the execution was stopped");
      const StepFrame frame{
          .buffers = context_.addresses_.data(),
          .scratch = step.scratch < 0 ? nullptr
                                      : context_.addresses_[static_cast<std::size_t>(step.scratch)],
          .parallel = parallel_,
          .state = step.state < 0 ? nullptr
                                  : context_.states_[static_cast<std::size_t>(step.state)].get(),
          .nested = nested};
      MILLRACE_TRY_STATUS(timed_ == nullptr ? step.run(frame) : run_timed(step, frame));
      for (int output : step.outputs_written) output_written_(output);
    }
    return {};
  }

  void tell(const Timed& timed) { timed_ = &timed; }

 private:
  Status run_timed(const Step& step, const StepFrame& frame) {
    const double before = std::exchange(inside_ms_, 0);
    const auto begin = steady_clock().now();
    MILLRACE_TRY_STATUS(step.run(frame));
    const std::chrono::duration<double, std::milli> took = steady_clock().now() - begin;
    (*timed_)(step, took.count() - inside_ms_);
    inside_ms_ = before + took.count();
    return {};
  }

  std::byte* input(std::size_t i, const void* data) {
    if (reinterpret_cast<std::uintptr_t>(data) % kInputAlignment == 0) {
      return const_cast<std::byte*>(static_cast<const std::byte*>(data));
    }
    const std::size_t bytes = plan_.inputs()[i].size_bytes();
    auto& copy = context_.aligned_[i];
    if (copy == nullptr) copy.reset(allocate(bytes));
    MILLRACE_CHECK(copy != nullptr, "no memory to align an input");
    std::memcpy(copy.get(), data, bytes);
    return copy.get();
  }

  const Plan& plan_;
  RunContext& context_;
  Parallel& parallel_;
  FunctionRef<void(int)> output_written_;
  std::stop_token stop_;
  const Timed* timed_ = nullptr;
  double inside_ms_ = 0;  // of the steps that the present one has run
};

Status run(const Plan& plan, RunContext& context, std::span<const void* const> inputs,
           std::span<void* const> outputs, Parallel& parallel,
           FunctionRef<void(int output)> output_written, std::stop_token stop) {
  Runner runner(plan, context, parallel, output_written, std::move(stop));
  runner.bind(inputs, outputs);
  return runner.run(plan.steps());
}

Status run_timed(const Plan& plan, RunContext& context, std::span<const void* const> inputs,
                 std::span<void* const> outputs, Parallel& parallel, Timed timed) {
  Runner runner(plan, context, parallel, [](int) {}, {});
  runner.tell(timed);
  runner.bind(inputs, outputs);
  return runner.run(plan.steps());
}

}  // namespace millrace::devices::cpu
