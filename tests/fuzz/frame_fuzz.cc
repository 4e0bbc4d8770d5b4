// Feeds bytes of a stranger to the frame parser, in pieces whose sizes the bytes choose: what it
// gives is the same as of all bytes at once, lent or not, is within the limit, and is encoded as it
// came; an error is typed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/core/net/frame.h"

using namespace millrace;       // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::net;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::size_t kMostPayload = 256;

struct Seen {
  std::vector<Frame> frames;
  bool failed = false;
};

// False: an error ended it.
bool feed(FrameParser& parser, std::span<const std::byte> piece, Seen& seen) {
  for (;;) {
    auto read = parser.next(piece);
    if (!read) {
      MILLRACE_CHECK(read.error().detail<FrameFault>() != nullptr, "an error is typed");
      seen.failed = true;
      return false;
    }
    if (!*read) {
      MILLRACE_CHECK(piece.empty(), "what is no frame yet is taken");
      return true;
    }
    (*read)->keep();
    MILLRACE_CHECK((*read)->payload.size() <= kMostPayload, "the limit holds");
    seen.frames.push_back(*std::move(*read));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> all{reinterpret_cast<const std::byte*>(data), size};
  FrameParser whole(kMostPayload), cut(kMostPayload);
  whole.lend(1);
  cut.lend(32);
  Seen at_once, in_pieces;
  feed(whole, all, at_once);
  for (std::size_t at = 0; at < size;) {
    const std::size_t length = std::min<std::size_t>(1 + data[at] % 97, size - at);
    if (!feed(cut, all.subspan(at, length), in_pieces)) break;
    at += length;
  }
  MILLRACE_CHECK(at_once.failed == in_pieces.failed, "pieces change nothing");
  MILLRACE_CHECK(at_once.frames.size() == in_pieces.frames.size(), "pieces change nothing");
  std::size_t at = 0;
  for (std::size_t i = 0; i < at_once.frames.size(); ++i) {
    const Frame& frame = at_once.frames[i];
    MILLRACE_CHECK(frame.payload == in_pieces.frames[i].payload, "pieces change nothing");
    const HeaderBytes header = encode_header(frame.header, frame.payload.size());
    MILLRACE_CHECK(std::ranges::equal(header, all.subspan(at, kHeaderBytes)), "encoded as it came");
    at += kHeaderBytes + frame.payload.size();
  }
  return 0;
}
