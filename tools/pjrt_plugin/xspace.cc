#include "millrace/tools/pjrt_plugin/xspace.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "xla.pb.h"

namespace millrace::pjrt_plugin {
namespace {

namespace proto = millrace::pjrt;

constexpr std::int64_t kOrdinal = 1;  // the number of the value device_ordinal in a plane
constexpr std::int64_t kPicoseconds = 1000;

// The plane of one device, as it is filled. Times count from its first event.
class Plane {
 public:
  Plane(proto::XPlane& plane, int device, std::int64_t begin_ns)
      : plane_(plane), device_(device), begin_ns_(begin_ns) {
    plane_.set_id(device);
    plane_.set_name("/device:CUSTOM:CPU:" + std::to_string(device));
    proto::XStatMetadata& ordinal = (*plane_.mutable_stat_metadata())[kOrdinal];
    ordinal.set_id(kOrdinal);
    ordinal.set_name("device_ordinal");
  }

  void add(const DeviceEvent& event) {
    proto::XEvent& made = *line(event.kind).add_events();
    made.set_metadata_id(name(event.name));
    made.set_offset_ps((event.begin_ns - begin_ns_) * kPicoseconds);
    made.set_duration_ps(event.duration_ns * kPicoseconds);
    proto::XStat& ordinal = *made.add_stats();
    ordinal.set_metadata_id(kOrdinal);
    ordinal.set_int64_value(device_);
  }

 private:
  proto::XLine& line(DeviceEvent::Kind kind) {
    const auto [place, is_new] = lines_.try_emplace(kind, plane_.lines_size());
    if (!is_new) return *plane_.mutable_lines(place->second);
    proto::XLine& made = *plane_.add_lines();
    made.set_id(kind == DeviceEvent::Kind::kProgram ? 1 : 2);
    made.set_name(kind == DeviceEvent::Kind::kProgram ? "Programs" : "Puts");
    made.set_timestamp_ns(begin_ns_);
    return made;
  }
  std::int64_t name(const std::string& text) {
    const auto next = static_cast<std::int64_t>(names_.size()) + 1;
    const auto [place, is_new] = names_.try_emplace(text, next);
    if (is_new) {
      proto::XEventMetadata& made = (*plane_.mutable_event_metadata())[next];
      made.set_id(next);
      made.set_name(text);
    }
    return place->second;
  }

  proto::XPlane& plane_;
  const int device_;
  const std::int64_t begin_ns_;
  std::map<DeviceEvent::Kind, int> lines_;
  std::map<std::string, std::int64_t> names_;
};

}  // namespace

std::string write_xspace(const DeviceEvents& recorded) {
  proto::XSpace space;
  std::map<int, Plane> planes;
  for (const DeviceEvent& event : recorded.events) {
    auto found = planes.find(event.device);
    if (found == planes.end()) {
      found = planes.emplace(event.device, Plane(*space.add_planes(), event.device, event.begin_ns))
                  .first;
    }
    found->second.add(event);
  }
  if (recorded.lost != 0) {
    space.add_warnings(std::to_string(recorded.lost) +
                       " of the earliest events made room for newer ones: record less at a time");
  }
  return space.SerializeAsString();
}

}  // namespace millrace::pjrt_plugin
