#include "millrace/core/net/world_frames.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "millrace/core/base/check.h"
#include "millrace/core/net/job_frames.h"
#include "millrace/core/net/wire_bytes.h"

namespace millrace::net {

Frame encode(const World& world) {
  Frame frame{{.kind = FrameKind::kJobWorld}, {}};
  frame.header.words[0] = world.epoch;
  frame.header.words[1] = world.changed ? 1 : 0;
  WireWriter out;
  out.number(world.ranks.size());
  for (const std::uint32_t rank : world.ranks) out.number(rank);
  frame.payload = out.take();
  return frame;
}

Result<World> decode_world(const Frame& frame, std::uint32_t ranks) {
  const auto& words = frame.header.words;
  if (frame.header.kind != FrameKind::kJobWorld || frame.header.sequence != 0 ||
      !has_only_words(frame.header, 2) || words[1] > 1 ||
      words[0] > std::numeric_limits<std::uint32_t>::max())
    return fail(ErrorCode::kInvalidArgument,
                "reading a frame of the job: a world has no such form");
  WireReader in(frame.payload);
  World world{.epoch = static_cast<std::uint32_t>(words[0]),
              .ranks = std::vector<std::uint32_t>(in.count(ranks)),
              .changed = words[1] == 1};
  for (std::uint32_t& rank : world.ranks) rank = static_cast<std::uint32_t>(in.number(ranks - 1));
  if (std::ranges::adjacent_find(world.ranks, std::ranges::greater_equal()) != world.ranks.end())
    in.refuse("its ranks do not ascend");
  if (world.ranks.empty()) in.refuse("it has no rank");
  MILLRACE_TRY_STATUS(in.end("a world of the job"));
  return world;
}

Frame encode_plain(FrameKind kind) {
  MILLRACE_CHECK(kind == FrameKind::kJobWorldAsk || kind == FrameKind::kJobWaits,
                 "others say more");
  return {{.kind = kind}, {}};
}

bool is_plain(const Frame& frame, FrameKind kind) {
  return frame.header.kind == kind && frame.header.sequence == 0 &&
         has_only_words(frame.header, 0) && frame.payload.empty();
}

Frame encode_no_world(const Error& why) {
  Frame frame{{.kind = FrameKind::kJobNoWorld}, {}};
  frame.header.words[0] = why.detail<WorkDone>() != nullptr ? 1 : 0;
  append(frame.payload, std::string_view(why.message()).substr(0, kMostWordBytes));
  return frame;
}

Result<Error> decode_no_world(const Frame& frame) {
  if (frame.header.kind != FrameKind::kJobNoWorld || frame.header.sequence != 0 ||
      !has_only_words(frame.header, 1) || frame.header.words[0] > 1 ||
      frame.payload.size() > kMostWordBytes)
    return fail(ErrorCode::kInvalidArgument, "reading a frame of the job: a refusal of a world");
  const Error why(ErrorCode::kUnavailable, text_of(frame.payload));
  if (frame.header.words[0] == 0) return why;
  return why.with_detail(WorkDone());
}

}  // namespace millrace::net
