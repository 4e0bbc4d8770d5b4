#include "millrace/tools/load/load_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"
#include "millrace/devices/registry.h"

namespace millrace::load {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSlices = 100;
constexpr std::size_t kMostErrorBytes = 200;
constexpr Duration kShortestSlice = std::chrono::milliseconds(50);

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}
double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// Not within a character of UTF-8.
std::string cut(std::string text) {
  if (text.size() <= kMostErrorBytes) return text;
  std::size_t end = kMostErrorBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace

std::string error_line(std::string_view body) {
  std::string text(body);
  if (const Json json = Json::parse(body, nullptr, false); json.is_object()) {
    const auto found = json.find("error");
    if (found != json.end() && found->is_string()) text = found->get<std::string>();
  }
  return devices::printable(cut(text.substr(0, text.find_first_of("\r\n"))));
}

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

void LoadReport::add_failed_answer(int status, std::string_view body) {
  if (!first_failed_) first_failed_ = {.status = status, .error = error_line(body)};
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
  Json first_error = nullptr;
  if (first_failed_)
    first_error = {{"status", first_failed_->status}, {"error", first_failed_->error}};
  return json_text(Json{{"event", "end"},
                        {"requests", requests()},
                        {"errors", errors_},
                        {"refused", refused_},
                        {"requests_per_second", rounded(answered_per_second())},
                        {"latency_ms",
                         {{"p50", at(0.5)},
                          {"p90", at(0.9)},
                          {"p99", at(0.99)},
                          {"p999", at(0.999)},
                          {"max", rounded(milliseconds(all_.max()))}}},
                        {"first_error", first_error}});
}

std::string LoadReport::words() const {
  std::string text =
      printed("%llu requests: %llu answered (%.1f per second), %llu refused, %llu errors\n",
              static_cast<unsigned long long>(requests()),
              static_cast<unsigned long long>(answered_), answered_per_second(),
              static_cast<unsigned long long>(refused_), static_cast<unsigned long long>(errors_));
  if (first_failed_) {
    text += "the first error: status " + std::to_string(first_failed_->status) +
            (first_failed_->error.empty() ? "" : ": " + first_failed_->error) + "\n";
  }
  if (answered_ == 0) return text + "latency: none, as no request was answered\n";
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
