// Feeds frames of a stranger to the decoders of a job: what one accepts is encoded as it came.
#include <cstddef>
#include <cstdint>
#include <span>

#include "millrace/core/base/check.h"
#include "millrace/core/net/job_frames.h"
#include "millrace/core/net/job_status.h"
#include "millrace/core/net/world_frames.h"

using namespace millrace;       // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::net;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto check = [](const Frame& made, const Frame& came) {
    MILLRACE_CHECK(made.header == came.header && made.payload == came.payload,
                   "encoded as it came");
  };
  FrameParser parser(std::size_t{64} << 10);
  std::span<const std::byte> rest{reinterpret_cast<const std::byte*>(data), size};
  for (;;) {
    const auto read = parser.next(rest);
    if (!read || !*read) break;
    const Frame& frame = **read;
    if (const auto join = decode_join(frame)) check(encode(*join), frame);
    if (const auto welcome = decode_welcome(frame)) check(encode(*welcome), frame);
    if (const auto refusal = decode_refusal(frame)) check(encode_refusal(*refusal), frame);
    if (const auto failure = decode_failure(frame))
      check(encode(*failure, frame.header.kind), frame);
    if (const auto world = decode_world(frame, 1 << 20)) check(encode(*world), frame);
    if (const auto why = decode_no_world(frame)) check(encode_no_world(*why), frame);
    if (const auto status = decode_status(frame)) check(encode(*status), frame);
    if (const auto groups = decode_alive(frame)) check(encode_alive(*groups), frame);
    if (is_ask(frame)) check(encode_ask(), frame);
  }
  return 0;
}
