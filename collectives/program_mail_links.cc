// Which links of programs are open, in this process and, as far as they have said so, in the
// others.
#include <utility>

#include "millrace/collectives/program_mail.h"
#include "millrace/core/base/check.h"
#include "millrace/devices/cache/sha256.h"

namespace millrace::collectives {
namespace {

// The epoch, too: what is left of an earlier one belongs to no link.
std::uint64_t link_id(std::string_view digest, std::uint64_t ordinal, std::uint32_t epoch) {
  std::byte numbers[12];
  net::store_number(numbers, ordinal);
  net::store_number(numbers + 8, epoch);
  devices::Sha256 sum;
  sum.add(net::text_of(numbers));
  sum.add(digest);
  const devices::Digest id = sum.finish();
  return net::load_number<std::uint64_t>(reinterpret_cast<const std::byte*>(id.data()));
}

}  // namespace

Result<std::uint64_t> ProgramMail::open(std::string name, std::string_view digest) {
  std::uint64_t id = 0;
  bool first = false;
  {
    net::Later later;
    MutexLock lock(mutex_);
    if (closed_) return std::unexpected(*closed_);
    auto count = opened_.find(digest);
    if (count == opened_.end()) count = opened_.emplace(std::string(digest), 0).first;
    id = link_id(digest, count->second++, epoch_);
    Link& link = links_[id];
    MILLRACE_CHECK(!link.open, "each link has a number of its own");
    link.open = true;
    link.name = std::move(name);
    first = !std::exchange(watched_, true);
    for (int to = 0; to < processes(); ++to)
      queue(to, news_frame(ProgramSays::kOpen, {id, 0}), later);
  }
  if (first) watch();
  return id;
}

void ProgramMail::watch() {
  for (int other = 0; other < processes(); ++other) {
    if (other == self_) continue;
    mesh_->peer_lost(ranks_[static_cast<std::size_t>(other)])
        .then(mesh_->home(),
              [self = self_ref(), other](const Result<net::PeerLoss>& loss) {
                self->end_peer(other, loss ? loss->error() : loss.error());
              })
        .ignore();
  }
}

void ProgramMail::release_link(std::uint64_t id) {
  net::Later later;
  MutexLock lock(mutex_);
  auto node = links_.extract(id);
  Link& link = node.mapped();
  Released& released = released_[id];
  released.launches = link.next;
  if (closed_) return;
  for (auto& [to, user] : link.users) {
    if (user.open) {
      queue(to, news_frame(ProgramSays::kGone, {id, link.next}), later);
    } else if (!user.waiting.empty()) {
      released.waiting.emplace(to, std::move(user.waiting));
    }
  }
}

void ProgramMail::hear_open(int from, std::uint64_t id, net::Later& later) {
  const auto gone = released_.find(id);
  if (gone == released_.end()) {
    User& user = links_[id].users[from];
    user.open = true;
    return queue_all(from, std::exchange(user.waiting, {}), later);
  }
  Released& released = gone->second;
  if (auto waiting = released.waiting.extract(from); !waiting.empty())
    queue_all(from, std::move(waiting.mapped()), later);
  queue(from, news_frame(ProgramSays::kGone, {id, released.launches}), later);
}

// PL-1
void ProgramMail::say(Link& link, int to, net::Frame frame, net::Later& later) {
  if (peers_[static_cast<std::size_t>(to)].end) return;
  User& user = link.users[to];
  if (user.open) return queue(to, std::move(frame), later);
  user.waiting.push_back(std::move(frame));
}

}  // namespace millrace::collectives
