#include "millrace/tools/pjrt_plugin/run_recording.h"

#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace millrace::pjrt_plugin {
namespace {

constexpr std::string_view kDevice = "device ", kPuts = " puts";

std::int64_t nanoseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

// What a lane is of: "device 3", "device 3 puts" (devices/cpu/devices.h).
std::optional<std::pair<int, DeviceEvent::Kind>> parse_lane(std::string_view lane) {
  const bool is_put = lane.ends_with(kPuts);
  if (is_put) lane.remove_suffix(kPuts.size());
  if (!lane.starts_with(kDevice)) return std::nullopt;
  lane.remove_prefix(kDevice.size());
  int device = 0;
  const auto [end, problem] = std::from_chars(lane.data(), lane.data() + lane.size(), device);
  if (problem != std::errc() || end != lane.data() + lane.size()) return std::nullopt;
  return std::pair(device, is_put ? DeviceEvent::Kind::kPut : DeviceEvent::Kind::kProgram);
}

}  // namespace

RunRecording& RunRecording::of_process() {
  static auto* const recording = new RunRecording;
  return *recording;
}

Status RunRecording::begin() {
  MutexLock lock(mutex_);
  if (is_on_.load()) {
    return fail(ErrorCode::kFailedPrecondition,
                "another session of the profiler records: stop it first");
  }
  static_cast<void>(recorder_.events_since(cursor_));  // those of earlier sessions
  is_on_.store(true);
  return {};
}

DeviceEvents RunRecording::end() {
  MutexLock lock(mutex_);
  is_on_.store(false);
  const TraceBatch batch = recorder_.events_since(cursor_);
  const std::int64_t since_1970 = nanoseconds(std::chrono::system_clock::now().time_since_epoch()) -
                                  nanoseconds(recorder_.now().time_since_epoch());
  DeviceEvents recorded{.events = {}, .lost = batch.lost};
  recorded.events.reserve(batch.events.size());
  for (const TraceEvent& event : batch.events) {
    const auto lane = parse_lane(recorder_.lane_text(event.lane));
    if (!lane) continue;
    recorded.events.push_back({.device = lane->first,
                               .kind = lane->second,
                               .name = recorder_.name_text(event.name),
                               .begin_ns = nanoseconds(event.begin.time_since_epoch()) + since_1970,
                               .duration_ns = nanoseconds(event.end - event.begin)});
  }
  return recorded;
}

}  // namespace millrace::pjrt_plugin
