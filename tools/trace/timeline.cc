#include "millrace/tools/trace/timeline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include <google/protobuf/io/coded_stream.h>

#include "millrace/transfer/formats/file.h"
#include "perfetto.pb.h"

namespace millrace::trace {
namespace {

// A packet's field in the list that a trace is: number 1, with a length.
constexpr std::uint32_t kPacketTag = 1 << 3 | 2;

class Reader {
 public:
  Result<Timeline> read(std::string_view bytes);

 private:
  struct Track {
    std::string name;
    std::uint64_t parent = 0;
    int rank = 0;
    std::vector<std::size_t> open;  // slices without an end
    std::optional<std::uint32_t> lane;
    std::uint32_t row = 0;
  };
  struct RankLane {
    std::uint64_t process = 0;  // its track; 0: of none
    std::string name;
    int rank = 0;
    std::uint32_t rows = 0;
  };
  using Names = std::map<std::uint64_t, std::string>;  // that one writer has interned

  void take(const wire::TracePacket& packet);
  void take(const wire::TrackDescriptor& track);
  void begin(const wire::TrackEvent& event, std::int64_t time, const Names& interned);
  void end(std::uint64_t track, std::int64_t time);
  Track& placed(std::uint64_t id);
  std::uint32_t name(const std::string& text);
  void order_lanes();
  void finish();

  Timeline timeline_;
  std::map<std::uint64_t, Track> tracks_;
  std::map<std::uint32_t, Names> sequences_;
  std::map<std::string, std::uint32_t> names_;
  std::map<std::pair<std::uint64_t, std::string>, std::uint32_t> lane_numbers_;
  std::vector<RankLane> lanes_;
  std::map<std::uint64_t, int> processes_;  // by track, in the order in which they come
  std::int64_t last_ = 0;
};

Result<Timeline> Reader::read(std::string_view bytes) {
  std::size_t at = 0;
  wire::TracePacket packet;
  while (at < bytes.size()) {
    google::protobuf::io::CodedInputStream in(
        reinterpret_cast<const std::uint8_t*>(bytes.data() + at),
        static_cast<int>(std::min<std::size_t>(bytes.size() - at, INT32_MAX)));
    std::uint32_t length = 0;
    if (in.ReadTag() != kPacketTag) {
      return fail(ErrorCode::kInvalidArgument,
                  "no Perfetto trace: there is something else at byte " + std::to_string(at));
    }
    if (!in.ReadVarint32(&length)) {
      timeline_.cut_short = true;
      break;
    }
    at += static_cast<std::size_t>(in.CurrentPosition());
    if (length > bytes.size() - at) {
      timeline_.cut_short = true;
      break;
    }
    if (length > INT32_MAX || !packet.ParseFromArray(bytes.data() + at, static_cast<int>(length))) {
      return fail(ErrorCode::kInvalidArgument,
                  "no Perfetto trace: the packet at byte " + std::to_string(at) + " is damaged");
    }
    take(packet);
    at += length;
  }
  if (timeline_.slices.empty()) {
    return fail(ErrorCode::kInvalidArgument, "there are no track events in it");
  }
  finish();
  return std::move(timeline_);
}

void Reader::take(const wire::TracePacket& packet) {
  Names& interned = sequences_[packet.sequence()];
  if ((packet.flags() & wire::TracePacket::STATE_CLEARED) != 0) interned.clear();
  for (const wire::Name& name : packet.interned().event_names()) interned[name.id()] = name.name();
  if (packet.has_track()) take(packet.track());
  if (!packet.has_event()) return;
  const auto time =
      static_cast<std::int64_t>(std::min<std::uint64_t>(packet.timestamp(), INT64_MAX));
  const wire::TrackEvent& event = packet.event();
  switch (event.type()) {
    case wire::TrackEvent::BEGIN:
      return begin(event, time, interned);
    case wire::TrackEvent::END:
      return end(event.track(), time);
    case wire::TrackEvent::INSTANT:
      if (event.name() != "events lost") return;
      for (const wire::Annotation& a : event.annotations()) timeline_.lost += a.uint_value();
      return;
    default:
      return;
  }
}

void Reader::take(const wire::TrackDescriptor& track) {
  Track& known = tracks_[track.uuid()];
  if (track.has_process())
    processes_.try_emplace(track.uuid(), static_cast<int>(processes_.size()));
  known.name = track.has_process() ? track.process().name() : track.name();
  known.parent = track.parent();
  known.rank = track.rank();
}

std::uint32_t Reader::name(const std::string& text) {
  const auto [known, fresh] = names_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
  if (fresh) timeline_.names.push_back(text);
  return known->second;
}

// The track, with its lane and row: tracks of one name under one parent are rows of a lane.
Reader::Track& Reader::placed(std::uint64_t id) {
  Track& track = tracks_[id];
  if (track.lane) return track;
  std::string text = track.name.empty() ? "track " + std::to_string(id) : track.name;
  const std::uint64_t process = processes_.contains(track.parent) ? track.parent : 0;
  const auto [known, fresh] = lane_numbers_.try_emplace(std::pair(process, text),
                                                        static_cast<std::uint32_t>(lanes_.size()));
  if (fresh) lanes_.push_back({.process = process, .name = std::move(text), .rank = track.rank});
  track.lane = known->second;
  track.row = lanes_[known->second].rows++;
  return track;
}

void Reader::begin(const wire::TrackEvent& event, std::int64_t time, const Names& interned) {
  Track& track = placed(event.track());
  Slice slice;
  slice.lane = *track.lane;
  slice.row = track.row;
  slice.begin = time;
  slice.end = -1;
  if (event.has_name()) {
    slice.name = name(event.name());
  } else {
    const auto known = interned.find(event.name_id());
    slice.name = name(known != interned.end() ? known->second : "?");
  }
  slice.flows.assign(event.flows().begin(), event.flows().end());
  for (const wire::Annotation& a : event.annotations()) {
    if (a.has_int_value()) slice.value = a.int_value();
  }
  track.open.push_back(timeline_.slices.size());
  timeline_.slices.push_back(std::move(slice));
  last_ = std::max(last_, time);
}

void Reader::end(std::uint64_t id, std::int64_t time) {
  Track& track = tracks_[id];
  last_ = std::max(last_, time);
  if (track.open.empty()) return;  // its begin was lost
  Slice& slice = timeline_.slices[track.open.back()];
  slice.end = std::max(slice.begin, time);
  track.open.pop_back();
}

// By process, by rank, then by appearance. Of several processes, each lane has its own's name.
void Reader::order_lanes() {
  for (const RankLane& lane : lanes_) {
    const std::string owner = processes_.size() > 1 ? tracks_[lane.process].name : "";
    timeline_.lanes.push_back(owner.empty() ? lane.name : owner + ": " + lane.name);
  }
  const auto place_of = [this](std::uint32_t lane) {
    const auto process = processes_.find(lanes_[lane].process);
    return std::tuple(process != processes_.end() ? process->second : -1, lanes_[lane].rank, lane);
  };
  std::vector<std::uint32_t> order(lanes_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, place_of);
  std::vector<std::uint32_t> place(order.size());
  std::vector<std::string> lanes(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<std::uint32_t>(i);
    lanes[i] = timeline_.lanes[order[i]];
  }
  timeline_.lanes = std::move(lanes);
  for (Slice& slice : timeline_.slices) slice.lane = place[slice.lane];
}

void Reader::finish() {
  order_lanes();
  std::vector<Slice>& slices = timeline_.slices;
  std::int64_t first = slices.front().begin;
  for (const Slice& slice : slices) first = std::min(first, slice.begin);
  for (Slice& slice : slices) {
    if (slice.end < 0) {
      slice.end = last_;
      ++timeline_.unended;
    }
    slice.begin -= first;
    slice.end -= first;
    timeline_.end = std::max(timeline_.end, slice.end);
  }
  std::ranges::sort(slices, {},
                    [](const Slice& s) { return std::tuple(s.begin, s.lane, s.row, s.end); });
}

}  // namespace

std::optional<std::uint32_t> Timeline::find_lane(std::string_view text) const {
  const auto found = std::ranges::find(lanes, text);
  if (found == lanes.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - lanes.begin());
}

Result<Timeline> parse_timeline(std::string_view bytes) { return Reader().read(bytes); }

Result<Timeline> read_timeline(const std::string& path) {
  MILLRACE_TRY(const transfer::File file, transfer::File::open(path));
  MILLRACE_TRY(const transfer::MappedFile mapped, transfer::MappedFile::map(file));
  const std::span<const std::byte> bytes = mapped.bytes();
  Result<Timeline> timeline =
      parse_timeline({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!timeline) return std::unexpected(timeline.error().with_context("the trace " + path));
  return timeline;
}

std::string short_name(std::string_view name) {
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  for (const std::string_view ending : {".mlir", ".mlirbc", ".stablehlo"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return std::string(name);
}

}  // namespace millrace::trace
