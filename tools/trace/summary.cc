#include "millrace/tools/trace/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"

namespace millrace::trace {
namespace {

// The percentile of a list in order, nearest rank; 0 for an empty one.
std::int64_t percentile(const std::vector<std::int64_t>& sorted, double p) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

struct Part {
  std::int64_t begin, end;
};

// Length of what the parts cover; sorts them.
std::int64_t covered(std::vector<Part>& parts) {
  std::ranges::sort(parts, {}, &Part::begin);
  std::int64_t total = 0;
  std::int64_t until = INT64_MIN;
  for (const Part& part : parts) {
    total += std::max<std::int64_t>(0, part.end - std::max(part.begin, until));
    until = std::max(until, part.end);
  }
  return total;
}

// What lies in the window, per lane.
std::vector<LaneSummary> lane_summaries(const Timeline& timeline, const Window& window) {
  struct Gathered {
    std::vector<Part> parts;
    std::map<std::string, std::vector<std::int64_t>> by_name;
    std::uint32_t rows = 0;
  };
  std::vector<Gathered> gathered(timeline.lanes.size());
  for (const Slice& slice : timeline.slices) {
    if (slice.end < window.from || slice.begin > window.to) continue;
    const Part part{std::max(slice.begin, window.from), std::min(slice.end, window.to)};
    Gathered& lane = gathered[slice.lane];
    lane.parts.push_back(part);
    lane.by_name[short_name(timeline.names[slice.name])].push_back(part.end - part.begin);
    lane.rows = std::max(lane.rows, slice.row + 1);
  }
  std::vector<LaneSummary> lanes;
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    Gathered& from = gathered[i];
    if (from.parts.empty()) continue;
    LaneSummary lane{.name = timeline.lanes[i],
                     .count = from.parts.size(),
                     .busy = covered(from.parts),
                     .rows = static_cast<int>(from.rows)};
    for (auto& [name, times] : from.by_name) {
      std::ranges::sort(times);
      std::int64_t total = 0;
      for (const std::int64_t time : times) total += time;
      lane.events.push_back({.name = name,
                             .count = times.size(),
                             .total = total,
                             .median = percentile(times, 0.5),
                             .longest = times.back()});
    }
    std::ranges::stable_sort(lane.events, std::greater(), &EventSummary::total);
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

// A batch's stay on a lane: its events there that follow each other.
struct Stay {
  std::uint32_t lane;
  std::int64_t begin, end;
};

std::vector<WaitSummary> wait_summaries(const Timeline& timeline, const Window& window) {
  std::map<std::uint64_t, std::vector<Stay>> ways;
  for (const Slice& slice : timeline.slices) {  // in order of their begins
    if (slice.begin < window.from || slice.end > window.to) continue;
    for (const std::uint64_t flow : slice.flows) {
      std::vector<Stay>& way = ways[flow];
      if (!way.empty() && way.back().lane == slice.lane) {
        way.back().end = std::max(way.back().end, slice.end);
      } else {
        way.push_back({slice.lane, slice.begin, slice.end});
      }
    }
  }
  struct Edge {
    std::vector<std::int64_t> waits;
    std::size_t places = 0;  // sum of where on their ways they were met
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Edge> edges;
  for (const auto& [flow, way] : ways) {
    for (std::size_t i = 1; i < way.size(); ++i) {
      Edge& edge = edges[{way[i - 1].lane, way[i].lane}];
      edge.waits.push_back(way[i].begin - way[i - 1].end);
      edge.places += i;
    }
  }
  std::vector<std::pair<double, WaitSummary>> placed;
  for (auto& [lanes, edge] : edges) {
    std::ranges::sort(edge.waits);
    placed.emplace_back(static_cast<double>(edge.places) / static_cast<double>(edge.waits.size()),
                        WaitSummary{.from = timeline.lanes[lanes.first],
                                    .to = timeline.lanes[lanes.second],
                                    .count = edge.waits.size(),
                                    .median = percentile(edge.waits, 0.5),
                                    .p90 = percentile(edge.waits, 0.9),
                                    .longest = edge.waits.back()});
  }
  std::ranges::stable_sort(placed, {}, &std::pair<double, WaitSummary>::first);
  std::vector<WaitSummary> waits;
  for (auto& [place, wait] : placed) waits.push_back(std::move(wait));
  return waits;
}

std::string share(std::int64_t part, std::int64_t whole) {
  return printed("%.1f %%",
                 whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}

// Columns: the first two to the left, the others to the right.
class Table {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string blanks(widths[c] - row[c].size(), ' ');
        line += (c > 0 ? "  " : "") + (c < 2 ? row[c] + blanks : blanks + row[c]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace

std::string time_text(std::int64_t nanoseconds) {
  const double size = std::abs(static_cast<double>(nanoseconds));
  const auto [unit, name] = size >= 1e9   ? std::pair(1e9, "s")
                            : size >= 1e6 ? std::pair(1e6, "ms")
                            : size >= 1e3 ? std::pair(1e3, "us")
                                          : std::pair(1.0, "ns");
  const double value = static_cast<double>(nanoseconds) / unit;
  const int digits = unit == 1.0 || std::abs(value) >= 100 ? 0 : std::abs(value) >= 10 ? 1 : 2;
  return printed("%.*f %s", digits, value, name);
}

Summary summarize(const Timeline& timeline, const Window& window) {
  const Window inside{std::max<std::int64_t>(window.from, 0), std::min(window.to, timeline.end)};
  return {.length = std::max<std::int64_t>(inside.to - inside.from, 0),
          .lanes = lane_summaries(timeline, inside),
          .waits = wait_summaries(timeline, inside)};
}

std::string Summary::to_text(std::size_t events_per_lane) const {
  Table table;
  table.add({"lane", "event", "count", "total", "of time", "median", "longest"});
  for (const LaneSummary& lane : lanes) {
    table.add({lane.name, "busy", std::to_string(lane.count), time_text(lane.busy),
               share(lane.busy, length)});
    const std::size_t shown = std::min(lane.events.size(), events_per_lane);
    for (std::size_t i = 0; i < shown; ++i) {
      const EventSummary& e = lane.events[i];
      table.add({"", e.name, std::to_string(e.count), time_text(e.total), share(e.total, length),
                 time_text(e.median), time_text(e.longest)});
    }
    if (shown < lane.events.size())
      table.add({"", "and " + std::to_string(lane.events.size() - shown) + " other kinds"});
  }
  std::string text = time_text(length) + " on " + std::to_string(lanes.size()) +
                     (lanes.size() == 1 ? " lane\n\n" : " lanes\n\n") + table.text();
  if (waits.empty()) return text;
  Table way;
  way.add({"a batch waits from", "to", "count", "median", "90 %", "longest"});
  for (const WaitSummary& w : waits) {
    way.add({w.from, w.to, std::to_string(w.count), time_text(w.median), time_text(w.p90),
             time_text(w.longest)});
  }
  return text + "\n" + way.text() + "A negative wait is an overlap: the next began before.\n";
}

std::string Summary::to_json() const {
  using Json = nlohmann::ordered_json;
  Json lane_list = Json::array();
  for (const LaneSummary& lane : lanes) {
    Json events = Json::array();
    for (const EventSummary& e : lane.events) {
      events.push_back({{"name", e.name},
                        {"count", e.count},
                        {"total_ns", e.total},
                        {"median_ns", e.median},
                        {"longest_ns", e.longest}});
    }
    lane_list.push_back({{"name", lane.name},
                         {"count", lane.count},
                         {"busy_ns", lane.busy},
                         {"idle_ns", length - lane.busy},
                         {"rows", lane.rows},
                         {"events", events}});
  }
  Json wait_list = Json::array();
  for (const WaitSummary& w : waits) {
    wait_list.push_back({{"from", w.from},
                         {"to", w.to},
                         {"count", w.count},
                         {"median_ns", w.median},
                         {"p90_ns", w.p90},
                         {"longest_ns", w.longest}});
  }
  const Json json = {
      {"schema", 1}, {"length_ns", length}, {"lanes", lane_list}, {"waits", wait_list}};
  return json_text(json);
}

}  // namespace millrace::trace
