#include "millrace/devices/cpu/execution.h"

#include <algorithm>
#include <utility>

#include "millrace/devices/cpu/serialized_program.h"
#include "millrace/devices/launch_check.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {
namespace {

// Refinements of one program that are kept, and those of them that keep the memory of their runs.
constexpr std::size_t kMaxRefinements = 64;
constexpr std::size_t kWarmRefinements = 8;

std::unique_ptr<bool[]> flags(const Compiled& compiled) {
  auto donated = std::make_unique<bool[]>(compiled.inputs().size());
  for (const int input : compiled.donated()) donated[static_cast<std::size_t>(input)] = true;
  return donated;
}

}  // namespace

CpuExecutable::CpuExecutable(CpuDevices& devices, const Program& program,
                             std::shared_ptr<const Compiled> compiled,
                             std::optional<DeviceId> device, bool deterministic)
    : devices_(devices),
      program_(program),
      compiled_(std::move(compiled)),
      device_(device),
      deterministic_(deterministic),
      donated_(flags(*compiled_)),
      alias_of_(compiled_->outputs().size(), -1),
      refinements_(are_complete(compiled_->inputs())
                       ? nullptr
                       : std::make_unique<ShapeCache<Ref<CpuExecutable>>>(kMaxRefinements)) {
  if (devices.options.trace != nullptr) trace_name_ = devices.options.trace->name(name());
}

Status CpuExecutable::launch(const LaunchArguments& call, std::span<LaunchResult> results) {
  MILLRACE_TRY_STATUS(check_launch(*this, client(), call));
  if (refinements_ == nullptr) return start(call, results);
  MILLRACE_TRY(const Ref<CpuExecutable> one, refined(call.arguments[0]));
  note_launch(*one);
  return one->start(call, results);
}

Result<Ref<CpuExecutable>> CpuExecutable::refined(std::span<const Buffer> arguments) {
  bool is_new = false;
  const auto shape_at = [&](std::size_t i) -> const Shape& { return arguments[i].shape(); };
  const auto make = [&](std::span<const Shape> shapes) -> Result<Ref<CpuExecutable>> {
    is_new = true;
    Result<std::shared_ptr<const Compiled>> compiled = compiled_->refined(shapes);
    if (!compiled)
      return std::unexpected(compiled.error().with_context("a launch of " + program_.name()));
    return make_ref<CpuExecutable>(devices_, program_, std::move(*compiled), device_,
                                   deterministic_);
  };
  MILLRACE_TRY(Ref<CpuExecutable> one,
               refinements_->get({.size = arguments.size(), .at = shape_at}, make));
  if (is_new) {
    for (const Ref<CpuExecutable>& old : refinements_->older(kWarmRefinements))
      old->drop_free_runs();
  }
  return one;
}

// relaxed: a hint for how much work to take in at once.
void CpuExecutable::note_launch(CpuExecutable& refined) {
  std::int64_t bytes = refined.prepared_.load() ? refined.temporary_bytes() : 0;
  for (std::size_t i = 0; i < compiled_->outputs().size(); ++i) {
    if (!is_complete(compiled_->outputs()[i]))
      bytes += static_cast<std::int64_t>(refined.compiled_->outputs()[i].size_bytes());
  }
  std::int64_t before = largest_launch_.load(std::memory_order_relaxed);
  while (before < bytes && !largest_launch_.compare_exchange_weak(before, bytes)) {
  }
}

std::int64_t CpuExecutable::temporary_bytes() const {
  return refinements_ != nullptr ? largest_launch_.load(std::memory_order_relaxed)
                                 : static_cast<std::int64_t>(compiled_->temporary_bytes());
}

Status CpuExecutable::prepare() {
  if (prepared_.load()) return {};
  MILLRACE_TRY_STATUS(compiled_->prepare());
  MutexLock lock(mutex_);
  if (prepared_.load()) return {};
  for (const OutputAlias& alias : compiled_->aliases()) {
    alias_of_[static_cast<std::size_t>(alias.output)] = alias.input;
  }
  prepared_.store(true);
  return {};
}

Status CpuExecutable::start(const LaunchArguments& call, std::span<LaunchResult> results) {
  const DeviceId id = call.devices[0];
  MILLRACE_TRY(CpuDevice* const device, devices_.find(id));
  if (device_ && *device_ != id) {
    return fail(ErrorCode::kInvalidArgument, name() + " was compiled for CPU device " +
                                                 std::to_string(index(*device_)) + ", not " +
                                                 std::to_string(index(id)));
  }
  MILLRACE_TRY_STATUS(device->alive());
  Scope::Hold hold = devices_.scope.hold();
  if (!hold) return std::unexpected(devices_.scope.closed_error());
  auto* execution = new Execution(*device, Ref<CpuExecutable>::share(this), std::move(hold));
  results[0] = execution->launch(call);
  return {};
}

// relaxed: a hint, and any of several values will do.
void CpuExecutable::took(Duration time) {
  const Duration::rep before = usual_time_.load(std::memory_order_relaxed);
  const Duration::rep now = before < 0 ? time.count() : before + (time.count() - before) / 4;
  usual_time_.store(now, std::memory_order_relaxed);
}

bool CpuExecutable::is_short() const {
  const Duration::rep time = usual_time_.load(std::memory_order_relaxed);
  return time >= 0 && Duration(time) < devices_.options.inline_time;
}

Result<std::string> CpuExecutable::serialize() const {
  return SerializedProgram{.code = program_.code(),
                           .compiler = compiler_digest(client()),
                           .deterministic = deterministic_,
                           .device = device_,
                           .choices = compiled_->choices()}
      .to_bytes();
}

Result<Attributes> CpuExecutable::cost_analysis() const {
  const std::optional<RunCost> cost = compiled_->cost();
  if (!cost) return ExecutableBody::cost_analysis();
  return Attributes{{"flops", cost->operations}, {"bytes accessed", cost->bytes}};
}

void CpuExecutable::drop_free_runs() {
  std::vector<std::unique_ptr<CompiledRun>> runs;
  MutexLock lock(mutex_);
  runs.swap(free_runs_);
}

Result<std::unique_ptr<CompiledRun>> CpuExecutable::take_run() {
  {
    MutexLock lock(mutex_);
    if (!free_runs_.empty()) {
      std::unique_ptr<CompiledRun> run = std::move(free_runs_.back());
      free_runs_.pop_back();
      return run;
    }
  }
  return compiled_->make_run();
}

void CpuExecutable::release_run(std::unique_ptr<CompiledRun> run) {
  MutexLock lock(mutex_);
  free_runs_.push_back(std::move(run));
}

// Waits for the bytes of one input; one reference on the execution.
class Execution::InputWaiter final : public Waiter, public Pooled {
 public:
  explicit InputWaiter(Execution& execution) : execution_(execution) {}
  void on_complete(AsyncValue& /*value*/) noexcept override {
    Execution& execution = execution_;
    delete this;
    execution.input_done();
  }

 private:
  Execution& execution_;
};

Execution::Execution(CpuDevice& device, Ref<CpuExecutable> executable, Scope::Hold hold)
    : device_(device),
      executable_(std::move(executable)),
      hold_(std::move(hold)),
      done_(make_ref<QuietCell>()) {}

LaunchResult Execution::launch(const LaunchArguments& call) {
  const std::span<const Buffer> arguments = call.arguments[0];
  const std::span<const Shape> shapes = executable_->output_shapes();
  stop_ = call.stop;
  deadline_ = call.deadline;
  flow_ = call.flow;
  inputs_ = PooledArray<Ref<CpuArray>>(arguments.size());
  given_ = PooledArray<bool>(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    inputs_[i] = static_cast<const CpuBuffer&>(*arguments[i].body()).array();
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    given_[i] = donates(*executable_, call, i);
    if (given_[i]) static_cast<CpuBuffer&>(*arguments[i].body()).remove();
  }
  outputs_ = PooledArray<Ref<CpuArray>>(shapes.size());
  PooledArray<Buffer> handles(shapes.size());
  for (std::size_t o = 0; o < shapes.size(); ++o) {
    outputs_[o] = make_ref<CpuArray>();
    handles[o] = Buffer(make_ref<CpuBuffer>(device_, shapes[o], outputs_[o]));
  }
  LaunchResult result{Buffers(std::span<const Buffer>(handles.span())), Future<void>(done_)};
  for (const Ref<CpuArray>& input : inputs_) {
    if (!input || input->ready()->complete()) continue;
    pending_.fetch_add(1);
    input->ready()->add_waiter(new InputWaiter(*this));
  }
  input_done();
  return result;
}

void Execution::input_done() {
  if (pending_.fetch_sub(1) != 1) return;
  for (const Ref<CpuArray>& input : inputs_) {
    // Two launches may have been given the same buffer to donate: the first has it.
    if (!input) {
      return finish(fail(ErrorCode::kFailedPrecondition, "an argument of " + executable_->name() +
                                                             " was donated by another launch"));
    }
    if (const Error* error = input->ready()->error()) return finish(std::unexpected(*error));
  }
  device_.enqueue(*this);
}

void Execution::run() noexcept {
  Status status;
  TraceRecorder* const trace = device_.trace();
  recorded_ = trace != nullptr;
  const TimePoint begin = device_.clock().now();
  try {
    status = executable_->prepare();
    if (status) status = run_program();
  } catch (...) {  // std::bad_alloc
    status = std::unexpected(millrace::detail::exception_to_error(std::current_exception()));
  }
  const TimePoint end = device_.clock().now();
  device_.add_busy(end - begin);
  executable_->took(end - begin);
  if (trace != nullptr) {
    trace->record({.lane = device_.launch_lane(),
                   .name = executable_->trace_name(),
                   .begin = begin,
                   .end = end,
                   .flow = flow_});
    if (status && last_output_) write(*last_output_);
  }
  CpuDevice& device = device_;
  inputs_ = {};  // their blocks are free for the next one
  device.next();
  finish(status);
}

void Execution::drop() noexcept {
  device_.drop_queued();
  fail_unrun();  // which may be the client's end
}

void Execution::fail_unrun() {
  finish(fail(ErrorCode::kUnavailable, "the threads of CPU device " +
                                           std::to_string(index(device_.id())) + " closed before " +
                                           executable_->name() + " ran"));
}

Status Execution::run_program() {
  MILLRACE_TRY_STATUS(device_.alive());
  MILLRACE_TRY_STATUS(assign_blocks());
  MILLRACE_TRY(const MemoryPool::Use temporaries,
               device_.memory().use(static_cast<std::size_t>(executable_->temporary_bytes())));
  MILLRACE_TRY(std::unique_ptr<CompiledRun> run, executable_->take_run());
  PooledArray<const void*> inputs(inputs_.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = inputs_[i]->block()->data();
  PooledArray<void*> outputs(outputs_.size());
  for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o] = blocks_[o]->data();
  std::size_t left = outputs_.size();
  auto written = [this, &left](int output) {
    const auto o = static_cast<std::size_t>(output);
    if (!device_.alive()) return;  // nothing comes from a device that has failed
    --left;
    if (recorded_ && left == 0) {
      last_output_ = o;  // what has waited for all of them finds the run in the trace
    } else {
      write(o);
    }
  };
  const Status status = run->run({.inputs = inputs.span(),
                                  .outputs = outputs.span(),
                                  .parallel = device_.parallel(),
                                  .output_written = written,
                                  .stop = stop_});
  executable_->release_run(std::move(run));
  MILLRACE_TRY_STATUS(device_.alive());
  if (!status && status.error().code() == ErrorCode::kCancelled && stop_.stop_requested())
    return std::unexpected(stopped_error(*executable_, deadline_, device_.clock().now()));
  return status;
}

void Execution::write(std::size_t output) {
  CpuArray::write(std::move(outputs_[output]), std::move(blocks_[output]));
}

Status Execution::assign_blocks() {
  const std::span<const Shape> shapes = executable_->output_shapes();
  blocks_ = PooledArray<Ref<Block>>(shapes.size());
  for (std::size_t o = 0; o < shapes.size(); ++o) {
    blocks_[o] = donated_block(o);
    if (blocks_[o]) continue;
    MILLRACE_TRY(blocks_[o], device_.memory().allocate(shapes[o].size_bytes()));
  }
  return {};
}

// The block of the input that output may be written over, if this launch alone holds it: no handle
// (it was donated), no other launch, no copy, no reader on the host. Else the output gets memory of
// its own, and the input stays as it is for those who read it.
Ref<Block> Execution::donated_block(std::size_t output) const {
  const int alias = executable_->alias_of(output);
  if (alias < 0 || !given_[static_cast<std::size_t>(alias)]) return nullptr;
  const CpuArray& array = *inputs_[static_cast<std::size_t>(alias)];
  const Ref<Block>& block = array.block();
  return array.unique() && block->unique() && block->writable() ? block : nullptr;
}

void Execution::finish(const Status& status) {
  const Scope::Hold hold = std::move(hold_);
  inputs_ = {};
  blocks_ = {};
  for (Ref<CpuArray>& output : outputs_) {
    if (!output) continue;  // written
    MILLRACE_CHECK(!status.has_value(), "a program that ends well has written its outputs");
    CpuArray::fail(std::move(output), status.error());
  }
  outputs_ = {};
  done_->set(status);
  release();
}

}  // namespace millrace::devices::cpu
