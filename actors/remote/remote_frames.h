// Frames by which actors of several processes talk, and their payloads. Pure. Read next: caller.h
// and server.h, the two ends.
//
//   kind                 channel       sequence     words[0]       words[1]    payload
//   kActorFind           0             call         0              0           FindRequest
//   kActorMessage        actor         call or 0    fingerprint    0           the message
//   kActorAnswer         as its call,  call         see below      credit      the answer, or Error
//                        or 0
//   kActorCredit         actor, name   0            credit         0
//   kActorCreditWanted   actor, name   0            0              0
//   kActorWithdraw       as its call   call         0              0
//   kActorDown           actor         0            0              0           RemoteExit
//   kActorLink           actor         linker       0              0           name of the linker
//   kActorLinkEnd        actor         linker       0              0           RemoteExit
//   kActorCast           name          call         0              deadline    CastRequest
//
// A cast reaches an actor by its name, which cast_channel() makes a number. Casts of a name have a
// window of their own (send_window.h), as an actor's messages have.
// An answer has kAnswerIsValue, kAnswerIsError, or kAnswerIsGone, where a kActorDown came before.
// words[3] is the epoch in which the sender began to talk with this rank: a frame whose header has
// another one was overtaken by the epoch, and is dropped. A credit is in bytes of frames, a
// deadline in nanoseconds from now, 0: none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/actors/down.h"
#include "millrace/actors/remote/cast_plan.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/job_member.h"

namespace millrace::actors {

inline constexpr net::FrameKind kActorFind{48};
inline constexpr net::FrameKind kActorMessage{49};
inline constexpr net::FrameKind kActorAnswer{50};
inline constexpr net::FrameKind kActorCredit{51};
inline constexpr net::FrameKind kActorCreditWanted{52};
inline constexpr net::FrameKind kActorWithdraw{53};
inline constexpr net::FrameKind kActorDown{54};
inline constexpr net::FrameKind kActorLink{55};
inline constexpr net::FrameKind kActorLinkEnd{56};
inline constexpr net::FrameKind kActorCast{57};

inline constexpr std::uint64_t kAnswerIsValue = 0, kAnswerIsError = 1, kAnswerIsGone = 2;
inline constexpr std::size_t kEpochWord = 3;
inline constexpr std::size_t kMostNameBytes = 1024;     // of an actor
inline constexpr std::size_t kMostTypeBytes = 4096;     // of a class's name
inline constexpr std::size_t kMostSchemaBytes = 16384;  // of a message's lists
inline constexpr std::size_t kMostMessages = 256;       // of a class
inline constexpr std::size_t kMostErrorBytes = 16384;   // of an error's words; more is cut

// No id of an actor is so large.
inline constexpr ActorId kOfCast = ActorId{1} << 63;
ActorId cast_channel(std::string_view name);

struct FindRequest {
  std::string name = {};
  std::string type = {};                  // of the actor
  std::vector<std::string> schemas = {};  // of the messages of its class, as the asker has them
};
net::Bytes encode(const FindRequest& request);
Result<FindRequest> read_find(std::span<const std::byte> bytes);

struct FindAnswer {
  ActorId id = 0;
  // The asked schemas that differ, by their places, as they are there; empty: not there.
  std::vector<std::pair<std::size_t, std::string>> other = {};
};
net::Bytes encode(const FindAnswer& answer);
Result<FindAnswer> read_find_answer(std::span<const std::byte> bytes);

// Code, words, and of its details the ActorGone and the process that it names: a JobMember, or that
// of a PeerLoss or a PeerEnded.
net::Bytes encode(const Error& error);
// nullopt for what is no error.
std::optional<Error> read_error(std::span<const std::byte> bytes);

net::Bytes encode(const Exit& exit);
Result<Exit> read_exit(std::span<const std::byte> bytes);

struct CastRequest {
  std::string name = {};
  std::string type = {};
  std::string schema = {};  // of the message, as the caller has it
  CastRanks ranks = {};
  net::Bytes message = {};
};
net::Bytes encode(const CastRequest& request);
// size: of the job.
Result<CastRequest> read_cast(std::span<const std::byte> bytes, std::uint32_t size);

}  // namespace millrace::actors
