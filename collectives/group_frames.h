// What the processes of a group say to each other, as frames of a mesh. Pure codecs; what is read
// comes from another process and is checked. Read next: group_wire.h.
//
//   frame     sequence  words                            payload
//   kData     of call   its fingerprint, from, consumed  bytes of a message of a schedule
//   kCredit             -, from, consumed
//   kClosed   next one  -, from, consumed
//   kEnd      of call   -, from                          the error that it ended with
//   kCall     of call   its fingerprint, from            the call in words
//   kProbe    of call   its fingerprint, from
//   kPlace    of call   calls run there, from            who has not called it, or not written
//   kFailed             -, from                          a rank, and why it has failed
//   kMeeting  offset    bytes, from, rank, to rank       a piece of a rendezvous message
//
// from is the member that sends; consumed: the kData frames that it has taken from the receiver.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/collectives/rank.h"
#include "millrace/core/base/error.h"
#include "millrace/core/net/frame.h"

namespace millrace::collectives {

inline constexpr net::FrameKind kGroupFrame{32};

// In the flags of the header.
enum class GroupSays : std::uint8_t {
  kData,
  kCredit,
  kClosed,
  kEnd,
  kCall,
  kProbe,
  kPlace,
  kFailed,
  kMeeting,
};
inline constexpr std::uint8_t kGroupSayings = 9;

// Where frames of a member to another of this group go.
std::uint64_t group_channel(std::string_view group, std::uint64_t number, int to);
// Such a frame; words[0] and those after `from` are 0.
net::Frame group_frame(std::string_view group, std::uint64_t number, int from, int to,
                       GroupSays says, std::uint64_t sequence);

// Which ranks of a process hold up a call.
struct GroupPlace {
  std::vector<Rank> missing = {};    // have not called it
  std::vector<Rank> unwritten = {};  // have, and their inputs are not written
};

net::Bytes encode_end(const Error& error);
net::Bytes encode_place(const GroupPlace& place);
net::Bytes encode_failed(Rank rank, const Error& error);

struct FailedRank {
  Rank rank{};
  Error error;
};
// size: of the group. kInvalidArgument: it is none.
Result<Error> read_end(std::span<const std::byte> payload, int size);
Result<GroupPlace> read_place(std::span<const std::byte> payload, int size);
Result<FailedRank> read_failed(std::span<const std::byte> payload, int size);

}  // namespace millrace::collectives
