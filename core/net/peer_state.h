// PeerState: where one process stands with one other, within an epoch, and what it answers to a
// hello of it. Pure. Read next: mesh.h, which keeps one for each rank.
//
// Either end may dial, so that each can begin when it first has a frame, and neither asks a third.
// Where both dial, the lower rank's link stays: both know it without a word. The higher rank's is
// refused only while the lower rank's hello may be under way; until then it is as good as any.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "millrace/core/net/link_hello.h"

namespace millrace::net {

enum class PeerState : std::uint8_t {
  kUnlinked,  // -> kDialling | kLinked | kLost
  kDialling,  // frames wait for a link -> kUnlinked (it failed) | kLinked | kEnded | kLost
  kLinked,    // -> kEnded | kLost
  kEnded,     // it said goodbye, or has left the epoch. Final until the next epoch
  kLost,      // final until the next epoch
};
bool may_move(PeerState from, PeerState to);

// What a process knows as a hello comes.
struct HelloView {
  std::uint32_t self = 0;
  std::uint32_t size = 0;
  std::uint32_t epoch = 0;
  std::string_view job = {};
  PeerState state = PeerState::kUnlinked;       // of the rank that the hello names
  bool calls = false;                           // a hello to it is, or may be, under way
  std::optional<Incarnation> incarnation = {};  // of that rank in this epoch, once known
  std::optional<Identity> proved = {};          // by the handshake, over TCP
};

// Whether a hello is of another job, or of a process that has no link to this one.
bool is_foreign(const LinkHello& hello, const HelloView& view);
LinkVerdict judge_hello(const LinkHello& hello, const HelloView& view);

}  // namespace millrace::net
