#include "millrace/tools/serve/chunk_lines.h"

#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace millrace::serve {
namespace {

constexpr std::string_view kEncoding = "Transfer-Encoding:";

}  // namespace

void ChunkLines::add(std::string_view bytes) {
  while (!bytes.empty() && part_ != Part::kRest) {
    const auto passed = static_cast<std::size_t>(std::min<std::uint64_t>(inside_, bytes.size()));
    inside_ -= passed;
    bytes.remove_prefix(passed);
    if (bytes.empty()) return;
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    end_line();
  }
}

bool ChunkLines::skip(std::size_t bytes) {
  if (part_ == Part::kRest) return true;
  if (inside_ < bytes) return false;
  inside_ -= bytes;
  return true;
}

// A request with another encoding is refused when it is there: what is taken for its chunks does no
// harm.
void ChunkLines::end_line() {
  if (line_.ends_with('\r')) line_.pop_back();
  line_.resize(std::strlen(line_.c_str()));  // a zero byte ends it for evhttp
  if (part_ == Part::kHead) {
    if (line_.empty()) part_ = chunked_ ? Part::kChunks : Part::kRest;
    chunked_ |= ::strncasecmp(line_.c_str(), kEncoding.data(), kEncoding.size()) == 0;
  } else if (!line_.empty()) {  // an empty one ends a chunk
    const long long size = std::strtoll(line_.c_str(), nullptr, 16);
    if (size <= 0) part_ = Part::kRest;  // the last one, or none
    inside_ = static_cast<std::uint64_t>(std::max(size, 0LL));
  }
  line_.clear();
}

}  // namespace millrace::serve
