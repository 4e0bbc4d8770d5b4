#include "millrace/tools/inspect/memory_picture.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "millrace/devices/cpu/compile.h"
#include "millrace/devices/cpu/plan/plan.h"
#include "millrace/tools/inspect/program_facts.h"
#include "millrace/tools/trace/svg.h"

namespace millrace::inspect {
namespace {

namespace cpu = devices::cpu;
using trace::svg_number;

constexpr double kWidth = 1280, kHeight = 720;  // pixels, as all of these
constexpr double kLeft = 92, kRight = 24, kTop = 64, kBottom = 48;
constexpr double kSmallest = 0.6;  // height of a place that is worth a rectangle
constexpr double kLetter = 6.2;    // width of a letter, roughly
constexpr const char* kInk = "#1e293b";
constexpr const char* kPale = "#64748b";

struct Kind {
  const char* name;
  const char* color;
};
constexpr std::array<Kind, 5> kKinds = {{{"convolutions and products", "#fdba74"},
                                         {"fused loops", "#7dd3fc"},
                                         {"loops and branches", "#c084fc"},
                                         {"other steps", "#86efac"},
                                         {"scratch of a step", "#cbd5e1"}}};

std::size_t kind_of(const MemoryPlace& place, std::string_view maker) {
  if (place.scratch) return 4;
  if (maker.starts_with("stablehlo.convolution") || maker.starts_with("stablehlo.dot")) return 0;
  if (maker.starts_with("fused loop")) return 1;
  if (maker == "stablehlo.while" || maker == "stablehlo.case" || maker == "stablehlo.if") return 2;
  return 3;
}

// The end of a long path, which tells more than its beginning.
std::string short_name(const std::string& path) {
  constexpr std::size_t kMost = 60;
  if (path.size() <= kMost) return path;
  std::size_t from = path.size() - kMost;
  while (from < path.size() && (static_cast<unsigned char>(path[from]) & 0xc0) == 0x80) ++from;
  return "..." + path.substr(from);
}

class Picture {
 public:
  explicit Picture(const MemoryMap& map) : map_(map), in_use_(map.in_use()) {}

  std::string draw() {
    svg_.element("rect", {{"width", svg_number(kWidth)},
                          {"height", svg_number(kHeight)},
                          {"rx", "10"},
                          {"fill", "#ffffff"}});
    title();
    axes();
    for (const MemoryPlace& place : map_.places) rectangle(place);
    curve();
    return svg_.document(kWidth, kHeight);
  }

 private:
  double x(std::size_t time) const {
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(time) /
                       static_cast<double>(std::max<std::size_t>(map_.end, 1));
  }
  double height(std::size_t bytes) const {
    return (kHeight - kTop - kBottom) * static_cast<double>(bytes) /
           static_cast<double>(std::max<std::size_t>(map_.arena, 1));
  }
  // The arena begins at the bottom.
  double y(std::size_t offset) const { return kHeight - kBottom - height(offset); }

  void text(double left, double baseline, const std::string& words, const char* size,
            const char* color, const char* anchor = "start") {
    svg_.element("text",
                 {{"x", svg_number(left)},
                  {"y", svg_number(baseline)},
                  {"font-size", size},
                  {"text-anchor", anchor},
                  {"fill", color}},
                 words);
  }

  void title();
  void axes();
  void rectangle(const MemoryPlace& place);
  void curve();

  const MemoryMap& map_;
  const std::vector<std::size_t> in_use_;
  trace::Svg svg_;
};

void Picture::title() {
  std::string words = short_name(map_.program) + ": " + bytes_text(map_.arena) +
                      " for what lies between " + std::to_string(map_.steps.size()) +
                      (map_.steps.size() == 1 ? " step" : " steps");
  const auto most = std::ranges::max_element(in_use_);
  if (most != in_use_.end() && *most > 0) {
    const auto time = static_cast<std::size_t>(most - in_use_.begin());
    words += "; most in use: " + bytes_text(*most) + " at " + std::to_string(time) + ", in " +
             map_.step_at(time);
  }
  text(20, 28, words, "15", kInk);
  double left = kLeft;
  for (const Kind& kind : kKinds) {
    svg_.element("rect", {{"x", svg_number(left)},
                          {"y", "40"},
                          {"width", "12"},
                          {"height", "12"},
                          {"rx", "3"},
                          {"fill", kind.color}});
    text(left + 17, 50.5, kind.name, "12", kPale);
    left += 36 + kLetter * static_cast<double>(std::string_view(kind.name).size());
  }
  svg_.element(
      "path",
      {{"d", "M" + svg_number(left) + " 46 h16"}, {"stroke", kInk}, {"stroke-width", "1.5"}});
  text(left + 22, 50.5, "in use", "12", kPale);
}

void Picture::axes() {
  constexpr std::size_t kTicks = 4;
  for (std::size_t i = 0; i <= kTicks; ++i) {
    const std::size_t bytes = map_.arena * i / kTicks;
    svg_.element("line", {{"x1", svg_number(kLeft)},
                          {"y1", svg_number(y(bytes))},
                          {"x2", svg_number(kWidth - kRight)},
                          {"y2", svg_number(y(bytes))},
                          {"stroke", "#e2e8f0"}});
    text(kLeft - 8, y(bytes) + 4, bytes_text(bytes), "11.5", kPale, "end");
  }
  std::size_t tick = 1;
  for (int i = 0; tick * 12 < map_.end; ++i) tick = i % 3 == 1 ? tick / 2 * 5 : tick * 2;
  for (std::size_t time = 0; time < map_.end; time += tick)
    text(x(time), kHeight - kBottom + 18, std::to_string(time), "11.5", kPale, "middle");
  text(kWidth - kRight, kHeight - 10, "steps in their order, the inside of a loop once", "11.5",
       kPale, "end");
}

void Picture::rectangle(const MemoryPlace& place) {
  const double high = height(place.bytes);
  if (high < kSmallest) return;
  const double left = x(place.first), wide = x(place.last + 1) - left;
  const std::string& maker = map_.step_at(place.first);
  svg_.element("rect", {{"x", svg_number(left)},
                        {"y", svg_number(y(place.offset) - high)},
                        {"width", svg_number(std::max(wide, 0.8))},
                        {"height", svg_number(high)},
                        {"fill", kKinds[kind_of(place, maker)].color},
                        {"stroke", "#ffffff"},
                        {"stroke-width", high > 4 ? "0.7" : "0.2"}});
  const std::string words = maker + ", " + bytes_text(place.bytes);
  if (high < 14 || wide < kLetter * static_cast<double>(words.size()) + 8) return;
  text(left + wide / 2, y(place.offset) - high / 2 + 4, words, "11", kInk, "middle");
}

void Picture::curve() {
  std::string path;
  for (std::size_t time = 0; time < in_use_.size(); ++time) {
    const std::string height = " " + svg_number(y(in_use_[time]));
    path.append(path.empty() ? "M" : " L").append(svg_number(x(time))).append(height);
    path.append(" L").append(svg_number(x(time + 1))).append(height);
  }
  if (path.empty()) return;
  svg_.element("path", {{"d", path}, {"fill", "none"}, {"stroke", kInk}, {"stroke-width", "1.2"}});
}

}  // namespace

std::vector<std::size_t> MemoryMap::in_use() const {
  std::vector<std::size_t> bytes(end);
  for (const MemoryPlace& place : places) {
    for (std::size_t time = place.first; time <= place.last; ++time) bytes[time] += place.bytes;
  }
  return bytes;
}

const std::string& MemoryMap::step_at(std::size_t time) const {
  const auto step = std::ranges::lower_bound(steps, time, {}, &MemoryStep::end);
  return step == steps.end() ? steps.back().name : step->name;
}

Result<MemoryMap> memory_map(const devices::Program& program,
                             std::span<const devices::Shape> shapes) {
  MILLRACE_TRY(const cpu::ir::Module module, cpu::read_to_run(program, shapes));
  MILLRACE_TRY(const auto plan, cpu::Plan::create(module, {}));
  const cpu::plan::BufferTable& buffers = plan->buffers();
  MemoryMap map{.program = program.name(),
                .steps = {},
                .places = {},
                .arena = plan->arena_bytes(),
                .end = static_cast<std::size_t>(buffers.now()) + 1};
  std::set<cpu::BufferId> scratch;
  for (const cpu::Step& step : plan->steps().steps) {
    map.steps.push_back({step.info.name, static_cast<std::size_t>(step.info.position)});
    if (step.scratch >= 0) scratch.insert(step.scratch);
  }
  for (cpu::BufferId id = 0; id < buffers.size(); ++id) {
    const cpu::plan::Buffer& buffer = buffers[id];
    if (buffer.home != cpu::plan::Home::kArena || buffer.root != id || buffer.bytes == 0) continue;
    map.places.push_back({.offset = buffer.offset,
                          .bytes = buffer.bytes,
                          .first = static_cast<std::size_t>(buffer.first),
                          .last = static_cast<std::size_t>(buffer.last),
                          .scratch = scratch.contains(id)});
  }
  std::ranges::sort(map.places, {},
                    [](const MemoryPlace& place) { return std::tuple(place.first, place.offset); });
  return map;
}

std::string draw(const MemoryMap& map) { return Picture(map).draw(); }

}  // namespace millrace::inspect
