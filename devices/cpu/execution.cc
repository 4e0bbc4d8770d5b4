#include "millrace/devices/cpu/execution.h"

#include <algorithm>
#include <utility>

#include "millrace/core/async/parallel_over.h"
#include "millrace/devices/cpu/serialized_program.h"
#include "millrace/devices/launch_check.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {
namespace {

// Refinements of one program that are kept, and those of them that keep the memory of their runs.
constexpr std::size_t kMaxRefinements = 64;
constexpr std::size_t kWarmRefinements = 8;

// A program that its caller waits for keeps a thread of its pool so long from other work. Where it
// takes longer, two wake-ups (0.07 to 0.11 ms) are little beside it.
constexpr Duration kAwaitedInlineTime = std::chrono::microseconds(500);

std::unique_ptr<bool[]> flags(const Compiled& compiled) {
  const DeviceParts* const parts = compiled.device_parts();
  auto donated = std::make_unique<bool[]>(parts != nullptr ? parts->arguments.size()
                                                           : compiled.inputs().size());
  for (const int input : parts != nullptr ? std::span(parts->donated) : compiled.donated())
    donated[static_cast<std::size_t>(input)] = true;
  return donated;
}

// Per output of the program that runs, the first device that has it; the first of all for one that
// no device has.
std::vector<std::size_t> owners(const Compiled& compiled) {
  std::vector<std::size_t> owner(compiled.outputs().size(), 0);
  const DeviceParts* const parts = compiled.device_parts();
  if (parts == nullptr) return owner;
  for (std::size_t d = parts->outputs.size(); d-- > 0;) {
    for (const int output : parts->outputs[d]) owner[static_cast<std::size_t>(output)] = d;
  }
  return owner;
}

std::string list_of(std::span<CpuDevice* const> devices) {
  std::string list;
  for (const CpuDevice* device : devices)
    list += (list.empty() ? "" : ", ") + std::to_string(index(device->id()));
  return (devices.size() == 1 ? "CPU device " : "CPU devices ") + list;
}

}  // namespace

CpuExecutable::CpuExecutable(CpuDevices& devices, const Program& program,
                             std::shared_ptr<const Compiled> compiled, Options options)
    : devices_(devices),
      program_(program),
      compiled_(std::move(compiled)),
      parts_(compiled_->device_parts()),
      options_(std::move(options)),
      donated_(flags(*compiled_)),
      owner_of_(owners(*compiled_)),
      alias_of_(compiled_->outputs().size(), -1),
      refinements_(are_complete(compiled_->inputs())
                       ? nullptr
                       : std::make_unique<ShapeCache<Ref<CpuExecutable>>>(kMaxRefinements)) {
  if (devices.options.trace != nullptr) trace_name_ = devices.options.trace->name(name());
  if (options_.devices.size() < 2) return;
  std::vector<const Parallel*> seen;
  std::vector<ParallelShare> shares;
  for (const CpuDevice* device : options_.devices) {
    Parallel& parallel = device->parallel();
    if (std::ranges::find(seen, &parallel) != seen.end()) continue;
    seen.push_back(&parallel);
    shares.push_back({.executor = &device->executor(), .width = parallel.width()});
  }
  if (shares.size() < 2) return;  // they share their threads
  own_parallel_ = make_parallel_over(shares);
  parallel_ = own_parallel_.get();
}

Status CpuExecutable::launch(const LaunchArguments& call, std::span<LaunchResult> results) {
  MILLRACE_TRY_STATUS(check_launch(*this, client(), call));
  if (refinements_ == nullptr) return start(call, results);
  MILLRACE_TRY(const Ref<CpuExecutable> one, refined(call.arguments[0]));
  note_launch(*one);
  return one->start(call, results);
}

Result<LaunchResult> CpuExecutable::launch_part(const LaunchArguments& call) {
  const DeviceId id = call.devices[0];
  const auto place =
      std::ranges::find(options_.devices, id, [](const CpuDevice* device) { return device->id(); });
  if (place == options_.devices.end()) {
    return fail(ErrorCode::kInvalidArgument, name() + " was compiled for " +
                                                 list_of(options_.devices) + ", not " +
                                                 std::to_string(index(id)));
  }
  MILLRACE_TRY_STATUS(check_arguments(*this, client(), call.arguments[0], id));
  for (const CpuDevice* device : options_.devices) MILLRACE_TRY_STATUS(device->alive());
  const auto make = [&](Scope::Hold hold) {
    auto* const execution =
        new Execution(*options_.devices[0], Ref<CpuExecutable>::share(this), std::move(hold));
    execution->take_options(call);
    return Ref<GatheredLaunch>::share(execution);
  };
  return devices_.gathering.join(*this, options_.devices,
                                 static_cast<std::size_t>(place - options_.devices.begin()), call,
                                 make);
}

Result<Ref<CpuExecutable>> CpuExecutable::refined(std::span<const Buffer> arguments) {
  bool is_new = false;
  const auto shape_at = [&](std::size_t i) -> const Shape& { return arguments[i].shape(); };
  const auto make = [&](std::span<const Shape> shapes) -> Result<Ref<CpuExecutable>> {
    is_new = true;
    Result<std::shared_ptr<const Compiled>> compiled = compiled_->refined(shapes);
    if (!compiled)
      return std::unexpected(compiled.error().with_context("a launch of " + program_.name()));
    return make_ref<CpuExecutable>(devices_, program_, std::move(*compiled), options_);
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

Status CpuExecutable::check_devices(std::span<const DeviceId> ids) const {
  for (std::size_t d = 0; d < ids.size(); ++d) {
    MILLRACE_TRY(const CpuDevice* const device, devices_.find(ids[d]));
    if (!options_.devices.empty() && options_.devices[d] != device) {
      std::string given;
      for (const DeviceId id : ids)
        given += (given.empty() ? "" : ", ") + std::to_string(index(id));
      return fail(ErrorCode::kInvalidArgument,
                  name() + " was compiled for " + list_of(options_.devices) + ", not " + given);
    }
    MILLRACE_TRY_STATUS(device->alive());
  }
  return {};
}

Status CpuExecutable::start(const LaunchArguments& call, std::span<LaunchResult> results) {
  MILLRACE_TRY_STATUS(check_devices(call.devices));
  Scope::Hold hold = devices_.scope.hold();
  if (!hold) return std::unexpected(devices_.scope.closed_error());
  CpuDevice* const first = devices_.find(call.devices[0]).value();
  auto* execution = new Execution(*first, Ref<CpuExecutable>::share(this), std::move(hold));
  execution->launch(call, results);
  return {};
}

// relaxed: a hint, and any of several values will do.
void CpuExecutable::took(Duration time) {
  const Duration::rep before = usual_time_.load(std::memory_order_relaxed);
  const Duration::rep now = before < 0 ? time.count() : before + (time.count() - before) / 4;
  usual_time_.store(now, std::memory_order_relaxed);
}

bool CpuExecutable::is_short(bool awaited) const {
  const Duration::rep time = usual_time_.load(std::memory_order_relaxed);
  const Duration most = devices_.options.inline_time;
  if (time < 0 || most == Duration()) return false;
  return Duration(time) < (awaited ? std::max(most, kAwaitedInlineTime) : most);
}

Result<std::string> CpuExecutable::serialize() const {
  std::vector<DeviceId> devices;
  for (const CpuDevice* device : options_.devices) devices.push_back(device->id());
  return SerializedProgram{.code = program_.code(),
                           .compiler = compiler_digest(client()),
                           .deterministic = options_.deterministic,
                           .replicas = options_.replicas,
                           .partitions = options_.partitions,
                           .devices = std::move(devices),
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
    : device_(&device),
      executable_(std::move(executable)),
      spans_(executable_->devices_per_launch() > 1 || executable_->spans_processes()),
      hold_(std::move(hold)),
      inputs_(devices().size() * executable_->input_shapes().size()),
      given_(inputs_.size()),
      outputs_(executable_->compiled().outputs().size()),
      done_(make_ref<QuietCell>()),
      pending_(devices().size()) {
  for (Ref<CpuArray>& output : outputs_) output = make_ref<CpuArray>();
}

// What kills a device, or stops the launch, is heard from here on: before or while it waits.
void Execution::join_others(std::shared_ptr<ProcessLaunch> launch) {
  with_others_ = launch != nullptr ? std::move(launch) : executable_->reserve_launch();
  if (with_others_ == nullptr) return;
  executable_->process_launches().add(with_others_);
  on_stop_.emplace(stop_, [others = with_others_] { others->interrupt(); });
}

void Execution::launch(const LaunchArguments& call, std::span<LaunchResult> results) {
  take_options(call);
  for (std::size_t d = 0; d < results.size(); ++d) results[d] = take(d, call.arguments[d], call);
  for (std::size_t d = 0; d < results.size(); ++d) arrive(d);
}

void Execution::take_options(const LaunchArguments& call) {
  stop_ = call.stop;
  deadline_ = call.deadline;
  flow_ = call.flow;
  awaited_ = call.awaited;
  join_others(call.with_others);
}

LaunchResult Execution::take(std::size_t place, std::span<const Buffer> arguments,
                             const LaunchArguments& call) {
  const std::size_t first = place * arguments.size();
  for (std::size_t i = 0; i < arguments.size() && !given_up_; ++i)
    inputs_[first + i] = static_cast<const CpuBuffer&>(*arguments[i].body()).array();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!donates(*executable_, call, i)) continue;
    if (!given_up_) given_[first + i] = true;
    static_cast<CpuBuffer&>(*arguments[i].body()).remove();
  }
  const std::span<const Shape> shapes = executable_->output_shapes();
  PooledArray<Buffer> handles(shapes.size());
  for (std::size_t r = 0; r < shapes.size(); ++r)
    handles[r] = Buffer(make_ref<CpuBuffer>(*devices()[place], shapes[r], output_of(place, r)));
  return {Buffers(std::span<const Buffer>(handles.span())), Future<void>(done_)};
}

// One that was given up has failed its outputs, or is about to: those of a later call are others.
Ref<CpuArray> Execution::output_of(std::size_t place, std::size_t result) const {
  if (given_up_) {
    auto failed = make_ref<CpuArray>();
    CpuArray::fail(failed, *given_up_);
    return failed;
  }
  const DeviceParts* const parts = executable_->parts();
  return outputs_[parts == nullptr ? result
                                   : static_cast<std::size_t>(parts->outputs[place][result])];
}

// The last of them may be the end of it.
void Execution::arrive(std::size_t place) {
  const std::size_t count = executable_->input_shapes().size();
  for (const Ref<CpuArray>& input : inputs_.span().subspan(place * count, count)) {
    if (!input || input->ready()->complete()) continue;
    pending_.fetch_add(1);
    input->ready()->add_waiter(new InputWaiter(*this));
  }
  input_done();
}

void Execution::miss(std::size_t calls) {
  for (; calls > 0; --calls) input_done();
}

void Execution::input_done() {
  if (pending_.fetch_sub(1) != 1) return;
  if (given_up_) return finish(std::unexpected(*given_up_));
  for (const Ref<CpuArray>& input : inputs_) {
    // Two launches may have been given the same buffer to donate: the first has it.
    if (!input) {
      return finish(fail(ErrorCode::kFailedPrecondition, "an argument of " + executable_->name() +
                                                             " was donated by another launch"));
    }
    if (const Error* error = input->ready()->error()) return finish(std::unexpected(*error));
  }
  device_->enqueue(*this);
}

Status Execution::alive() const {
  for (const CpuDevice* device : devices()) {
    const Status alive = device->alive();
    if (alive) continue;
    if (!spans_) return alive;
    return std::unexpected(alive.error().with_context(
        "a launch of " + executable_->name() + " on " + list_of(devices()) + ", of which " +
        std::to_string(index(device->id())) + " has failed"));
  }
  return {};
}

std::size_t Execution::place_of(std::size_t input) const {
  const DeviceParts* const parts = executable_->parts();
  if (parts == nullptr) return input;
  const DeviceParts::Input& from = parts->inputs[input];
  return static_cast<std::size_t>(from.device) * parts->arguments.size() +
         static_cast<std::size_t>(from.argument);
}

void Execution::run() noexcept {
  Result<RunState> state = RunState::kDone;
  recorded_ = device_->trace() != nullptr;
  const TimePoint begin = device_->clock().now();
  try {
    state = run_ == nullptr ? begin_program() : continue_program(false);
  } catch (...) {  // std::bad_alloc
    state = std::unexpected(millrace::detail::exception_to_error(std::current_exception()));
  }
  const TimePoint end = device_->clock().now();
  const bool waits = state && *state == RunState::kWaits;
  const bool ran = !waits || run_ != nullptr;  // some of it
  for (CpuDevice* device : devices()) device->add_busy(end - begin);
  if (recorded_ && ran) record(begin, end);
  if (waits) return wait_for_others();
  const Status status = state ? Status() : Status(std::unexpected(state.error()));
  if (with_others_ == nullptr) executable_->took(end - begin);
  if (status && last_output_) write(*last_output_);
  for (std::size_t o = 0; status && spans_ && o < outputs_.size(); ++o) write(o);
  CpuDevice& device = *device_;
  inputs_ = {};  // their blocks are free for the next one, and to be donated
  blocks_ = {};
  device.next();
  finish(status);
}

// Others may run on the device. Nothing of this may be touched once it awaits.
void Execution::wait_for_others() {
  const std::shared_ptr<ProcessLaunch> launch = with_others_;
  CpuDevice& device = *device_;
  device.next();
  launch->await([this, &device] { device.enqueue(*this); });
}

void Execution::record(TimePoint begin, TimePoint end) const {
  for (const CpuDevice* device : devices()) {
    TraceRecorder* const trace = device->trace();
    if (trace == nullptr) continue;
    trace->record({.lane = device->launch_lane(),
                   .name = executable_->trace_name(),
                   .begin = begin,
                   .end = end,
                   .flow = flow_});
  }
}

void Execution::drop() noexcept {
  device_->drop_queued();
  fail_unrun();  // which may be the client's end
}

void Execution::fail_unrun() {
  finish(fail(ErrorCode::kUnavailable, "the threads of CPU device " +
                                           std::to_string(index(device_->id())) +
                                           " closed before " + executable_->name() + " ran"));
}

Result<RunState> Execution::begin_program() {
  MILLRACE_TRY_STATUS(executable_->prepare());
  MILLRACE_TRY_STATUS(alive());
  if (with_others_ != nullptr) {
    if (stop_.stop_requested()) return stopped(true);
    MILLRACE_TRY(const bool has_begun, with_others_->begin());
    if (!has_begun) return RunState::kWaits;
  }
  MILLRACE_TRY_STATUS(assign_blocks());
  MILLRACE_TRY(MemoryPool::Use temporaries,
               device_->memory().use(executable_->compiled().temporary_bytes()));
  temporaries_.emplace(std::move(temporaries));
  input_bytes_ = PooledArray<const void*>(executable_->compiled().inputs().size());
  for (std::size_t i = 0; i < input_bytes_.size(); ++i)
    input_bytes_[i] = inputs_[place_of(i)]->block()->data();
  output_bytes_ = PooledArray<void*>(outputs_.size());
  for (std::size_t o = 0; o < outputs_.size(); ++o) output_bytes_[o] = blocks_[o]->data();
  left_ = outputs_.size();
  MILLRACE_TRY(run_, executable_->take_run());
  return continue_program(true);
}

Result<RunState> Execution::continue_program(bool begins) {
  auto written = [this](int output) {
    const auto o = static_cast<std::size_t>(output);
    if (spans_) return;             // CE-2
    if (!device_->alive()) return;  // nothing comes from a device that has failed
    --left_;
    if (recorded_ && left_ == 0) {
      last_output_ = o;  // what has waited for all of them finds the run in the trace
    } else {
      write(o);
    }
  };
  const RunCall call{.inputs = input_bytes_.span(),
                     .outputs = output_bytes_.span(),
                     .parallel = executable_->parallel() != nullptr ? *executable_->parallel()
                                                                    : device_->parallel(),
                     .output_written = written,
                     .stop = stop_,
                     .launch = with_others_.get()};
  const Result<RunState> state = begins ? run_->run(call) : run_->resume(call);
  if (state && *state == RunState::kWaits && alive() && !stop_.stop_requested()) return state;
  end_run();
  MILLRACE_TRY_STATUS(alive());
  const bool cut_off =
      state ? *state == RunState::kWaits : state.error().code() == ErrorCode::kCancelled;
  if (cut_off && stop_.stop_requested()) return stopped(!begins || state);
  return state;
}

std::unexpected<Error> Execution::stopped(bool waited) const {
  const Error why = stopped_error(*executable_, deadline_, device_->clock().now());
  const std::string whom =
      waited && with_others_ != nullptr ? with_others_->waits_for() : std::string();
  return std::unexpected(whom.empty() ? why : why.with_context("it waited for " + whom));
}

void Execution::end_run() {
  if (run_ != nullptr) executable_->release_run(std::move(run_));
  temporaries_.reset();
  input_bytes_ = {};
  output_bytes_ = {};
}

// Until the last one is written the program may read the others.
void Execution::write(std::size_t output) {
  Ref<Block> block = left_ == 0 ? std::move(blocks_[output]) : blocks_[output];
  CpuArray::write(std::move(outputs_[output]), std::move(block));
}

Status Execution::assign_blocks() {
  const std::span<const Shape> shapes = executable_->compiled().outputs();
  blocks_ = PooledArray<Ref<Block>>(shapes.size());
  for (std::size_t o = 0; o < shapes.size(); ++o) {
    blocks_[o] = donated_block(o);
    if (blocks_[o]) continue;
    MemoryPool& memory = (spans_ ? executable_->owner_of(o) : *device_).memory();
    MILLRACE_TRY(blocks_[o], memory.allocate(shapes[o].size_bytes()));
  }
  return {};
}

// The block of the input that output may be written over, if this launch alone holds it: no handle
// (it was donated), no other launch, no copy, no reader on the host. Else the output gets memory of
// its own, and the input stays as it is for those who read it.
Ref<Block> Execution::donated_block(std::size_t output) const {
  const int alias = executable_->alias_of(output);
  if (alias < 0) return nullptr;
  const std::size_t place = place_of(static_cast<std::size_t>(alias));
  if (!given_[place] || !is_exclusive(place)) return nullptr;
  const Ref<Block>& block = inputs_[place]->block();
  return block->unique() && block->writable() ? block : nullptr;
}

// Devices may share an array: then all of them have donated it, and the program reads that of one.
bool Execution::is_exclusive(std::size_t place) const {
  const CpuArray& array = *inputs_[place];
  if (!spans_) return array.unique();
  const auto is_it = [&](const Ref<CpuArray>& input) { return input.get() == &array; };
  if (!array.held_by(static_cast<std::uint32_t>(std::ranges::count_if(inputs_.span(), is_it))))
    return false;
  int reads = 0;
  for (std::size_t i = 0; i < executable_->compiled().inputs().size(); ++i)
    reads += is_it(inputs_[place_of(i)]) ? 1 : 0;
  return reads == 1;
}

void Execution::finish(const Status& status) {
  const Scope::Hold hold = std::move(hold_);
  if (with_others_ != nullptr) {
    on_stop_.reset();
    executable_->process_launches().erase(with_others_.get());
    with_others_->end(status);
    with_others_ = nullptr;
  }
  end_run();
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
