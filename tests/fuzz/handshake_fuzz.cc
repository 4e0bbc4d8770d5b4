// Feeds frames of a stranger to both ends of a handshake: without the secret neither is ever done,
// and what an end says fits what a stranger may send.
#include <cstddef>
#include <cstdint>
#include <span>

#include "millrace/core/base/check.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/handshake.h"

using namespace millrace;       // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::net;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Secret secret;
  secret.fill(std::byte{0x5a});
  Handshake connector = Handshake::make_connector(secret, "job", {.rank = 1}, Nonce{});
  Handshake acceptor = Handshake::make_acceptor(secret, "job", Nonce{});
  const Frame hello = connector.hello();
  FrameParser parser(kStrangerPayload);
  std::span<const std::byte> rest{reinterpret_cast<const std::byte*>(data), size};
  for (;;) {
    const auto read = parser.next(rest);
    if (!read || !*read) break;
    Frame frame = **read;
    // A good hello, so that what comes after it is reached.
    if (frame.header.kind == FrameKind::kHello && (frame.header.flags & 1) != 0) frame = hello;
    for (Handshake* end : {&connector, &acceptor}) {
      const auto answer = end->take(frame);
      if (answer && *answer)
        MILLRACE_CHECK((*answer)->payload.size() <= kStrangerPayload, "it fits");
      MILLRACE_CHECK(!end->done(), "a stranger does not get in");
    }
  }
  return 0;
}
