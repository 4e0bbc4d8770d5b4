#include "millrace/tools/pjrt_plugin/client.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/cores.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/tools/pjrt_plugin/event.h"
#include "millrace/tools/pjrt_plugin/run_recording.h"

namespace millrace::devices::pjrt::abi {

Device::Device(pjrt_plugin::ClientBody& client, DeviceDescription& of)
    : body(client), description(of) {
  for (int kind = 0; kind < static_cast<int>(std::size(pjrt_plugin::kMemoryKinds)); ++kind) {
    memories.push_back(std::make_unique<Memory>(this, of.id, kind));
    memory_list.push_back(memories.back().get());
  }
}

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

// A program that takes less runs on the thread that launches it: a wake-up would cost more.
constexpr Duration kInlineTime = std::chrono::microseconds(20);

}  // namespace

ClientBody::ClientBody(const CreateOptions& options)
    : process_(::getpid()),
      parts_(std::make_unique<Parts>()),
      topology_(options.platform_name, options.devices) {
  const int threads = options.threads != 0 ? options.threads : usable_cores();
  parts_->threads = make_executor(default_compute_backend(), threads, "millrace-work");
  devices::cpu::CpuClientOptions made{.trace = &RunRecording::of_process().recorder(),
                                      .trace_switch = &RunRecording::of_process().is_on(),
                                      .inline_time = kInlineTime,
                                      .compile = &devices::cpu::compile};
  // All devices share the threads: what one leaves idle another may use.
  made.threads.assign(
      static_cast<std::size_t>(options.devices),
      {.executor = parts_->threads.get(), .parallel = &parts_->threads->parallel()});
  parts_->cpu = std::make_unique<devices::cpu::CpuClient>(std::move(made));
  for (const auto& description : topology_.devices) {
    devices_.push_back(std::make_unique<abi::Device>(*this, *description));
    device_list_.push_back(devices_.back().get());
    std::ranges::copy(devices_.back()->memory_list, std::back_inserter(memory_list_));
  }
}

// The last holder may be a thread of the client, or part of a launch that is about to end.
ClientBody::~ClientBody() {
  if (is_forked()) {
    static_cast<void>(parts_.release());
    return;
  }
  Future<void> closed = parts_->cpu->close();
  if (!parts_->threads->on_own_thread() && closed.ready()) return;
  std::move(closed).then(callbacks(), [parts = std::move(parts_)](const Result<void>&) {}).ignore();
}

Status ClientBody::check(const abi::Device& device) const {
  if (&device.body == this) return {};
  return fail(ErrorCode::kInvalidArgument, device.description.text + " belongs to another client");
}

bool ClientBody::is_forked() const { return ::getpid() != process_; }

void ClientBody::note_late(const Future<void>& brought) {
  late_->fetch_add(1);
  brought.then(inline_executor(), [late = late_](const Result<void>&) { late->fetch_sub(1); })
      .ignore();
}

void ClientBody::add_end(const void* owner, End end) {
  MutexLock lock(mutex_);
  ends_.emplace(owner, std::move(end));
}

void ClientBody::remove_end(const void* owner) {
  MutexLock lock(mutex_);
  ends_.erase(owner);
}

void ClientBody::call_ends() {
  std::map<const void*, End> ends;
  {
    MutexLock lock(mutex_);
    ends.swap(ends_);
  }
  const Error destroyed(ErrorCode::kUnavailable, "the client was destroyed");
  for (const auto& [owner, end] : ends) end(destroyed);
}

void ClientBody::close() {
  if (is_forked()) return;
  const Future<void> closed = parts_->cpu->close();
  call_ends();
  if (parts_->threads->on_own_thread()) return;
  // Nothing waits for what becomes late from here on, since launches and copies are refused.
  if (late_->load() == 0) static_cast<void>(wait_blocking(closed));
}

}  // namespace millrace::pjrt_plugin
