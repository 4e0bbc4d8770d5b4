#include "millrace/core/net/link_hello.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::net {
namespace {

constexpr std::uint64_t pair(std::uint64_t low, std::uint64_t high) { return low | (high << 32); }
constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

std::unexpected<Error> no_hello(const char* why) {
  return fail(ErrorCode::kInvalidArgument, std::string("the first frame of a link: ") + why);
}

}  // namespace

Frame encode_hello(const LinkHello& hello) {
  MILLRACE_CHECK(hello.job.size() <= kMostJobBytes && hello.from.host.size() <= kMostHostBytes,
                 "names in a hello are short");
  Frame frame{{.kind = FrameKind::kLinkHello, .epoch = hello.epoch}, {}};
  frame.header.words = {
      pair(hello.from.rank, hello.to),
      pair(hello.size, static_cast<std::uint32_t>(hello.from.pid)),
      pair(hello.job.size(), hello.from.host.size()),
  };
  frame.payload.assign(hello.incarnation.begin(), hello.incarnation.end());
  append(frame.payload, hello.job);
  append(frame.payload, hello.from.host);
  return frame;
}

Result<LinkHello> read_hello(const Frame& frame) {
  const FrameHeader& header = frame.header;
  if (header.kind != FrameKind::kLinkHello) return no_hello("it is no hello");
  if (header.flags != 0 || header.channel != 0 || header.sequence != 0 || header.words[3] != 0)
    return no_hello("a field that has no meaning is not zero");
  const std::size_t job = low(header.words[2]), host = high(header.words[2]);
  if (job > kMostJobBytes || host > kMostHostBytes) return no_hello("a name is too long");
  if (frame.payload.size() != sizeof(Incarnation) + job + host)
    return no_hello("its length is not that of its fields");
  const std::uint32_t pid = high(header.words[1]);
  if (pid > std::uint32_t{std::numeric_limits<std::int32_t>::max()})
    return no_hello("its pid is no pid");
  const std::span<const std::byte> payload = frame.payload;
  LinkHello hello;
  hello.from = {low(header.words[0]), text_of(payload.last(host)), static_cast<std::int32_t>(pid)};
  if (!is_host_name(hello.from.host)) return no_hello("its host is no name of a host");
  std::ranges::copy(payload.first(sizeof(Incarnation)), hello.incarnation.begin());
  hello.to = high(header.words[0]);
  hello.size = low(header.words[1]);
  hello.epoch = header.epoch;
  hello.job = text_of(payload.subspan(sizeof(Incarnation), job));
  return hello;
}

std::string_view to_string(LinkVerdict verdict) {
  switch (verdict) {
    case LinkVerdict::kAccept:
      return "it accepts the link";
    case LinkVerdict::kTie:
      return "it dials too, and the lower rank's link stays";
    case LinkVerdict::kLinked:
      return "it has a link to this rank, which has not ended there yet";
    case LinkVerdict::kStale:
      return "it is in a later epoch";
    case LinkVerdict::kEarly:
      return "it is in an earlier epoch";
    case LinkVerdict::kGone:
      return "it holds this process for ended or lost until the next epoch";
    case LinkVerdict::kReplaced:
      return "another process has this rank in this epoch";
    case LinkVerdict::kForeign:
      return "it belongs to another job, or is another rank";
    case LinkVerdict::kClosing:
      return "it ends its links";
  }
  return "it refuses";
}

Frame encode_welcome(const Identity& self, std::uint32_t epoch) {
  Frame frame{{.kind = FrameKind::kLinkWelcome, .epoch = epoch, .words = {self.rank}}, {}};
  frame.payload.assign(self.incarnation.begin(), self.incarnation.end());
  return frame;
}

Frame encode_refusal(LinkVerdict verdict, std::uint32_t epoch) {
  return {{.kind = FrameKind::kLinkRefusal, .flags = std::to_underlying(verdict), .epoch = epoch},
          {}};
}

Result<LinkAnswer> read_answer(const Frame& frame) {
  const FrameHeader& header = frame.header;
  if (header.kind == FrameKind::kLinkWelcome && frame.payload.size() == sizeof(Incarnation)) {
    LinkAnswer answer{LinkVerdict::kAccept, {.rank = low(header.words[0])}};
    std::ranges::copy(frame.payload, answer.from.incarnation.begin());
    return answer;
  }
  const bool known = header.flags >= std::to_underlying(LinkVerdict::kTie) &&
                     header.flags <= std::to_underlying(LinkVerdict::kClosing);
  if (header.kind == FrameKind::kLinkRefusal && known && frame.payload.empty())
    return LinkAnswer{static_cast<LinkVerdict>(header.flags), {}};
  return fail(ErrorCode::kInvalidArgument, "the answer to a hello is neither welcome nor refusal");
}

}  // namespace millrace::net
