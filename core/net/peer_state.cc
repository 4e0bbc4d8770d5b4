#include "millrace/core/net/peer_state.h"

namespace millrace::net {

bool may_move(PeerState from, PeerState to) {
  switch (from) {
    case PeerState::kUnlinked:
      return to == PeerState::kDialling || to == PeerState::kLinked || to == PeerState::kLost;
    case PeerState::kDialling:
      return to != PeerState::kDialling;
    case PeerState::kLinked:
      return to == PeerState::kEnded || to == PeerState::kLost;
    case PeerState::kEnded:
    case PeerState::kLost:
      return false;
  }
  return false;
}

bool is_foreign(const LinkHello& hello, const HelloView& view) {
  if (hello.job != view.job || hello.size != view.size || hello.to != view.self) return true;
  if (hello.from.rank >= view.size || hello.from.rank == view.self) return true;
  return view.proved && *view.proved != Identity{hello.from.rank, hello.incarnation};
}

LinkVerdict judge_hello(const LinkHello& hello, const HelloView& view) {
  if (is_foreign(hello, view)) return LinkVerdict::kForeign;
  if (hello.epoch < view.epoch) return LinkVerdict::kStale;
  if (hello.epoch > view.epoch) return LinkVerdict::kEarly;
  if (view.incarnation && *view.incarnation != hello.incarnation) return LinkVerdict::kReplaced;
  switch (view.state) {
    case PeerState::kUnlinked:
      return LinkVerdict::kAccept;
    case PeerState::kDialling:
      return view.calls && view.self < hello.from.rank ? LinkVerdict::kTie : LinkVerdict::kAccept;
    case PeerState::kLinked:
      return LinkVerdict::kLinked;
    case PeerState::kEnded:
    case PeerState::kLost:
      return LinkVerdict::kGone;
  }
  return LinkVerdict::kGone;
}

}  // namespace millrace::net
