#include "millrace/devices/sim/sim_client.h"

#include <algorithm>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/devices/device_body.h"
#include "millrace/devices/sim/sim_launch.h"

namespace millrace::devices::sim {
namespace {

constexpr std::string_view kPrefix = "sim:";

}  // namespace

SimClient::SimClient(const SimOptions& opts) : SimCore(opts) {
  for (int i = 0; i < options.devices; ++i) {
    const DeviceId id{i};
    infos_.push_back({.id = id, .kind = "sim", .memories = {i}});
    memories_.push_back({.id = i, .kind = "device", .devices = {id}});
  }
}

SimClient::~SimClient() {
  MILLRACE_CHECK(scope.holders() == 0, "a simulated client goes after its launches and transfers");
  MILLRACE_CHECK(live_buffers() == 0, "a simulated client goes after its buffers");
  for (const auto& device : devices_) {
    if (device->failed_promise.valid()) device->failed_promise.set_value();
  }
}

void SimClient::add_program(SimProgram program) {
  MILLRACE_CHECK(program.written_at.empty() || program.written_at.size() == program.outputs.size(),
                 "written_at names every output or none");
  auto shared = std::make_shared<const SimProgram>(std::move(program));
  MutexLock lock(mutex);
  programs_[shared->name] = shared;
}

std::vector<SimEvent> SimClient::events() const {
  std::vector<SimEvent> events;
  {
    MutexLock lock(mutex);
    events = events_;
  }
  std::ranges::stable_sort(events, {}, &SimEvent::at);
  return events;
}

void SimClient::fail_launch(DeviceId device, std::uint64_t nth, Error error) {
  MutexLock lock(mutex);
  (*find(device))->launch_faults.push_back({nth, std::move(error)});
}

void SimClient::fail_put(DeviceId device, std::uint64_t nth, Error error) {
  MutexLock lock(mutex);
  (*find(device))->put_faults.push_back({nth, std::move(error)});
}

void SimClient::stall(DeviceId device, TimePoint at, Duration length) {
  MutexLock lock(mutex);
  auto& stalls = (*find(device))->stalls;
  stalls.push_back({at, length});
  std::ranges::stable_sort(stalls, {}, &SimDevice::Stall::at);
}

void SimClient::slow(DeviceId device, TimePoint at, double factor) {
  MutexLock lock(mutex);
  auto& slows = (*find(device))->slows;
  slows.push_back({at, factor});
  std::ranges::stable_sort(slows, {}, &SimDevice::Slow::at);
}

void SimClient::fail_device(DeviceId device, TimePoint at, std::string cause) {
  const TimerQueue::Id timer =
      options.timers->schedule(at, [this, device, cause = std::move(cause)] {
        const Error error(ErrorCode::kUnavailable, "simulated " + name_of(device) + ": " + cause);
        static_cast<void>(kill(device, error));
      });
  MutexLock lock(mutex);
  fault_timers_.push_back(timer);
}

Status SimClient::kill(DeviceId device, const Error& cause) {
  MILLRACE_TRY(SimDevice * failing, find(device));
  // What the device was doing fails with the same fact as what its actor refuses later.
  const Error error = cause.with_detail(DeviceFailure{device, cause, now()});
  std::vector<Ref<SimQueued>> launches;
  Promise<void> failed;
  {
    MutexLock lock(mutex);
    if (failing->failure) return {};
    failing->failure = error;
    launches = failing->queue;
    if (failing->running != nullptr) launches.push_back(Ref<SimQueued>::share(failing->running));
    failed = std::move(failing->failed_promise);
  }
  note({.kind = SimEvent::Kind::kDeviceFailed, .device = device});
  if (failed.valid()) failed.set_error(error);  // first: code that sees the end of a launch may ask
  for (const Ref<SimQueued>& launch : launches) launch->finish(std::unexpected(error));
  return {};
}

Status SimClient::restart(DeviceId device) {
  check_scope({&device, 1}, "restart");
  MILLRACE_TRY(SimDevice * target, find(device));
  if (scope.closing()) return std::unexpected(scope.closed_error());
  {
    MutexLock lock(mutex);
    if (!target->failure) {
      return millrace::fail(
          ErrorCode::kFailedPrecondition,
          "simulated " + name_of(device) + " was not restarted: it has not failed");
    }
    MILLRACE_CHECK(target->running == nullptr && target->queue.empty(),
                   "a device is restarted when nothing of it is in flight");
    target->failure.reset();
    target->failed_promise = Promise<void>();
    target->failed = target->failed_promise.future();
    target->free_from = {};
  }
  target->lose_memory();
  note({.kind = SimEvent::Kind::kDeviceRestarted, .device = device});
  return {};
}

Result<Executable> SimClient::load(std::string_view serialized) {
  std::string known;
  if (serialized.starts_with(kPrefix)) {
    MutexLock lock(mutex);
    const auto found = programs_.find(serialized.substr(kPrefix.size()));
    if (found != programs_.end()) return Executable(make_ref<SimExecutable>(*this, found->second));
    for (const auto& [name, program] : programs_) known += " " + name;
  }
  return fail(ErrorCode::kNotFound,
              "the simulated client runs programs \"sim:NAME\" that were added to it; \"" +
                  std::string(serialized.substr(0, 64)) + "\" is none of:" + known);
}

Result<PutResult> SimClient::put(const HostView& view, HostBufferSemantics semantics,
                                 DeviceId device, int memory) {
  check_scope({&device, 1}, "put");
  MILLRACE_TRY(SimDevice * target, find(device));
  MILLRACE_TRY_STATUS(check(view));
  if (memory != -1 && memory != index(device)) {
    return fail(ErrorCode::kInvalidArgument,
                "simulated " + name_of(device) + " has no memory " + std::to_string(memory));
  }
  if (!target->has_room(view.shape.size_bytes()))
    return no_room(*target, "a put of " + view.shape.to_string());
  std::optional<Error> scripted;
  {
    MutexLock lock(mutex);
    if (target->failure) return std::unexpected(*target->failure);
    if (const Error* error = SimDevice::find(target->put_faults, ++target->puts)) scripted = *error;
  }
  Scope::Hold hold = scope.hold();
  if (!hold) return std::unexpected(scope.closed_error());
  if (options.zero_copy && options.keep_bytes &&
      semantics >= HostBufferSemantics::kImmutableZeroCopy && is_dense(view) && !scripted) {
    auto bytes = make_ref<SimBytes>(view.data, view.shape.size_bytes(), view.owner);
    Future<void> released = bytes->released();
    auto buffer = make_ref<SimBuffer>(*this, *target, view.shape, std::move(bytes));
    buffer->complete({});
    return PutResult{Buffer(std::move(buffer)), std::move(released)};
  }
  auto buffer = make_ref<SimBuffer>(*this, *target, view.shape, make_bytes(options, view.shape));
  HostView source = view;
  const bool now = semantics == HostBufferSemantics::kImmutableOnlyDuringCall;
  if (now) {
    if (options.keep_bytes) copy_dense(view, buffer->bytes()->span().data());
    source = {.shape = view.shape};
  }
  auto transfer = make_ref<SimTransfer>(*this, *target, std::move(hold));
  Future<void> released = now ? make_ready() : transfer->done();
  transfer->put(source, buffer, std::move(scripted));
  return PutResult{Buffer(std::move(buffer)), std::move(released)};
}

Result<Buffer> SimClient::copy(const Buffer& source, DeviceId device, int /*memory*/) {
  check_scope({&device, 1}, "copy");
  MILLRACE_TRY(SimDevice * target, find(device));
  if (&source.body()->client() != this) {
    return fail(ErrorCode::kInvalidArgument, "a copy from a buffer of another client");
  }
  auto& from = static_cast<SimBuffer&>(*source.body());
  if (from.removed()) {
    removed_uses.fetch_add(1);
    return fail(ErrorCode::kFailedPrecondition,
                "a copy of " + from.shape().to_string() + ", which was donated or removed before");
  }
  {
    MutexLock lock(mutex);
    if (target->failure) return std::unexpected(*target->failure);
  }
  Scope::Hold hold = scope.hold();
  if (!hold) return std::unexpected(scope.closed_error());
  auto buffer =
      make_ref<SimBuffer>(*this, *target, from.shape(), make_bytes(options, from.shape()));
  make_ref<SimTransfer>(*this, *target, std::move(hold))
      ->copy(Ref<SimBuffer>::share(&from), buffer);
  return Buffer(std::move(buffer));
}

Result<MemoryStats> SimClient::memory_stats(DeviceId device) const {
  MILLRACE_TRY(const SimDevice* found, find(device));
  return found->memory();
}

Future<void> SimClient::failed(DeviceId device) const {
  const Result<SimDevice*> found = find(device);
  if (!found) return {};
  MutexLock lock(mutex);
  return (*found)->failed;
}

std::optional<Duration> SimClient::busy_time(DeviceId device) const {
  const Result<SimDevice*> found = find(device);
  if (!found) return std::nullopt;
  MutexLock lock(mutex);
  return (*found)->busy;
}

Future<void> SimClient::close() {
  std::vector<TimerQueue::Id> timers;
  std::vector<Promise<void>> failed;
  {
    MutexLock lock(mutex);
    timers.swap(fault_timers_);
    for (const auto& device : devices_) failed.push_back(std::move(device->failed_promise));
  }
  for (const TimerQueue::Id& timer : timers) options.timers->cancel(timer);
  for (Promise<void>& promise : failed) {
    if (promise.valid()) promise.set_value();
  }
  return scope.close();
}

}  // namespace millrace::devices::sim
