#include "millrace/tools/serve/route.h"

#include <charconv>
#include <optional>
#include <vector>

namespace millrace::serve {
namespace {

using Kind = Route::Kind;

// "%20" and the like; nullopt: a percent sign without two digits, or a zero byte.
std::optional<std::string> decoded(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char* const end = text.data() + i + 3;
    const auto [stopped, error] = std::from_chars(text.data() + i + 1, end, value, 16);
    if (error != std::errc() || stopped != end || value == 0) return std::nullopt;
    made += static_cast<char>(value);
    i += 2;
  }
  return made;
}

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty() && path.front() == '/') {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

// What the path names, whatever the method.
Route named_by(std::string_view path) {
  if (path == "/") return {Kind::kPage};
  if (path == "/status") return {Kind::kStatus};
  if (path == "/metrics") return {Kind::kMetrics};
  const std::vector<std::string_view> parts = segments_of(path);
  if (parts.empty() || parts[0] != "v2") return {};
  if (parts.size() == 1) return {Kind::kServer};
  if (parts[1] == "health" && parts.size() == 3) {
    if (parts[2] == "live") return {Kind::kLive};
    if (parts[2] == "ready") return {Kind::kReady};
  }
  if (parts[1] != "models") return {};
  if (parts.size() == 2) return {Kind::kModels};
  const std::optional<std::string> name = decoded(parts[2]);
  if (!name || name->empty()) return {};
  std::size_t next = 3;
  if (parts.size() > next + 1 && parts[next] == "versions") {
    if (parts[next + 1] != kModelVersion) return {Kind::kWrongVersion, *name};
    next += 2;
  }
  if (parts.size() == next) return {Kind::kModel, *name};
  if (parts.size() != next + 1) return {};
  if (parts[next] == "ready") return {Kind::kModelReady, *name};
  if (parts[next] == "stats") return {Kind::kModelStats, *name};
  if (parts[next] == "infer") return {Kind::kInfer, *name};
  return {};
}

}  // namespace

Route route_of(std::string_view method, std::string_view path) {
  Route route = named_by(path);
  if (route.kind == Kind::kUnknown || route.kind == Kind::kWrongVersion) return route;
  const bool wants_post = route.kind == Kind::kInfer;
  if (wants_post ? method == "POST" : method == "GET" || method == "HEAD") return route;
  return {Kind::kWrongMethod, {}, wants_post ? "POST" : "GET, HEAD"};
}

}  // namespace millrace::serve
