#include "millrace/devices/sim/sim_launch.h"

#include <algorithm>
#include <utility>

#include "millrace/devices/launch_check.h"

namespace millrace::devices::sim {
namespace {

std::unique_ptr<bool[]> flags(const SimProgram& program) {
  auto donated = std::make_unique<bool[]>(program.inputs.size());
  for (const int i : program.donated) donated[static_cast<std::size_t>(i)] = true;
  return donated;
}

}  // namespace

SimExecutable::SimExecutable(SimCore& client, std::shared_ptr<const SimProgram> program)
    : client_(client), program_(std::move(program)), donated_(flags(*program_)) {
  for (std::size_t i = 0; i < program_->outputs.size(); ++i) {
    const Duration at = program_->written_at.empty() ? program_->duration : program_->written_at[i];
    output_times_.push_back({std::min(at, program_->duration), static_cast<int>(i)});
  }
  std::ranges::stable_sort(output_times_, {}, &OutputTime::at);
}

Status SimExecutable::launch(const LaunchArguments& call, std::span<LaunchResult> results) {
  client_.check_scope(call.devices, "launch");
  if (const Status checked = check_launch(*this, client_, call); !checked) {
    for (const auto& inputs : call.arguments) {
      for (const Buffer& input : inputs) client_.removed_uses += input && input.removed() ? 1 : 0;
    }
    return checked;
  }
  PooledArray<SimDevice*> devices(call.devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    MILLRACE_TRY(devices[d], client_.find(call.devices[d]));
    if (!devices[d]->has_room(launch_bytes()))
      return no_room(*devices[d], "the outputs of " + name());
  }
  Scope::Hold hold = client_.scope.hold();
  if (!hold) return std::unexpected(client_.scope.closed_error());
  auto launch = make_ref<SimLaunch>(client_, Ref<SimExecutable>::share(this), devices.size(),
                                    std::move(hold));
  launch->prepare(call, results, devices.span());
  launch->start(call);
  return {};
}

SimLaunch::SimLaunch(SimCore& client, Ref<SimExecutable> executable, std::size_t devices,
                     Scope::Hold hold)
    : client_(client),
      executable_(std::move(executable)),
      parts_(devices),
      hold_(std::move(hold)) {}

void SimLaunch::prepare(const LaunchArguments& call, std::span<LaunchResult> results,
                        std::span<SimDevice* const> devices) {
  const SimProgram& program = executable_->program();
  number_ = client_.next_number.fetch_add(1);
  stop_ = call.stop;
  deadline_ = call.deadline;
  flow_ = call.flow;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    Part& part = parts_[d];
    part.device = devices[d];
    part.done = make_ref<QuietCell>();
    part.inputs = PooledArray<Ref<SimBytes>>(call.arguments[d].size());
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      auto& input = static_cast<SimBuffer&>(*call.arguments[d][i].body());
      part.inputs[i] = input.bytes();
    }
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      if (donates(*executable_, call, i)) {
        static_cast<SimBuffer&>(*call.arguments[d][i].body()).donate();
      }
    }
    part.outputs = PooledArray<Ref<SimBuffer>>(program.outputs.size());
    PooledArray<Buffer> handles(program.outputs.size());
    for (std::size_t o = 0; o < program.outputs.size(); ++o) {
      const Shape& shape = program.outputs[o];
      part.outputs[o] =
          make_ref<SimBuffer>(client_, *part.device, shape, make_bytes(client_.options, shape));
      handles[o] = Buffer(part.outputs[o]);
    }
    results[d] = {Buffers(std::span<const Buffer>(handles.span())),
                  Future<void>(Ref<Cell<void>>(part.done))};
    MutexLock lock(client_.mutex);
    const Error* error = SimDevice::find(part.device->launch_faults, ++part.device->launches);
    if (error != nullptr) scripted_ = *error;
  }
}

void SimLaunch::start(const LaunchArguments& call) {
  if (client_.options.in_order) enqueue();
  for (const auto& arguments : call.arguments) {
    for (const Buffer& argument : arguments) {
      // Donated above, perhaps: its bytes still count.
      const Future<void> ready = static_cast<const SimBuffer&>(*argument.body()).written();
      if (ready.ready() && ready.result()) continue;
      pending_.fetch_add(1);
      ready
          .then(inline_executor(),
                [self = Ref<SimLaunch>::share(this)](const Status& written) {
                  self->input_done(written ? nullptr : &written.error());
                })
          .ignore();
    }
  }
  input_done(nullptr);
}

void SimLaunch::enqueue() {
  MutexLock lock(client_.mutex);
  for (const Part& part : parts_) part.device->queue.push_back(Ref<SimLaunch>::share(this));
}

void SimLaunch::input_done(const Error* error) {
  if (error != nullptr) {
    MutexLock lock(client_.mutex);
    if (!input_error_) input_error_ = *error;
  }
  if (pending_.fetch_sub(1) != 1) return;
  if (!client_.options.in_order) enqueue();
  std::optional<Error> failed;
  {
    MutexLock lock(client_.mutex);
    inputs_ready_ = true;
    failed = input_error_;
    for (const Part& part : parts_) {
      if (!failed && part.device->failure) failed = part.device->failure;
    }
  }
  if (failed) return finish(std::unexpected(*failed));
  for (std::size_t d = 0; d < parts_.size(); ++d) try_begin(client_, *parts_[d].device);
}

void SimLaunch::try_begin(SimCore& client, SimDevice& device) {
  Ref<SimLaunch> launch;
  {
    MutexLock lock(client.mutex);
    auto* const next = static_cast<SimLaunch*>(device.candidate(client.options.in_order));
    if (next == nullptr) return;
    for (const Part& part : next->parts_) {
      if (part.device->candidate(client.options.in_order) != next) return;
    }
    launch = Ref<SimLaunch>::share(next);
    for (const Part& part : next->parts_) {
      part.device->erase(*next);
      part.device->running = next;
    }
    next->begin_ = client.now();
  }
  launch->begin();
}

// The latest of the devices decides: they work together.
TimePoint SimLaunch::due_locked(Duration offset) const {
  TimePoint due = begin_;
  for (const Part& part : parts_) {
    due = std::max(due, part.device->end_of(begin_, part.device->scaled(offset, begin_)));
  }
  return due;
}

void SimLaunch::later(TimePoint due, void (SimLaunch::*what)()) {
  const TimerQueue::Id timer = client_.options.timers->schedule(
      due, [self = Ref<SimLaunch>::share(this), what] { (self.get()->*what)(); });
  bool finished = false;
  {
    MutexLock lock(client_.mutex);
    timer_ = timer;
    finished = finished_;
  }
  if (finished) client_.options.timers->cancel(timer);  // a device has failed meanwhile
}

Status SimLaunch::stopped() const {
  if (!stop_.stop_requested()) return {};
  return std::unexpected(stopped_error(*executable_, deadline_, client_.now()));
}

void SimLaunch::begin() {
  TimePoint due;
  {
    MutexLock lock(client_.mutex);
    due = due_locked(Duration(0));
  }
  if (due > client_.now()) {  // a device stands still
    begin_ = due;
    return later(due, &SimLaunch::begin);
  }
  for (const Part& part : parts_) note(SimEvent::Kind::kLaunchBegin, part);
  if (const Status cut = stopped(); !cut) return finish(cut);
  const Status computed = scripted_ ? Status() : compute();
  if (!computed) return finish(computed);
  step();
}

Status SimLaunch::compute() {
  const SimProgram& program = executable_->program();
  if (!program.compute || !client_.options.keep_bytes) return {};
  struct Bytes {
    PooledArray<Ref<SimBytes>> held;  // inputs, then outputs: one may be removed meanwhile
    PooledArray<std::span<const std::byte>> inputs;
    PooledArray<std::span<std::byte>> outputs;
  };
  PooledArray<Bytes> all(parts_.size());
  PooledArray<SimCall> calls(parts_.size());
  for (std::size_t d = 0; d < parts_.size(); ++d) {
    const Part& part = parts_[d];
    Bytes& bytes = all[d];
    {
      MutexLock lock(client_.mutex);
      if (finished_) return {};  // a device has failed meanwhile
      bytes = {PooledArray<Ref<SimBytes>>(part.inputs.size() + part.outputs.size()),
               PooledArray<std::span<const std::byte>>(part.inputs.size()),
               PooledArray<std::span<std::byte>>(part.outputs.size())};
      std::ranges::copy(part.inputs.span(), bytes.held.span().begin());
      for (std::size_t o = 0; o < part.outputs.size(); ++o) {
        bytes.held[part.inputs.size() + o] = part.outputs[o]->bytes();
      }
    }
    const std::size_t inputs = bytes.inputs.size();
    for (std::size_t i = 0; i < inputs; ++i) bytes.inputs[i] = bytes.held[i]->span();
    for (std::size_t o = 0; o < bytes.outputs.size(); ++o) {
      // A caller that has removed an output does not want it: it is written nowhere.
      const Ref<SimBytes>& output = bytes.held[inputs + o];
      if (output) bytes.outputs[o] = output->span();
    }
    calls[d] = {part.device->id(), bytes.inputs.span(), bytes.outputs.span()};
  }
  return program.compute(calls.span());
}

void SimLaunch::step() {
  const std::span<const SimExecutable::OutputTime> times = executable_->output_times();
  for (;;) {
    const bool last = next_step_ == times.size();
    TimePoint due;
    {
      MutexLock lock(client_.mutex);
      if (finished_) return;
      due = due_locked(last ? executable_->program().duration : times[next_step_].at);
    }
    if (due > client_.now()) {
      return later(due, &SimLaunch::step);
    }
    if (const Status cut = stopped(); !cut) return finish(cut);
    if (last) return finish(scripted_ ? Status(std::unexpected(*scripted_)) : Status());
    const int output = times[next_step_++].output;
    if (scripted_) continue;
    for (const Part& part : parts_) {
      note(SimEvent::Kind::kOutputWritten, part, output);
      Ref<SimBuffer> written;
      {
        MutexLock lock(client_.mutex);
        if (finished_) return;  // a device has failed meanwhile
        written = part.outputs[static_cast<std::size_t>(output)];
      }
      written->complete({});
    }
  }
}

void SimLaunch::note(SimEvent::Kind kind, const Part& part, int output) const {
  client_.note({.kind = kind,
                .device = part.device->id(),
                .name = executable_->name(),
                .number = number_,
                .output = output});
}

void SimLaunch::trace(const SimDevice& device) const {
  TraceRecorder* const trace = client_.options.trace;
  if (trace == nullptr) return;
  trace->record({.lane = trace->lane(name_of(device.id())),
                 .name = trace->name(executable_->name()),
                 .begin = begin_,
                 .end = trace->now(),
                 .flow = flow_});
}

void SimLaunch::finish(const Status& status) {
  const Ref<SimLaunch> self = Ref<SimLaunch>::share(this);
  bool ran = false;
  std::optional<TimerQueue::Id> timer;
  PooledArray<Part> ended(parts_.size());
  {
    MutexLock lock(client_.mutex);
    if (std::exchange(finished_, true)) return;
    for (std::size_t d = 0; d < parts_.size(); ++d) {
      ended[d].inputs = std::move(parts_[d].inputs);
      ended[d].outputs = std::move(parts_[d].outputs);
    }
    timer = timer_;
    const TimePoint now = client_.now();
    for (const Part& part : parts_) {
      ran = part.device->running == this;
      if (ran) part.device->busy += std::max(now - begin_, Duration(0));
      part.device->erase(*this);
    }
  }
  if (timer) client_.options.timers->cancel(*timer);
  for (std::size_t d = 0; d < parts_.size(); ++d) {
    const Part& part = parts_[d];
    if (ran) {
      note(SimEvent::Kind::kLaunchEnd, part);
      trace(*part.device);
    }
    ended[d].inputs = {};
    for (const Ref<SimBuffer>& output : ended[d].outputs) output->complete(status);
    ended[d].outputs = {};
    part.done->try_set(status);
  }
  hold_.reset();
  for (const Part& part : parts_) try_begin(client_, *part.device);
}

}  // namespace millrace::devices::sim
