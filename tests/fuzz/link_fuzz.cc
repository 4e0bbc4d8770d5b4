// Feeds bytes of a stranger to what reads the first frames of a link and the records of a mesh:
// what is read is encoded as it came and is within its bounds; every hello gets an answer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "millrace/core/base/check.h"
#include "millrace/core/net/link_hello.h"
#include "millrace/core/net/mesh_record.h"
#include "millrace/core/net/peer_state.h"

using namespace millrace;       // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::net;  // NOLINT(google-build-using-namespace)

namespace {

void look_at_hello(const Frame& frame) {
  const auto hello = read_hello(frame);
  if (!hello) return;
  const Frame again = encode_hello(*hello);
  MILLRACE_CHECK(again.header == frame.header && again.payload == frame.payload,
                 "a hello is encoded as it came");
  MILLRACE_CHECK(frame.payload.size() <= kMostHelloBytes, "a hello is short");
  MILLRACE_CHECK(is_host_name(hello->from.host), "a host can be printed");
  for (int state = 0; state < 5; ++state) {
    const HelloView view{.self = 1,
                         .size = 4,
                         .epoch = 2,
                         .job = "job",
                         .state = static_cast<PeerState>(state),
                         .calls = true};
    const LinkVerdict verdict = judge_hello(*hello, view);
    const bool good = !is_foreign(*hello, view) && hello->epoch == 2;
    MILLRACE_CHECK(verdict != LinkVerdict::kAccept || good, "a link is within job and epoch");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto record = read_record(text, 3))
    MILLRACE_CHECK(encode_record(*record) == text, "a record is encoded as it came");
  FrameParser parser(kMostHelloBytes);
  std::span<const std::byte> rest{reinterpret_cast<const std::byte*>(data), size};
  for (;;) {
    const auto read = parser.next(rest);
    if (!read || !*read) break;
    look_at_hello(**read);
    if (const auto answer = read_answer(**read))
      MILLRACE_CHECK(!to_string(answer->verdict).empty(), "an answer has words");
  }
  return 0;
}
