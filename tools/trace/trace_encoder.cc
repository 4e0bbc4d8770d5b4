#include "millrace/tools/trace/trace_encoder.h"

#include <algorithm>

#include "millrace/tools/trace/timeline.h"
#include "perfetto.pb.h"

namespace millrace::trace {
namespace {

constexpr std::uint32_t kFirstSequence = 1;
constexpr std::uint64_t kValueName = 1;

// Every row of every lane has a track. Rows beyond share the last one.
constexpr std::size_t kMostRows = 256;
std::uint64_t process_track(std::uint32_t part) { return std::uint64_t{part} << 32 | 1; }
std::uint64_t track_id(std::uint32_t part, std::size_t lane, std::size_t row) {
  return std::uint64_t{part} << 32 | ((lane + 1) * kMostRows + row + 1);
}

std::uint64_t nanoseconds(TimePoint time) {
  return static_cast<std::uint64_t>(
      std::max<Duration::rep>(Duration(time.time_since_epoch()).count(), 0));
}

wire::TracePacket& packet(wire::Trace& trace, std::uint32_t part) {
  wire::TracePacket& added = *trace.add_packet();
  added.set_sequence(kFirstSequence + part);
  return added;
}

wire::TrackEvent& event(wire::Trace& trace, std::uint64_t time, wire::TrackEvent::Type type,
                        std::uint64_t track) {
  wire::TracePacket& added = packet(trace, static_cast<std::uint32_t>(track >> 32));
  added.set_timestamp(time);
  added.set_flags(wire::TracePacket::NEEDS_STATE);
  added.mutable_event()->set_type(type);
  added.mutable_event()->set_track(track);
  return *added.mutable_event();
}

void add_track(wire::Trace& trace, std::uint32_t part, std::size_t lane, std::size_t row,
               const std::string& name) {
  wire::TrackDescriptor& track = *packet(trace, part).mutable_track();
  track.set_uuid(track_id(part, lane, row));
  track.set_parent(process_track(part));
  track.set_name(name);
  track.set_rank(static_cast<std::int32_t>(lane));
}

}  // namespace

void TraceEncoder::begin(const std::string& process, int pid, std::string& bytes,
                         std::uint32_t part) {
  part_ = part;
  wire::Trace trace;
  wire::TracePacket& first = packet(trace, part_);
  first.set_flags(wire::TracePacket::STATE_CLEARED);
  wire::TrackDescriptor& track = *first.mutable_track();
  track.set_uuid(process_track(part_));
  track.set_order_of_children(wire::TrackDescriptor::EXPLICIT);
  track.mutable_process()->set_pid(pid);
  track.mutable_process()->set_name(process);
  wire::TracePacket& names = packet(trace, part_);
  names.set_flags(wire::TracePacket::NEEDS_STATE);
  wire::Name& value = *names.mutable_interned()->add_annotation_names();
  value.set_id(kValueName);
  value.set_name("value");
  trace.AppendToString(&bytes);
}

TraceEncoder::LaneTracks& TraceEncoder::lane(TraceLane lane) {
  const auto index = static_cast<std::size_t>(lane);
  if (index >= lanes_.size()) lanes_.resize(index + 1);
  LaneTracks& found = lanes_[index];
  if (!found.named) found.text = recorder_.lane_text(lane);
  found.named = true;
  return found;
}

void TraceEncoder::add(const TraceBatch& batch, std::string& bytes) {
  wire::Trace trace;
  if (batch.lost > 0) {
    const std::uint64_t time = batch.events.empty() ? 0 : nanoseconds(batch.events.front().begin);
    wire::TrackEvent& lost = event(trace, time, wire::TrackEvent::INSTANT, process_track(part_));
    lost.set_name("events lost");
    wire::Annotation& count = *lost.add_annotations();
    count.set_name("count");
    count.set_uint_value(batch.lost);
  }
  for (const TraceEvent& e : batch.events) {
    const auto name = static_cast<std::size_t>(e.name);
    if (name >= names_.size()) names_.resize(name + 1);
    if (!names_[name]) {
      names_[name] = true;
      wire::TracePacket& added = packet(trace, part_);
      added.set_flags(wire::TracePacket::NEEDS_STATE);
      wire::Name& interned = *added.mutable_interned()->add_event_names();
      interned.set_id(name + 1);
      interned.set_name(short_name(recorder_.name_text(e.name)));
    }
    // The first row that is free when it begins.
    const auto lane_index = static_cast<std::size_t>(e.lane);
    LaneTracks& lane = this->lane(e.lane);
    const std::uint64_t begin = nanoseconds(e.begin);
    const std::uint64_t end = std::max(begin, nanoseconds(e.end));
    const auto free =
        std::ranges::find_if(lane.free_from, [&](std::uint64_t from) { return from <= begin; });
    auto row = static_cast<std::size_t>(free - lane.free_from.begin());
    if (row == lane.free_from.size() && row < kMostRows) {
      lane.free_from.push_back(end);
      add_track(trace, part_, lane_index, row, lane.text);
    }
    row = std::min(row, kMostRows - 1);
    lane.free_from[row] = std::max(lane.free_from[row], end);

    const std::uint64_t track = track_id(part_, lane_index, row);
    wire::TrackEvent& begun = event(trace, begin, wire::TrackEvent::BEGIN, track);
    begun.set_name_id(name + 1);
    if (e.flow != 0) {
      for (std::uint64_t f = 0; f < e.flows; ++f) begun.add_flows(e.flow + f);
    }
    if (e.value != 0) {
      wire::Annotation& value = *begun.add_annotations();
      value.set_name_id(kValueName);
      value.set_int_value(e.value);
    }
    event(trace, end, wire::TrackEvent::END, track);
  }
  trace.AppendToString(&bytes);
}

}  // namespace millrace::trace
