#include "millrace/core/net/peer_loss.h"

namespace millrace::net {

std::string_view to_string(LossCause cause) {
  switch (cause) {
    case LossCause::kReset:
      return "its stream ended without a goodbye";
    case LossCause::kProtocolError:
      return "it sent what has no place";
    case LossCause::kSilentDoor:
      return "nothing listens where it did";
    case LossCause::kHeldLost:
      return "it holds this process for lost";
    case LossCause::kDeclared:
      return "it was declared lost";
    case LossCause::kSilent:
      return "its link has been silent";
  }
  return "it is not there";
}

Error PeerLoss::error() const {
  std::string text = to_string(who) + " is lost: " + std::string(to_string(cause));
  if (!words.empty()) text += ": " + words;
  return Error(ErrorCode::kUnavailable, std::move(text)).with_detail(*this);
}

Error PeerEnded::error() const {
  std::string text = to_string(who) + " has ended";
  if (!words.empty()) text += ": " + words;
  return Error(ErrorCode::kUnavailable, std::move(text)).with_detail(*this);
}

const JobMember* named_in(const Error& error) {
  if (const auto* member = error.detail<JobMember>()) return member;
  if (const auto* loss = error.detail<PeerLoss>()) return &loss->who;
  if (const auto* ended = error.detail<PeerEnded>()) return &ended->who;
  return nullptr;
}

}  // namespace millrace::net
