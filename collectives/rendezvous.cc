#include "millrace/collectives/rendezvous.h"

#include "millrace/actors/system.h"

namespace millrace::collectives {

void RendezvousActor::on(RendezvousJoin&& join, actors::Reply<Payloads> reply) {
  RendezvousMachine::Actions actions;
  const RendezvousKey key = machine_.join(join.tag, join.subset, std::move(join.payload), actions);
  waiting_[key].reply = std::move(reply);
  if (join.deadline != kNoDeadline) arm(key, join.deadline);
  for (const Rank rank : actions.awaited) {
    if (!here(rank)) peers_->greet(rank);
  }
  perform(std::move(actions));
}

void RendezvousActor::on(RendezvousMessage&& message) {
  RendezvousMachine::Actions actions;
  machine_.receive(std::move(message), actions);
  perform(std::move(actions));
}

void RendezvousActor::on(const RankFailed& failed) {
  RendezvousMachine::Actions actions;
  machine_.rank_failed(failed.rank, failed.error, actions);
  perform(std::move(actions));
}

void RendezvousActor::on(const RankLeft& left) {
  RendezvousMachine::Actions actions;
  machine_.rank_left(left.rank, left.error, actions);
  perform(std::move(actions));
}

std::optional<std::size_t> RendezvousActor::here(Rank rank) const {
  const int place = index(rank) - peers_->first;
  if (place < 0 || place >= static_cast<int>(peers_->here.size())) return std::nullopt;
  return static_cast<std::size_t>(place);
}

void RendezvousActor::arm(const RendezvousKey& key, TimePoint deadline) {
  const auto allowed =
      std::chrono::duration<double>(deadline - context().environment().clock->now());
  std::string reason = "of group '" + group_ + "' was not complete within ";
  reason += std::to_string(allowed.count());
  reason += " s";
  auto expire = [this, key, reason = std::move(reason)] {
    RendezvousMachine::Actions actions;
    machine_.expire(key, reason, actions);
    perform(std::move(actions));
  };
  waiting_[key].timer = run_at(cell(), deadline, std::move(expire));
}

void RendezvousActor::perform(RendezvousMachine::Actions actions) {
  for (auto& [to, message] : actions.sends) {
    // RankFailed reports a peer that is gone, not its mailbox.
    if (const auto place = here(to)) {
      peers_->here[*place].send_notice(std::move(message));
    } else {
      peers_->far(self_, to, message);
    }
  }
  for (auto& [key, result] : actions.done) {
    auto node = waiting_.extract(key);
    if (node.empty()) continue;
    if (node.mapped().timer) context().environment().timers->cancel(*node.mapped().timer);
    node.mapped().reply.set(std::move(result));
  }
}

Future<void> RendezvousActor::on_stop(const actors::Exit& /*exit*/) {
  for (auto& [key, waiting] : waiting_) {
    if (waiting.timer) context().environment().timers->cancel(*waiting.timer);
    waiting.reply.set(fail(ErrorCode::kCancelled, "rendezvous '" + key.tag + "' of group '" +
                                                      group_ + "': the group was closed"));
  }
  waiting_.clear();
  return {};
}

}  // namespace millrace::collectives
