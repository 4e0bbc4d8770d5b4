// What the processes of a group say to each other, as frames of a mesh. Pure codecs; what is read
// comes from another process and is checked. Read next: group_wire.h.
//
//   frame     sequence     words                                        payload
//   kData     of the call  fingerprint of the call, from, consumed      bytes of a schedule's
//   message kCredit                -, from, consumed kClosed                -, from, consumed kEnd
//   of the call  -, from                                      the error that it ended with kCall of
//   the call  fingerprint of the call, from                the call in words kProbe    of the call
//   fingerprint of the call, from kPlace    of the call  calls that the sender has run, from who
//   has not called it, or not written kFailed                -, from a rank, and why it has failed
//   kMeeting  offset       bytes of the message, from, from and to rank a piece of a rendezvous
//   message
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
