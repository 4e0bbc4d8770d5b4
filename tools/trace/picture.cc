#include "millrace/tools/trace/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "millrace/core/base/printed.h"
#include "millrace/tools/trace/svg.h"

namespace millrace::trace {
namespace {

constexpr double kWidth = 1280;  // pixels, as all of these
constexpr double kLabels = 204;  // width of the column on the left
constexpr double kRight = 20;
constexpr double kTop = 58;
constexpr double kRow = 22;
constexpr double kRowGap = 3;
constexpr double kLaneGap = 13;
constexpr double kAxis = 40;
constexpr double kLetter = 6.4;  // width of a letter of the text in an event, roughly
constexpr const char* kArrow = "#be123c";

// Hues that keep apart on white, also for eyes that see red and green alike: of lanes, then of the
// events of a device.
constexpr std::array kLoading = {"#5eead4", "#38bdf8", "#818cf8", "#2dd4bf"};
constexpr std::array kCompute = {"#fdba74", "#65a30d", "#f9a8d4", "#facc15", "#fca5a5"};
constexpr std::array kReducing = {"#c084fc", "#e879f9", "#a78bfa"};
constexpr std::array kSteps = {"#e2e8f0", "#f1f5f9"};

enum class Kind { kSteps, kLoading, kDevice, kGroup };

Kind kind_of(std::string_view lane) {
  if (lane == "steps") return Kind::kSteps;
  if (lane.starts_with("loader ")) return Kind::kLoading;
  if (lane.starts_with("group ")) return Kind::kGroup;
  return Kind::kDevice;
}

// The events of one batch, by begin.
using Way = std::vector<const Slice*>;

class Picture {
 public:
  Picture(const Timeline& timeline, const PictureOptions& options)
      : timeline_(timeline), options_(options) {}

  std::string draw() {
    gather_ways();
    choose_window();
    lay_out();
    choose_colors();
    frame();
    axis();
    slices();
    arrows();
    return svg_.document(kWidth, height_);
  }

 private:
  struct LaneBox {
    bool shown = false;
    double top = 0;
    std::uint32_t rows = 1;
    std::int64_t busy = 0;
  };

  double x(std::int64_t time) const {
    return kLabels + (kWidth - kLabels - kRight) * static_cast<double>(time - window_.from) /
                         static_cast<double>(std::max<std::int64_t>(window_.to - window_.from, 1));
  }
  double middle(const Slice& slice) const {
    return lanes_[slice.lane].top + slice.row * (kRow + kRowGap) + kRow / 2;
  }
  bool inside(const Slice& slice) const {
    return lanes_[slice.lane].shown && slice.end >= window_.from && slice.begin <= window_.to;
  }

  void gather_ways();
  void choose_window();
  void lay_out();
  void choose_colors();
  std::string legend_name(const Slice& slice) const;
  void frame();
  void axis();
  void slices();
  void slice(const Slice& slice, std::size_t place);
  void arrows();
  void arrow(const Slice& from, const Slice& to, bool bold);
  const Way* shown_way() const;

  const Timeline& timeline_;
  const PictureOptions& options_;
  std::map<std::uint64_t, Way> ways_;
  Window window_;
  std::vector<LaneBox> lanes_;
  std::map<std::pair<Kind, std::string>, std::string> colors_;  // by kind and name in the legend
  std::vector<std::pair<std::string, std::string>> legend_;     // name, color
  double height_ = 0;
  Svg svg_;
};

void Picture::gather_ways() {
  for (const Slice& slice : timeline_.slices) {
    for (const std::uint64_t flow : slice.flows) ways_[flow].push_back(&slice);
  }
}

// A batch of the middle whose way is as long as most are, with a step's room on both sides.
void Picture::choose_window() {
  if (options_.window) {
    window_ = {std::max<std::int64_t>(options_.window->from, 0),
               std::min(options_.window->to, timeline_.end)};
    return;
  }
  window_ = {0, timeline_.end};
  std::vector<std::size_t> lengths;
  for (const auto& [flow, way] : ways_) lengths.push_back(way.size());
  if (lengths.empty()) return;
  std::ranges::nth_element(lengths,
                           lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2));
  const std::size_t usual = lengths[lengths.size() / 2];
  const auto begin = std::next(ways_.begin(), static_cast<std::ptrdiff_t>(ways_.size() / 2));
  for (auto at = begin; at != ways_.end(); ++at) {
    const Way& way = at->second;
    if (way.size() != usual) continue;
    std::int64_t end = 0;
    for (const Slice* slice : way) end = std::max(end, slice->end);
    const std::int64_t margin = (end - way.front()->begin) / 12;
    window_ = {std::max<std::int64_t>(way.front()->begin - margin, 0),
               std::min(end + margin, timeline_.end)};
    return;
  }
}

void Picture::lay_out() {
  lanes_.resize(timeline_.lanes.size());
  const bool all = options_.all_lanes || ways_.empty();
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    lanes_[i].shown = all || kind_of(timeline_.lanes[i]) == Kind::kSteps;
  for (const auto& [flow, way] : ways_) {
    for (const Slice* slice : way) lanes_[slice->lane].shown = true;
  }
  std::vector<bool> used(lanes_.size());
  for (const Slice& slice : timeline_.slices) {
    if (!inside(slice)) continue;
    used[slice.lane] = true;
    lanes_[slice.lane].rows = std::max(lanes_[slice.lane].rows, slice.row + 1);
  }
  // In the order of a batch's way: steps, loading, devices, what they do together.
  std::vector<std::size_t> order;
  for (const Kind kind : {Kind::kSteps, Kind::kLoading, Kind::kDevice, Kind::kGroup}) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].shown = lanes_[i].shown && used[i];
      if (lanes_[i].shown && kind_of(timeline_.lanes[i]) == kind) order.push_back(i);
    }
  }
  const Summary summary = summarize(timeline_, window_);
  for (const LaneSummary& s : summary.lanes) lanes_[*timeline_.find_lane(s.name)].busy = s.busy;
  double y = kTop;
  for (const std::size_t i : order) {
    lanes_[i].top = y;
    y += lanes_[i].rows * (kRow + kRowGap) - kRowGap + kLaneGap;
  }
  height_ = y + kAxis;
}

// What an event is in the legend: on the loader's lanes its stage, elsewhere its name.
std::string Picture::legend_name(const Slice& slice) const {
  const std::string& lane = timeline_.lanes[slice.lane];
  return kind_of(lane) == Kind::kLoading ? lane.substr(7) : short_name(timeline_.names[slice.name]);
}

// An event has the same color on every device. Stages are in their order, the others by the time
// that they take.
void Picture::choose_colors() {
  struct Entry {
    Kind kind;
    std::string name;
    std::int64_t weight;  // the smaller, the earlier
  };
  std::vector<Entry> entries;
  for (const Slice& slice : timeline_.slices) {
    if (!inside(slice)) continue;
    const Kind kind = kind_of(timeline_.lanes[slice.lane]);
    if (kind == Kind::kSteps) continue;
    const std::string name = legend_name(slice);
    auto known = std::ranges::find_if(
        entries, [&](const Entry& e) { return e.kind == kind && e.name == name; });
    if (known == entries.end()) {
      entries.push_back({kind, name, kind == Kind::kLoading ? slice.lane : 0});
      known = entries.end() - 1;
    }
    if (kind != Kind::kLoading) known->weight -= slice.end - slice.begin;
  }
  std::ranges::stable_sort(entries, {}, [](const Entry& e) { return std::pair(e.kind, e.weight); });
  std::map<Kind, std::size_t> used;
  for (const Entry& entry : entries) {
    const std::size_t i = used[entry.kind]++;
    const auto pick = [i](const auto& palette) { return palette[i % palette.size()]; };
    legend_.push_back({entry.name, entry.kind == Kind::kLoading ? pick(kLoading)
                                   : entry.kind == Kind::kGroup ? pick(kReducing)
                                                                : pick(kCompute)});
    colors_[{entry.kind, entry.name}] = legend_.back().second;
  }
}

void Picture::frame() {
  svg_.raw(
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"6.5\" refY=\"4\" markerWidth=\"4.6\" "
      "markerHeight=\"4.6\" orient=\"auto\"><path d=\"M0 0.8 L7.2 4 L0 7.2 z\" fill=\"" +
      std::string(kArrow) + "\"/></marker></defs>\n");
  const std::int64_t length = window_.to - window_.from;
  svg_.text(20, 30, time_text(length) + " of " + time_text(timeline_.end),
            {.size = "16", .color = kInk, .bold = true});
  // The legend, from the right.
  double right = kWidth - kRight;
  const auto entry = [&](const std::string& text, const std::string& color) {
    right -= 8.0 * 0.86 * static_cast<double>(text.size()) + 6;
    svg_.text(right, 29, text, {.size = "12.5"});
    right -= 19;
    svg_.rect(right, 18, 13, 13, {{"rx", "3"}, {"fill", color}});
    right -= 12;
  };
  if (shown_way() != nullptr) entry("one batch's way", kArrow);
  for (auto at = legend_.rbegin(); at != legend_.rend(); ++at) entry(at->first, at->second);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const LaneBox& lane = lanes_[i];
    if (!lane.shown) continue;
    const double height = lane.rows * (kRow + kRowGap) - kRowGap;
    svg_.rect(kLabels, lane.top - 3, kWidth - kLabels - kRight, height + 6,
              {{"rx", "4"}, {"fill", "#f8fafc"}});
    const bool steps = kind_of(timeline_.lanes[i]) == Kind::kSteps;
    const double center = lane.top + height / 2;
    svg_.text(20, center + (steps ? 4.5 : -0.5), timeline_.lanes[i],
              {.size = "13", .color = kInk, .bold = true});
    if (steps) continue;
    const double share =
        static_cast<double>(lane.busy) / static_cast<double>(std::max<std::int64_t>(length, 1));
    svg_.text(20, center + 12.5, printed("busy %.0f %%", 100 * share), {.size = "11"});
  }
}

void Picture::axis() {
  const std::int64_t length = window_.to - window_.from;
  const std::int64_t tick = tick_length(length);
  const double bottom = height_ - kAxis;
  const auto [unit, name] = tick >= 1'000'000'000 ? std::pair(1e9, "s")
                            : tick >= 1'000'000   ? std::pair(1e6, "ms")
                            : tick >= 1'000       ? std::pair(1e3, "us")
                                                  : std::pair(1.0, "ns");
  for (std::int64_t t = 0; t <= length; t += tick) {
    const double at = x(window_.from + t);
    svg_.line(at, kTop - 6, at, bottom, {{"stroke-width", "1"}});
    svg_.text(at, bottom + 17, svg_number(static_cast<double>(t) / unit) + " " + name,
              {.size = "11.5", .anchor = "middle"});
  }
}

// The batch whose arrows are bold: in the middle of those whose whole way is in the picture.
const Way* Picture::shown_way() const {
  std::vector<const Way*> whole;
  std::size_t longest = 0;
  for (const auto& [flow, way] : ways_) {
    const bool all = std::ranges::all_of(
        way, [this](const Slice* s) { return s->begin >= window_.from && s->end <= window_.to; });
    if (!all || way.size() < 2) continue;
    whole.push_back(&way);
    longest = std::max(longest, way.size());
  }
  std::erase_if(whole, [longest](const Way* way) { return way->size() < longest; });
  return whole.empty() ? nullptr : whole[whole.size() / 2];
}

void Picture::slices() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> drawn;  // by lane and row: up to where
  std::map<std::uint32_t, std::size_t> places;
  for (const Slice& s : timeline_.slices) {
    if (!inside(s)) continue;
    const std::size_t place = places[s.lane]++;
    // What is narrower than half a pixel is drawn only where there is room for it.
    double& until = drawn[{s.lane, s.row}];
    if (x(s.end) - x(s.begin) < 0.5 && x(s.end) < until + 0.5) continue;
    until = x(s.end);
    slice(s, place);
  }
}

void Picture::slice(const Slice& s, std::size_t place) {
  const double left = x(std::max(s.begin, window_.from));
  const double width = std::max(x(std::min(s.end, window_.to)) - left, 1.6);
  const double top = middle(s) - kRow / 2;
  const bool step = kind_of(timeline_.lanes[s.lane]) == Kind::kSteps;
  const std::string color =
      step ? kSteps[place % 2] : colors_.at({kind_of(timeline_.lanes[s.lane]), legend_name(s)});
  svg_.rect(left, top, std::max(width - 0.6, 0.6), kRow,
            {{"rx", width > 6 ? "3" : "0.5"}, {"fill", color}});
  std::string text = short_name(timeline_.names[s.name]);
  if (step) text += " " + std::to_string(s.value);
  if (kLetter * static_cast<double>(text.size()) + 8 > width) {
    if (step && width > 26)
      text = std::to_string(s.value);
    else
      return;
  }
  svg_.text(left + width / 2, top + kRow / 2 + 4, text,
            {.size = "11.5", .color = step ? kPale : kInk, .anchor = "middle"});
}

// From the end of one event to the begin of the next, bent so that it leaves and arrives level.
void Picture::arrow(const Slice& from, const Slice& to, bool bold) {
  const double x1 = x(std::min(from.end, to.end));
  const double x2 = x(to.begin);
  const double y1 = middle(from);
  const double y2 = middle(to);
  const double bend = std::clamp(std::abs(x2 - x1) / 2, 3.0, 60.0);
  std::string path = "M" + svg_number(x1) + " " + svg_number(y1) + " C" + svg_number(x1 + bend) +
                     " " + svg_number(y1) + " " + svg_number(x2 - bend) + " " + svg_number(y2) +
                     " " + svg_number(x2) + " " + svg_number(y2);
  svg_.element("path", {{"d", path},
                        {"fill", "none"},
                        {"stroke", bold ? kArrow : "#94a3b8"},
                        {"stroke-width", bold ? "1.8" : "0.7"},
                        {bold ? "marker-end" : "stroke-opacity", bold ? "url(#tip)" : "0.4"}});
}

void Picture::arrows() {
  const Way* const bold = shown_way();
  for (const auto& [flow, way] : ways_) {
    if (&way == bold) continue;
    for (std::size_t i = 1; i < way.size(); ++i) {
      if (inside(*way[i - 1]) && inside(*way[i]) && way[i]->begin >= window_.from &&
          way[i - 1]->end <= window_.to)
        arrow(*way[i - 1], *way[i], false);
    }
  }
  if (bold == nullptr) return;
  for (const Slice* s : *bold) {
    svg_.rect(x(s->begin), middle(*s) - kRow / 2, std::max(x(s->end) - x(s->begin) - 0.6, 1.6),
              kRow, {{"rx", "3"}, {"fill", "none"}, {"stroke", kArrow}, {"stroke-width", "1.6"}});
  }
  for (std::size_t i = 1; i < bold->size(); ++i) arrow(*(*bold)[i - 1], *(*bold)[i], true);
}

}  // namespace

std::string draw(const Timeline& timeline, const PictureOptions& options) {
  return Picture(timeline, options).draw();
}

}  // namespace millrace::trace
