#include "millrace/collectives/program_frames.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "millrace/collectives/group_frames.h"
#include "millrace/core/net/spare_bytes.h"

namespace millrace::collectives {
namespace {

constexpr std::uint64_t kMostInt = std::numeric_limits<int>::max();

net::Frame plain(ProgramSays says, const LaunchId& launch) {
  net::Frame frame;
  frame.header.kind = kProgramFrame;
  frame.header.flags = static_cast<std::uint8_t>(says);
  frame.header.sequence = launch.number;
  frame.header.words[0] = launch.link;
  return frame;
}

net::Bytes bare(const Error& error) { return encode_end(Error(error.code(), error.message())); }

std::unexpected<Error> no_frame(const char* why) {
  return fail(ErrorCode::kInvalidArgument,
              std::string("reading a frame of a program that spans processes: ") + why);
}

Status read_data(net::Frame&& frame, ProgramSaying& saying) {
  const auto& words = frame.header.words;
  if (words[1] > kMostInt) return no_frame("its edge is no edge");
  saying.edge = static_cast<int>(words[1]);
  saying.total = words[2];
  saying.offset = words[3];
  saying.piece = std::move(frame.payload);
  if (saying.total > kMostMessage) return no_frame("its message is too long");
  if (saying.offset > saying.total || saying.piece.size() > saying.total - saying.offset)
    return no_frame("its piece ends beyond the message");
  if (saying.piece.empty() && saying.total > 0) return no_frame("its piece is empty");
  return {};
}

}  // namespace

std::vector<net::Frame> data_frames(const LaunchId& launch, int edge,
                                    std::span<const std::byte> bytes, std::size_t most_payload) {
  std::vector<net::Frame> frames;
  std::size_t offset = 0;
  do {
    const auto piece = bytes.subspan(offset, std::min(most_payload, bytes.size() - offset));
    net::Frame frame = plain(ProgramSays::kData, launch);
    frame.header.words[1] = static_cast<std::uint64_t>(edge);
    frame.header.words[2] = bytes.size();
    frame.header.words[3] = offset;
    frame.payload = net::take_spare_bytes(piece.size());
    frame.payload.assign(piece.begin(), piece.end());
    frames.push_back(std::move(frame));
    offset += piece.size();
  } while (offset < bytes.size());
  return frames;
}

net::Frame end_frame(const LaunchId& launch, int arose, const Error& error) {
  net::Frame frame = plain(ProgramSays::kEnd, launch);
  frame.header.words[1] = static_cast<std::uint64_t>(arose);
  frame.payload = bare(error);
  return frame;
}

net::Frame news_frame(ProgramSays says, const LaunchId& launch) { return plain(says, launch); }

net::Frame left_frame(const Error& why) {
  net::Frame frame = plain(ProgramSays::kLeft, {});
  frame.payload = bare(why);
  return frame;
}

Result<ProgramSaying> read_program_frame(net::Frame frame) {
  const net::FrameHeader& header = frame.header;
  if (header.kind != kProgramFrame || header.flags >= kProgramSayings)
    return no_frame("it is of no kind that there is");
  ProgramSaying saying;
  saying.says = static_cast<ProgramSays>(header.flags);
  saying.launch = {header.words[0], header.sequence};
  const bool data = saying.says == ProgramSays::kData;
  const bool left = saying.says == ProgramSays::kLeft;
  const bool end = saying.says == ProgramSays::kEnd;
  const bool unused = (data || (header.words[2] == 0 && header.words[3] == 0)) &&
                      (data || end || header.words[1] == 0) && (!left || header.words[0] == 0) &&
                      (!(left || saying.says == ProgramSays::kOpen) || header.sequence == 0);
  if (!unused) return no_frame("a field that has no meaning is not zero");
  if (data) {
    MILLRACE_TRY_STATUS(read_data(std::move(frame), saying));
  } else if (left || end) {
    if (header.words[1] > kMostInt) return no_frame("its process is no process");
    saying.arose = static_cast<int>(header.words[1]);
    MILLRACE_TRY(saying.error, read_end(frame.payload, 1));
  } else if (!frame.payload.empty()) {
    return no_frame("it has a payload");
  }
  return saying;
}

}  // namespace millrace::collectives
