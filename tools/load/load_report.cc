#include "millrace/tools/load/load_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"

namespace millrace::load {
namespace {

constexpr int kSlices = 100;
constexpr Duration kShortestSlice = std::chrono::milliseconds(50);

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}
double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

LoadReport::LoadReport(TimePoint begin, Duration length)
    : begin_(begin), slice_length_(std::max(kShortestSlice, length / kSlices)), last_(begin) {}

void LoadReport::close_slice() {
  current_.p50 = slice_.quantile(0.5);
  current_.p99 = slice_.quantile(0.99);
  current_.max = slice_.max();
  slices_.push_back(current_);
  current_ = {.begin = current_.begin + slice_length_};
  slice_.clear();
}

void LoadReport::add(TimePoint ended, Outcome outcome, Duration latency) {
  while (ended - begin_ >= current_.begin + slice_length_) close_slice();
  last_ = std::max(last_, ended);
  switch (outcome) {
    case Outcome::kAnswered:
      ++answered_;
      ++current_.answered;
      all_.record(latency);
      slice_.record(latency);
      break;
    case Outcome::kRefused:
      ++refused_;
      ++current_.refused;
      break;
    case Outcome::kError:
      ++errors_;
      ++current_.errors;
      break;
  }
}

void LoadReport::finish(TimePoint now) {
  last_ = std::max(last_, now);
  close_slice();
}

double LoadReport::answered_per_second() const {
  const double length = seconds(last_ - begin_);
  return length > 0 ? static_cast<double>(answered_) / length : 0;
}

std::string LoadReport::json() const {
  const auto rounded = [](double value) { return std::round(value * 1e6) / 1e6; };
  const auto at = [&](double q) { return rounded(milliseconds(all_.quantile(q))); };
  return json_text(nlohmann::ordered_json{{"event", "end"},
                                          {"requests", requests()},
                                          {"errors", errors_},
                                          {"refused", refused_},
                                          {"requests_per_second", rounded(answered_per_second())},
                                          {"latency_ms",
                                           {{"p50", at(0.5)},
                                            {"p90", at(0.9)},
                                            {"p99", at(0.99)},
                                            {"p999", at(0.999)},
                                            {"max", rounded(milliseconds(all_.max()))}}}});
}

std::string LoadReport::words() const {
  std::string text =
      printed("%llu requests: %llu answered (%.1f per second), %llu refused, %llu errors\n",
              static_cast<unsigned long long>(requests()),
              static_cast<unsigned long long>(answered_), answered_per_second(),
              static_cast<unsigned long long>(refused_), static_cast<unsigned long long>(errors_));
  return text +
         printed("latency: p50 %.3f ms, p90 %.3f ms, p99 %.3f ms, p99.9 %.3f ms, max %.3f ms\n",
                 milliseconds(all_.quantile(0.5)), milliseconds(all_.quantile(0.9)),
                 milliseconds(all_.quantile(0.99)), milliseconds(all_.quantile(0.999)),
                 milliseconds(all_.max()));
}

std::string LoadReport::progress(TimePoint now) const {
  return printed("%.0f s: %llu answered, %llu refused, %llu errors; p50 %.3f ms, p99 %.3f ms",
                 seconds(now - begin_), static_cast<unsigned long long>(answered_),
                 static_cast<unsigned long long>(refused_),
                 static_cast<unsigned long long>(errors_), milliseconds(all_.quantile(0.5)),
                 milliseconds(all_.quantile(0.99)));
}

}  // namespace millrace::load
