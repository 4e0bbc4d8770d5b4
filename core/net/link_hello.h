// LinkHello: the first frame of a link, by which the process that dials says who it is, and the two
// frames that may answer it. Pure. Over Unix sockets nothing else says it; over TCP the handshake
// has proved the secret, and the hello is held against it. Read next: peer_state.h, the answer.
//
//   dials                                                          listens
//   kLinkHello {epoch, from, to, size, incarnation, pid, job, host} ->
//                                   <- kLinkWelcome {from, incarnation}, or kLinkRefusal {verdict}
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "millrace/core/base/error.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/handshake.h"
#include "millrace/core/net/job_member.h"

namespace millrace::net {

inline constexpr std::size_t kMostHelloBytes = sizeof(Incarnation) + kMostHostBytes + kMostJobBytes;

struct LinkHello {
  JobMember from = {};
  Incarnation incarnation = {};
  std::uint32_t to = 0;
  std::uint32_t size = 0;  // of the job
  std::uint32_t epoch = 0;
  std::string job = {};
  bool operator==(const LinkHello&) const = default;
};

// The names are within their bounds, CHECKed.
Frame encode_hello(const LinkHello& hello);
// kInvalidArgument for what is no hello.
Result<LinkHello> read_hello(const Frame& frame);

// What a hello gets. A refusal on the wire has one from kTie on.
enum class LinkVerdict : std::uint8_t {
  kAccept,
  kTie,       // both dial: the lower rank's link stays
  kLinked,    // there is a link, which has not ended here yet
  kStale,     // of an earlier epoch
  kEarly,     // of an epoch in which this process has not said where it listens
  kGone,      // it has ended in this epoch, or is lost: it comes back with another epoch
  kReplaced,  // another incarnation has this rank in this epoch
  kForeign,   // of another job or size, or meant for another rank
  kClosing,   // this process ends its links
};
std::string_view to_string(LinkVerdict verdict);

Frame encode_welcome(const Identity& self, std::uint32_t epoch);
Frame encode_refusal(LinkVerdict verdict, std::uint32_t epoch);

struct LinkAnswer {
  LinkVerdict verdict = LinkVerdict::kAccept;
  Identity from = {};  // of a welcome
};
// kInvalidArgument for what is neither.
Result<LinkAnswer> read_answer(const Frame& frame);

}  // namespace millrace::net
