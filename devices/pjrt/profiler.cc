#include "millrace/devices/pjrt/profiler.h"

#include <chrono>
#include <limits>
#include <utility>

#include "xla.pb.h"

namespace millrace::devices::pjrt {

namespace {

Duration from_picoseconds(std::int64_t picoseconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(picoseconds / 1000));
}

void record_line(const millrace::pjrt::XPlane& plane, const millrace::pjrt::XLine& line,
                 Duration offset, TraceRecorder& trace) {
  const std::string& name = line.display_name().empty() ? line.name() : line.display_name();
  const TraceLane lane = trace.lane(plane.name() + (name.empty() ? "" : " ") + name);
  const TimePoint start(
      std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(line.timestamp_ns())) + offset);
  for (const millrace::pjrt::XEvent& event : line.events()) {
    const auto found = plane.event_metadata().find(event.metadata_id());
    const std::string unnamed = "event " + std::to_string(event.metadata_id());
    const auto* metadata = found != plane.event_metadata().end() ? &found->second : nullptr;
    const std::string& text = metadata == nullptr                ? unnamed
                              : metadata->display_name().empty() ? metadata->name()
                                                                 : metadata->display_name();
    const TimePoint begin = start + from_picoseconds(event.offset_ps());
    trace.record({.lane = lane,
                  .name = trace.name(text),
                  .begin = begin,
                  .end = begin + from_picoseconds(event.duration_ps())});
  }
}

}  // namespace

template <class A>
Status Profiler::call(abi::ProfilerError* (*function)(A*), A& args, OtherCall name) const {
  MILLRACE_TRY(abi::ProfilerError* const error, plugin_.call_extension(function, name, args));
  if (error == nullptr) return {};
  abi::ProfilerErrorMessageArgs message;
  message.error = error;
  if (api_.error_message != nullptr)
    plugin_.quietly("error_message of the profiler", [&] { api_.error_message(&message); });
  std::string text = message.message != nullptr ? std::string(message.message, message.message_size)
                                                : "it gives no message";
  abi::ProfilerErrorDestroyArgs destroy;
  destroy.error = error;
  if (api_.error_destroy != nullptr)
    plugin_.quietly("error_destroy of the profiler", [&] { api_.error_destroy(&destroy); });
  return fail(ErrorCode::kUnavailable,
              std::string(to_string(name)) + " of " + plugin_.name() + ": " + text);
}

Result<std::unique_ptr<Profiler>> Profiler::create(const Plugin& plugin) {
  const auto* extension =
      static_cast<const abi::ProfilerExtension*>(plugin.extension(abi::kProfilerExtension));
  if (extension == nullptr || extension->struct_size < sizeof(abi::ProfilerExtension) ||
      extension->api == nullptr || extension->api->struct_size < sizeof(abi::ProfilerApi)) {
    return fail(ErrorCode::kUnimplemented,
                "the plugin " + plugin.name() + " has no profiler extension");
  }
  std::unique_ptr<Profiler> profiler(new Profiler(plugin, *extension->api));
  millrace::pjrt::ProfileOptions options;
  options.set_version(1);
  options.set_device_tracer_level(1);
  options.set_host_tracer_level(1);
  const std::string written = options.SerializeAsString();
  abi::ProfilerCreateArgs create;
  create.options = written.data();
  create.options_size = written.size();
  MILLRACE_TRY_STATUS(profiler->call(profiler->api_.create, create, OtherCall::kProfilerCreate));
  profiler->handle_ = create.profiler;
  if (profiler->handle_ == nullptr) {
    return fail(ErrorCode::kInternal, std::string(to_string(OtherCall::kProfilerCreate)) + " of " +
                                          plugin.name() + " gives no profiler and no error");
  }
  abi::ProfilerArgs start{.profiler = profiler->handle_};
  MILLRACE_TRY_STATUS(profiler->call(profiler->api_.start, start, OtherCall::kProfilerStart));
  return profiler;
}

Profiler::~Profiler() {
  if (handle_ == nullptr) return;
  abi::ProfilerArgs destroy{.profiler = handle_};
  static_cast<void>(call(api_.destroy, destroy, OtherCall::kProfilerDestroy));
}

Result<std::string> Profiler::finish() {
  abi::ProfilerArgs stop{.profiler = handle_};
  MILLRACE_TRY_STATUS(call(api_.stop, stop, OtherCall::kProfilerStop));
  abi::ProfilerCollectDataArgs collect;
  collect.profiler = handle_;
  MILLRACE_TRY_STATUS(call(api_.collect_data, collect, OtherCall::kProfilerCollect));  // the size
  std::string bytes(collect.buffer_size, '\0');
  if (bytes.empty()) return bytes;
  collect.buffer = reinterpret_cast<std::uint8_t*>(bytes.data());
  MILLRACE_TRY_STATUS(call(api_.collect_data, collect, OtherCall::kProfilerCollect));
  return bytes;
}

Result<std::size_t> record_xspace(std::string_view bytes, Duration offset, TraceRecorder& trace) {
  millrace::pjrt::XSpace space;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !space.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::kDataLoss, "what the profiler has recorded is no XSpace");
  }
  std::size_t events = 0;
  for (const millrace::pjrt::XPlane& plane : space.planes()) {
    for (const millrace::pjrt::XLine& line : plane.lines()) {
      record_line(plane, line, offset, trace);
      events += static_cast<std::size_t>(line.events_size());
    }
  }
  return events;
}

}  // namespace millrace::devices::pjrt
