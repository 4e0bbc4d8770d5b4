// Signs of life of the links of a mesh, where they may fall silent without an end.
#include <algorithm>
#include <utility>

#include "millrace/core/net/mesh.h"

namespace millrace::net {
namespace {

constexpr int kBeats = 20;        // in silent_after
constexpr int kSilentBeats = 22;  // a tenth more: see ME-8

}  // namespace

void Mesh::set_beat() {
  if (options_.silent_after.count() <= 0) return;
  const Duration pause = std::max(options_.silent_after / kBeats, Duration(1));
  beat_timer_ = transport_.timers().schedule(transport_.timers().clock().now() + pause,
                                             [self = self()] { self->beat(); });
}

// Beats are counted, not time: while this process is held up there are none.
void Mesh::beat() {
  Later later;
  {
    MutexLock lock(mutex_);
    if (closing()) return;
    for (auto& [rank, peer] : peers_) {
      if (peer.state != PeerState::kLinked) continue;
      if (peer.connection->take_sign_of_life()) {
        peer.silent_beats = 0;
      } else if (++peer.silent_beats >= kSilentBeats) {
        lose(peer, LossCause::kSilent, {}, later);
        continue;
      }
      peer.connection->send({{.kind = FrameKind::kLinkAlive}, {}}).ignore();
    }
  }
  set_beat();
}

}  // namespace millrace::net
