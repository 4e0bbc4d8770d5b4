// The picture of a LoadReport.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "millrace/core/base/printed.h"
#include "millrace/tools/load/load_report.h"
#include "millrace/tools/trace/svg.h"

namespace millrace::load {
namespace {

constexpr double kWidth = 900, kHeight = 420;  // pixels, as all of these
constexpr double kLeft = 70, kRight = 90, kTop = 60, kBottom = 50;

struct Line {
  const char* name;
  const char* color;
  const char* dashes;  // without colour, too, they differ
  Duration LatencySlice::* value;
};
constexpr std::array kLines = {Line{"max", "#b45309", "2 3", &LatencySlice::max},
                               Line{"p99", "#be123c", "7 3", &LatencySlice::p99},
                               Line{"p50", "#1d4ed8", "", &LatencySlice::p50}};

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string label_of(double power) {
  const double ms = std::pow(10, power);
  return ms >= 1000 ? printed("%g s", ms / 1000)
         : ms >= 1  ? printed("%g ms", ms)
                    : printed("%g us", ms * 1000);
}

}  // namespace

std::string LoadReport::svg(const std::string& title) const {
  using trace::svg_number;
  trace::Svg svg;
  svg.text(kLeft, 26, title, {.size = "15", .color = trace::kInk, .bold = true});
  svg.text(kLeft, 45, "latency of the requests that were answered, over the seconds of the run",
           {});
  double least = 1e300, most = 0;  // milliseconds
  for (const LatencySlice& slice : slices_) {
    if (slice.answered == 0) continue;
    least = std::min(least, milliseconds(slice.p50));
    most = std::max(most, milliseconds(slice.max));
  }
  if (most == 0) {
    svg.text(kLeft, kHeight / 2, "No request was answered.", {.color = trace::kInk});
    return svg.document(kWidth, kHeight);
  }
  const double low = std::floor(std::log10(std::max(least, 1e-3)));
  const double high = std::max(std::ceil(std::log10(most)), low + 1);
  const double length = std::chrono::duration<double>(slices_.back().begin + slice_length_).count();
  const auto x_of = [&](double s) { return kLeft + (kWidth - kLeft - kRight) * s / length; };
  const auto y_of = [&](double ms) {
    const double share = (std::log10(std::max(ms, 1e-3)) - low) / (high - low);
    return kHeight - kBottom - (kHeight - kTop - kBottom) * std::clamp(share, 0.0, 1.0);
  };
  for (double power = low; power <= high; ++power) {
    const double y = y_of(std::pow(10, power));
    svg.line(kLeft, y, kWidth - kRight, y);
    svg.text(kLeft - 8, y + 4, label_of(power), {.anchor = "end"});
  }
  const std::int64_t tick = trace::tick_length(static_cast<std::int64_t>(length));
  for (std::int64_t s = 0; static_cast<double>(s) <= length; s += tick)
    svg.text(x_of(static_cast<double>(s)), kHeight - kBottom + 20, std::to_string(s) + " s",
             {.anchor = "middle"});
  double free_below = 1e300;  // labels do not cover each other
  std::array<std::pair<double, const Line*>, kLines.size()> ends;
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    std::string path;
    double last = 0;
    for (const LatencySlice& slice : slices_) {
      if (slice.answered == 0) continue;
      const double middle = std::chrono::duration<double>(slice.begin + slice_length_ / 2).count();
      last = y_of(milliseconds(slice.*kLines[i].value));
      path += (path.empty() ? "M" : "L") + svg_number(x_of(middle)) + " " + svg_number(last);
    }
    svg.element("path",
                {{"d", path},
                 {"fill", "none"},
                 {"stroke", kLines[i].color},
                 {"stroke-width", "1.6"},
                 {"stroke-dasharray", *kLines[i].dashes == '\0' ? "none" : kLines[i].dashes}});
    ends[i] = {last, &kLines[i]};
  }
  std::ranges::sort(ends, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second > b.second;  // max above p99
  });
  for (const auto& [y, line] : ends) {
    const double at = std::min(y, free_below);
    svg.text(kWidth - kRight + 10, at + 4, line->name, {.color = line->color, .bold = true});
    free_below = at - 15;
  }
  if (refused_ + errors_ > 0) {
    svg.text(kLeft, kHeight - 10,
             std::to_string(refused_) + " refused and " + std::to_string(errors_) +
                 " errors are not shown",
             {});
  }
  return svg.document(kWidth, kHeight);
}

}  // namespace millrace::load
