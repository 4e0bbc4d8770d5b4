#include "millrace/devices/sim/sim_client.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "millrace/core/check.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/device_scope.h"
#include "millrace/devices/host_view.h"
#include "millrace/devices/sim/sim_launch.h"
#include "millrace/devices/sim/sim_transfer.h"

namespace millrace::devices::sim {
namespace {

constexpr std::string_view kPrefix = "sim:";

void end_process(const std::string& violation) {
  std::fprintf(stderr, "millrace: %s\n", violation.c_str());
  check_failed("call inside the device's actor",
               "a simulated device was called from outside its actor");
}

}  // namespace

SimClient::SimClient(const SimOptions& options) : options_(options), violation_(&end_process) {
  for (int i = 0; i < options_.devices; ++i) {
    const DeviceId id{i};
    infos_.push_back({.id = id, .kind = "sim", .memories = {i}});
    memories_.push_back({.id = i, .kind = "device", .devices = {id}});
    devices_.push_back(std::make_unique<SimDevice>(id));
  }
}

SimClient::~SimClient() {
  MILLRACE_CHECK(scope_.holders() == 0, "a simulated client goes after its launches and transfers");
  MILLRACE_CHECK(live_buffers() == 0, "a simulated client goes after its buffers");
  for (const auto& device : devices_) {
    if (device->failed_promise.valid()) device->failed_promise.set_value();
  }
}

void SimClient::add_program(SimProgram program) {
  MILLRACE_CHECK(program.written_at.empty() || program.written_at.size() == program.outputs.size(),
                 "written_at names every output or none");
  auto shared = std::make_shared<const SimProgram>(std::move(program));
  MutexLock lock(mutex_);
  programs_[shared->name] = shared;
}

Result<SimDevice*> SimClient::find(DeviceId device) const {
  const int i = index(device);
  if (i >= 0 && i < options_.devices) return devices_[static_cast<std::size_t>(i)].get();
  return fail(ErrorCode::kInvalidArgument, "there is no simulated device " + std::to_string(i) +
                                               " (of " + std::to_string(options_.devices) + ")");
}

void SimClient::check_scope(std::span<const DeviceId> devices, std::string_view call) {
  if (!options_.check_scope) return;
  const DeviceScope* scope = DeviceScope::current();
  if (scope != nullptr && &scope->client() == this &&
      std::ranges::find(devices, scope->device()) != devices.end()) {
    return;
  }
  std::string violation = std::string(call) + " was called ";
  violation += scope == nullptr
                   ? "outside every device actor"
                   : "by the actor of device " + std::to_string(index(scope->device()));
  for (const DeviceId device : devices)
    violation += ", for device " + std::to_string(index(device));
  violation_(violation);
}

void SimClient::set_violation_handler(std::function<void(const std::string&)> handler) {
  violation_ = std::move(handler);
}

void SimClient::note(SimEvent event) {
  if (!options_.record_events) return;
  if (event.at == TimePoint{}) event.at = options_.timers->clock().now();
  MutexLock lock(mutex_);
  events_.push_back(std::move(event));
}

std::vector<SimEvent> SimClient::events() const {
  std::vector<SimEvent> events;
  {
    MutexLock lock(mutex_);
    events = events_;
  }
  std::ranges::stable_sort(events, {}, &SimEvent::at);
  return events;
}

Ref<SimBytes> SimClient::make_bytes(const Shape& shape) const {
  return options_.keep_bytes ? make_ref<SimBytes>(shape.size_bytes()) : nullptr;
}

void SimClient::fail_launch(DeviceId device, std::uint64_t nth, Error error) {
  MutexLock lock(mutex_);
  (*find(device))->launch_faults.push_back({nth, std::move(error)});
}

void SimClient::fail_put(DeviceId device, std::uint64_t nth, Error error) {
  MutexLock lock(mutex_);
  (*find(device))->put_faults.push_back({nth, std::move(error)});
}

void SimClient::stall(DeviceId device, TimePoint at, Duration length) {
  MutexLock lock(mutex_);
  auto& stalls = (*find(device))->stalls;
  stalls.push_back({at, length});
  std::ranges::stable_sort(stalls, {}, &SimDevice::Stall::at);
}

void SimClient::slow(DeviceId device, TimePoint at, double factor) {
  MutexLock lock(mutex_);
  auto& slows = (*find(device))->slows;
  slows.push_back({at, factor});
  std::ranges::stable_sort(slows, {}, &SimDevice::Slow::at);
}

void SimClient::fail_device(DeviceId device, TimePoint at, std::string cause) {
  const TimerQueue::Id timer =
      options_.timers->schedule(at, [this, device, cause = std::move(cause)] {
        const Error error(ErrorCode::kUnavailable,
                          "simulated device " + std::to_string(index(device)) + ": " + cause);
        static_cast<void>(kill(device, error));
      });
  MutexLock lock(mutex_);
  fault_timers_.push_back(timer);
}

Status SimClient::kill(DeviceId device, const Error& cause) {
  MILLRACE_TRY(SimDevice * failing, find(device));
  // What the device was doing fails with the same fact as what its actor refuses later.
  const Error error =
      cause.with_detail(DeviceFailure{device, cause, options_.timers->clock().now()});
  std::vector<Ref<SimLaunch>> launches;
  Promise<void> failed;
  {
    MutexLock lock(mutex_);
    if (failing->failure) return {};
    failing->failure = error;
    launches = failing->queue;
    if (failing->running != nullptr) launches.push_back(Ref<SimLaunch>::share(failing->running));
    failed = std::move(failing->failed_promise);
  }
  note({.kind = SimEvent::Kind::kDeviceFailed, .device = device});
  if (failed.valid()) failed.set_error(error);  // first: whoever hears of a launch may ask
  for (const Ref<SimLaunch>& launch : launches) launch->finish(std::unexpected(error));
  return {};
}

Status SimClient::restart(DeviceId device) {
  check_scope({&device, 1}, "restart");
  MILLRACE_TRY(SimDevice * target, find(device));
  if (scope_.closing()) return std::unexpected(scope_.closed_error());
  {
    MutexLock lock(mutex_);
    if (!target->failure) {
      return millrace::fail(ErrorCode::kFailedPrecondition,
                            "simulated device " + std::to_string(index(device)) +
                                " was not restarted: it has not failed");
    }
    MILLRACE_CHECK(target->running == nullptr && target->queue.empty(),
                   "a device is restarted when nothing of it is in flight");
    target->failure.reset();
    target->failed_promise = Promise<void>();
    target->failed = target->failed_promise.future();
    target->lane_free = {};
  }
  target->lose_memory();
  note({.kind = SimEvent::Kind::kDeviceRestarted, .device = device});
  return {};
}

Result<Executable> SimClient::compile(const Program& program, const CompileOptions& /*options*/) {
  return load(program.code());
}

Result<Executable> SimClient::load(std::string_view serialized) {
  std::string known;
  if (serialized.starts_with(kPrefix)) {
    MutexLock lock(mutex_);
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
    return fail(ErrorCode::kInvalidArgument, "simulated device " + std::to_string(index(device)) +
                                                 " has no memory " + std::to_string(memory));
  }
  if (!target->has_room(view.shape.size_bytes(), options_.memory_bytes)) {
    return fail(ErrorCode::kResourceExhausted, "no memory for a put of " + view.shape.to_string() +
                                                   " on simulated device " +
                                                   std::to_string(index(device)));
  }
  std::optional<Error> scripted;
  {
    MutexLock lock(mutex_);
    if (target->failure) return std::unexpected(*target->failure);
    if (const Error* error = SimDevice::find(target->put_faults, ++target->puts)) scripted = *error;
  }
  Scope::Hold hold = scope_.hold();
  if (!hold) return std::unexpected(scope_.closed_error());
  if (options_.zero_copy && options_.keep_bytes &&
      semantics >= HostBufferSemantics::kImmutableZeroCopy && is_dense(view) && !scripted) {
    auto bytes = make_ref<SimBytes>(view.data, view.shape.size_bytes(), view.owner);
    Future<void> released = bytes->released();
    auto buffer = make_ref<SimBuffer>(*this, device, view.shape, std::move(bytes));
    buffer->complete({});
    return PutResult{Buffer(std::move(buffer)), std::move(released)};
  }
  auto buffer = make_ref<SimBuffer>(*this, device, view.shape, make_bytes(view.shape));
  HostView source = view;
  const bool now = semantics == HostBufferSemantics::kImmutableOnlyDuringCall;
  if (now) {
    if (options_.keep_bytes) copy_dense(view, buffer->bytes()->span().data());
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
    uses_after_removal_.fetch_add(1);
    return fail(ErrorCode::kFailedPrecondition,
                "a copy of " + from.shape().to_string() + ", which was donated or removed before");
  }
  {
    MutexLock lock(mutex_);
    if (target->failure) return std::unexpected(*target->failure);
  }
  Scope::Hold hold = scope_.hold();
  if (!hold) return std::unexpected(scope_.closed_error());
  auto buffer = make_ref<SimBuffer>(*this, device, from.shape(), make_bytes(from.shape()));
  make_ref<SimTransfer>(*this, *target, std::move(hold))
      ->copy(Ref<SimBuffer>::share(&from), buffer);
  return Buffer(std::move(buffer));
}

Result<MemoryStats> SimClient::memory_stats(DeviceId device) const {
  MILLRACE_TRY(const SimDevice* found, find(device));
  return found->memory(options_.memory_bytes);
}

Future<void> SimClient::failed(DeviceId device) const {
  const Result<SimDevice*> found = find(device);
  if (!found) return {};
  MutexLock lock(mutex_);
  return (*found)->failed;
}

std::optional<Duration> SimClient::busy_time(DeviceId device) const {
  const Result<SimDevice*> found = find(device);
  if (!found) return std::nullopt;
  MutexLock lock(mutex_);
  return (*found)->busy;
}

Future<void> SimClient::close() {
  std::vector<TimerQueue::Id> timers;
  std::vector<Promise<void>> failed;
  {
    MutexLock lock(mutex_);
    timers.swap(fault_timers_);
    for (const auto& device : devices_) failed.push_back(std::move(device->failed_promise));
  }
  for (const TimerQueue::Id& timer : timers) options_.timers->cancel(timer);
  for (Promise<void>& promise : failed) {
    if (promise.valid()) promise.set_value();
  }
  return scope_.close();
}

}  // namespace millrace::devices::sim
