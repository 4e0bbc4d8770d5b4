// What comes from other processes, and the news that one of them has ended.
#include <algorithm>
#include <utility>

#include "millrace/collectives/program_mail.h"

namespace millrace::collectives {

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

// PL-7
Status ProgramMail::hear(std::uint32_t rank, net::Frame frame) {
  if (frame.header.epoch != epoch_) return {};
  const auto place = std::ranges::lower_bound(ranks_, rank);
  if (place == ranks_.end() || *place != rank || rank == mesh_->rank()) {
    return fail(ErrorCode::kInvalidArgument,
                "a frame of programs from rank " + std::to_string(rank) +
                    ", which takes no part in programs of this process");
  }
  const auto from = static_cast<int>(place - ranks_.begin());
  MILLRACE_TRY(ProgramSaying saying, read_program_frame(std::move(frame)));
  net::Later later;
  MutexLock lock(mutex_);
  meet(from, later);
  if (closed_ || (saying.says != ProgramSays::kLeft && released_.contains(saying.launch.link)))
    return {};
  switch (saying.says) {
    case ProgramSays::kData:
      return hear_data(from, std::move(saying), later);
    case ProgramSays::kEnd:
      hear_end(from, saying, later);
      break;
    case ProgramSays::kOver:
    case ProgramSays::kGone:
      hear_news(from, saying, later);
      break;
    case ProgramSays::kAsk:
      break;  // it is met now
    case ProgramSays::kLeft:
      end_peer(from, Error(ErrorCode::kUnavailable, "it has left: " + saying.error->message()),
               later);
      break;
  }
  return {};
}

// It hears what it would have heard had it been met before.
void ProgramMail::meet(int process, net::Later& later) {
  if (std::exchange(peers_[static_cast<std::size_t>(process)].met, true)) return;
  if (closed_) return queue(process, left_frame(*closed_), later);
  for (const auto& [link, launches] : released_)
    queue(process, news_frame(ProgramSays::kGone, {link, launches}), later);
}

// Whether what comes of the launch has a place here: it is not over, and goes on.
bool ProgramMail::waits_here(int from, const LaunchId& id, net::Later& later) {
  Link& link = links_[id.link];
  User& user = link.users[from];
  user.came = std::max(user.came, id.number + 1);
  if (id.number < link.over) {
    // It may wait for the news.
    if (id.number >= user.reported) report_over(id.link, link, from, later);
    return false;
  }
  return !link.over_early.contains(id.number) && !link.launches[id.number].failed;
}

void ProgramMail::report_over(std::uint64_t id, Link& link, int to, net::Later& later) {
  link.users[to].reported = link.over;
  queue(to, news_frame(ProgramSays::kOver, {id, link.over}), later);
}

// PL-1
Status ProgramMail::hear_data(int from, ProgramSaying saying, net::Later& later) {
  if (!waits_here(from, saying.launch, later)) return {};
  Launch& launch = links_[saying.launch.link].launches[saying.launch.number];
  const Source source{saying.edge, from};
  MessageLine& line = launch.came[source];
  MILLRACE_TRY_STATUS(line.add(saying.total, saying.offset, std::move(saying.piece)));
  if (line.ready() && std::ranges::find(launch.wanted, source) != launch.wanted.end())
    note(launch, later);
  return {};
}

// PL-3
void ProgramMail::hear_end(int from, const ProgramSaying& saying, net::Later& later) {
  if (!waits_here(from, saying.launch, later)) return;
  Launch& launch = links_[saying.launch.link].launches[saying.launch.number];
  launch.failed = Failure{from, *saying.error};
  launch.came.clear();
  note(launch, later);
}

void ProgramMail::hear_news(int from, const ProgramSaying& saying, net::Later& later) {
  const std::uint64_t number = saying.launch.number;
  Link& link = links_[saying.launch.link];
  User& user = link.users[from];
  if (saying.says == ProgramSays::kOver) {
    user.over = std::max(user.over, number);
    user.given.erase(user.given.begin(), user.given.lower_bound(user.over));
  } else {
    user.gone = number;
    user.given.clear();
    for (auto at = link.launches.lower_bound(number); at != link.launches.end(); ++at)
      if (!at->second.wanted.empty()) note(at->second, later);
  }
  note_begins(link, later);
}

}  // namespace millrace::collectives
