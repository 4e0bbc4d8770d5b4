#include "millrace/tools/inspect/memory_picture.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/tools/inspect/bytes_text.h"
#include "millrace/tools/trace/svg.h"

namespace millrace::inspect {
namespace {

namespace cpu = devices::cpu;
namespace stablehlo = devices::stablehlo;
using trace::kInk, trace::svg_number;

constexpr double kWidth = 1280, kHeight = 720;  // pixels, as all of these
constexpr double kLeft = 92, kRight = 24, kTop = 64, kBottom = 48;
constexpr double kSmallest = 0.6;  // height of a place that is worth a rectangle
constexpr double kLetter = 6.2;    // width of a letter, roughly

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

// The end of a long path, which says more than its beginning.
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
  svg_.text(20, 28, words, {.size = "15", .color = kInk, .anchor = "start"});
  double left = kLeft;
  for (const Kind& kind : kKinds) {
    svg_.rect(left, 40, 12, 12, {{"rx", "3"}, {"fill", kind.color}});
    svg_.text(left + 17, 50.5, kind.name, {.anchor = "start"});
    left += 36 + kLetter * static_cast<double>(std::string_view(kind.name).size());
  }
  svg_.element(
      "path",
      {{"d", "M" + svg_number(left) + " 46 h16"}, {"stroke", kInk}, {"stroke-width", "1.5"}});
  svg_.text(left + 22, 50.5, "in use", {.anchor = "start"});
}

void Picture::axes() {
  constexpr std::size_t kTicks = 4;
  for (std::size_t i = 0; i <= kTicks; ++i) {
    const std::size_t bytes = map_.arena * i / kTicks;
    svg_.line(kLeft, y(bytes), kWidth - kRight, y(bytes));
    svg_.text(kLeft - 8, y(bytes) + 4, bytes_text(bytes), {.size = "11.5", .anchor = "end"});
  }
  const auto tick =
      static_cast<std::size_t>(trace::tick_length(static_cast<std::int64_t>(map_.end)));
  for (std::size_t time = 0; time < map_.end; time += tick) {
    svg_.text(x(time), kHeight - kBottom + 18, std::to_string(time),
              {.size = "11.5", .anchor = "middle"});
  }
  svg_.text(kWidth - kRight, kHeight - 10, "steps in their order, the inside of a loop once",
            {.size = "11.5", .anchor = "end"});
}

void Picture::rectangle(const MemoryPlace& place) {
  const double high = height(place.bytes);
  if (high < kSmallest) return;
  const double left = x(place.first), wide = x(place.last + 1) - left;
  const std::string& maker = map_.step_at(place.first);
  svg_.rect(left, y(place.offset) - high, std::max(wide, 0.8), high,
            {{"fill", kKinds[kind_of(place, maker)].color},
             {"stroke", "#ffffff"},
             {"stroke-width", high > 4 ? "0.7" : "0.2"}});
  const std::string words = maker + ", " + bytes_text(place.bytes);
  if (high < 14 || wide < kLetter * static_cast<double>(words.size()) + 8) return;
  svg_.text(left + wide / 2, y(place.offset) - high / 2 + 4, words,
            {.size = "11", .color = kInk, .anchor = "middle"});
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
  MILLRACE_TRY(const cpu::OneProgram one, cpu::read_for_all_devices(program, shapes));
  MILLRACE_TRY(const auto plan, cpu::make_plan(one.module, {}));
  const cpu::compiler::BufferTable& buffers = plan->buffers();
  MemoryMap map{.program = program.name(),
                .steps = {},
                .places = {},
                .arena = plan->temporary_bytes(),
                .end = static_cast<std::size_t>(buffers.now()) + 1};
  std::set<cpu::BufferId> scratch;
  for (const cpu::Step& step : plan->steps()) {
    map.steps.push_back({step.info.name, static_cast<std::size_t>(step.info.position)});
    if (step.scratch >= 0) scratch.insert(step.scratch);
  }
  for (cpu::BufferId id = 0; id < buffers.size(); ++id) {
    const cpu::compiler::Buffer& buffer = buffers[id];
    if (buffer.home != cpu::compiler::Home::kArena || buffer.root != id || buffer.bytes == 0)
      continue;
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
