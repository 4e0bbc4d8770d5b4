// What comes from other processes.
#include <algorithm>
#include <limits>
#include <utility>

#include "millrace/collectives/program_mail.h"

namespace millrace::collectives {

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
  peers_[static_cast<std::size_t>(from)].heard = true;
  const std::uint64_t id = saying.launch.link;
  if (closed_) {
    if (saying.says == ProgramSays::kOpen) say_left(from, later);
    return {};
  }
  if (saying.says == ProgramSays::kOpen) {
    hear_open(from, id, later);
    return {};
  }
  if (saying.says == ProgramSays::kLeft) {
    end_peer(from, Error(ErrorCode::kUnavailable, "it has left: " + saying.error->message()),
             later);
    return {};
  }
  if (released_.contains(id)) return {};
  if (const auto link = links_.find(id); link == links_.end() || !link->second.open) {
    return fail(ErrorCode::kInvalidArgument, "a frame about a program from rank " +
                                                 std::to_string(rank) +
                                                 ", which this process has not opened");
  }
  if (saying.says == ProgramSays::kData) return hear_data(from, std::move(saying), later);
  if (saying.says == ProgramSays::kEnd) return hear_end(from, saying, later);
  hear_news(from, saying, later);
  return {};
}

// Whether what comes of the launch has a place here: it is not over, and goes on.
bool ProgramMail::waits_here(int from, const LaunchId& id, net::Later& later) {
  Link& link = links_[id.link];
  User& user = link.users[from];
  user.used = true;
  if (id.number < link.over) {
    // It may wait for the news.
    if (id.number >= user.reported) report_over(id.link, link, from, later);
    return false;
  }
  return !link.over_early.contains(id.number) && !link.launches[id.number].failed;
}

void ProgramMail::report_over(std::uint64_t id, Link& link, int to, net::Later& later) {
  link.users[to].reported = link.over;
  say(link, to, news_frame(ProgramSays::kOver, {id, link.over}), later);
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
Status ProgramMail::hear_end(int from, const ProgramSaying& saying, net::Later& later) {
  if (saying.arose >= processes() || saying.arose == self_) {
    return fail(ErrorCode::kInvalidArgument,
                "an error of process " + std::to_string(saying.arose) + ", which it has not said");
  }
  if (!waits_here(from, saying.launch, later)) return {};
  Launch& launch = links_[saying.launch.link].launches[saying.launch.number];
  launch.failed = Failure{saying.arose, *saying.error};
  launch.came.clear();
  note(launch, later);
  return {};
}

void ProgramMail::hear_news(int from, const ProgramSaying& saying, net::Later& later) {
  const std::uint64_t number = saying.launch.number;
  Link& link = links_[saying.launch.link];
  User& user = link.users[from];
  user.over = std::max(user.over, number);
  user.given.erase(user.given.begin(), user.given.lower_bound(user.over));
  if (saying.says == ProgramSays::kGone) {
    user.gone = number;
    user.given.clear();
    user.waiting.clear();
  }
  note_takers(link, from, user.gone ? std::numeric_limits<std::uint64_t>::max() : user.over, later);
  note_begins(link, later);
}

}  // namespace millrace::collectives
