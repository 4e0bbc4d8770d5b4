#include "millrace/tools/serve/request_trace.h"

#include <algorithm>
#include <charconv>

namespace millrace::serve {
namespace {

// Lower case, as the standard has them, and not all zero.
bool is_id(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return std::ranges::all_of(text, is_digit) && text.find_first_not_of('0') != text.npos;
}

std::optional<unsigned> hex_byte(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<TraceParent> parse_traceparent(std::string_view text) {
  constexpr std::size_t kSize = 55;  // later versions may add to it
  if (text.size() < kSize || text[2] != '-' || text[35] != '-' || text[52] != '-')
    return std::nullopt;
  const std::optional<unsigned> version = hex_byte(text.substr(0, 2));
  const std::optional<unsigned> flags = hex_byte(text.substr(53, 2));
  if (!version || !flags || *version == 0xff || (*version == 0 && text.size() != kSize) ||
      (text.size() > kSize && text[kSize] != '-'))
    return std::nullopt;
  if (!is_id(text.substr(3, 32)) || !is_id(text.substr(36, 16))) return std::nullopt;
  return TraceParent{.trace_id = text.substr(3, 32), .sampled = (*flags & 1U) != 0};
}

RequestTrace::RequestTrace(TraceRecorder* recorder) : recorder_(recorder) {
  if (recorder_ != nullptr) lane_ = recorder_->lane("inferences");
}

void RequestTrace::record(const std::string& model, std::string_view traceparent, int status,
                          TimePoint begin, TimePoint end) {
  if (recorder_ == nullptr) return;
  std::string name = "infer " + model;
  const std::optional<TraceParent> parent = parse_traceparent(traceparent);
  if (parent && parent->sampled &&
      (traces_.contains(parent->trace_id) || traces_.size() < kMostTraces)) {
    traces_.emplace(parent->trace_id);
    name.append(" trace ").append(parent->trace_id);
  }
  recorder_->record(
      {.lane = lane_, .name = recorder_->name(name), .begin = begin, .end = end, .value = status});
}

}  // namespace millrace::serve
