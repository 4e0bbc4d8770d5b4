#include "millrace/tools/train/step_watch.h"

#include <charconv>

namespace millrace::train {
namespace {

// The device of "batch 3" for the prefix "batch ".
std::optional<std::size_t> device_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::size_t device = 0;
  const auto [end, error] =
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), device);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return device;
}

}  // namespace

void StepWatch::node_finished(std::uint64_t run, std::uint32_t /*slot*/, std::string_view name,
                              const Error* error) noexcept {
  if (error != nullptr) {
    {
      MutexLock lock(mutex_);
      if (error_ || error->code() == ErrorCode::kCancelled) return;
      error_ = *error;
    }
    post(executor_, [stop = stop_]() mutable { stop.request_stop(); });
    return;
  }
  if (const auto device = device_of(name, "batch ")) {
    MutexLock lock(mutex_);
    Device& d = devices_[*device];
    if (d.run == run) d.waited += clock_.now() - d.params_at;
  } else if (const auto next = device_of(name, "params out ")) {
    MutexLock lock(mutex_);
    devices_[*next].run = run + 1;
    devices_[*next].params_at = clock_.now();
  }
}

std::optional<Error> StepWatch::first_error() const {
  MutexLock lock(mutex_);
  return error_;
}

std::vector<Duration> StepWatch::data_waits() const {
  std::vector<Duration> waits;
  MutexLock lock(mutex_);
  for (const Device& device : devices_) waits.push_back(device.waited);
  return waits;
}

}  // namespace millrace::train
