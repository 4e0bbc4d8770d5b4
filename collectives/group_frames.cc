#include "millrace/collectives/group_frames.h"

#include <utility>

#include "millrace/collectives/fingerprint.h"
#include "millrace/collectives/wire.h"

namespace millrace::collectives {

std::uint64_t group_channel(std::string_view group, std::uint64_t number, int to) {
  Fingerprint print;
  for (const char letter : group) print.add_bytes(static_cast<unsigned char>(letter), 1);
  print.add(number);
  print.add(static_cast<std::uint64_t>(to));
  return print.value();
}

net::Frame group_frame(std::string_view group, std::uint64_t number, int from, int to,
                       GroupSays says, std::uint64_t sequence) {
  net::Frame frame;
  frame.header.kind = kGroupFrame;
  frame.header.flags = static_cast<std::uint8_t>(says);
  frame.header.channel = group_channel(group, number, to);
  frame.header.sequence = sequence;
  frame.header.words = {0, static_cast<std::uint64_t>(from), 0, 0};
  return frame;
}

net::Bytes encode_end(const Error& error) {
  net::WireWriter writer;
  encode_error(writer, error);
  return writer.take();
}

net::Bytes encode_place(const GroupPlace& place) {
  net::WireWriter writer;
  encode_ranks(writer, place.missing);
  encode_ranks(writer, place.unwritten);
  return writer.take();
}

net::Bytes encode_failed(Rank rank, const Error& error) {
  net::WireWriter writer;
  writer.number(at(rank));
  encode_error(writer, error);
  return writer.take();
}

Result<Error> read_end(std::span<const std::byte> payload, int size) {
  net::WireReader reader(payload);
  Error error = decode_error(reader, size);
  MILLRACE_TRY_STATUS(reader.end("the end of a collective"));
  return Result<Error>(std::in_place, std::move(error));
}

Result<GroupPlace> read_place(std::span<const std::byte> payload, int size) {
  net::WireReader reader(payload);
  GroupPlace place;
  place.missing = decode_ranks(reader, size);
  place.unwritten = decode_ranks(reader, size);
  MILLRACE_TRY_STATUS(reader.end("who holds up a collective"));
  return place;
}

Result<FailedRank> read_failed(std::span<const std::byte> payload, int size) {
  net::WireReader reader(payload);
  const Rank rank{static_cast<int>(reader.number(static_cast<std::uint64_t>(size) - 1))};
  FailedRank failed{rank, decode_error(reader, size)};
  MILLRACE_TRY_STATUS(reader.end("the failure of a rank"));
  return failed;
}

}  // namespace millrace::collectives
