#include "millrace/collectives/program_mail.h"

#include <algorithm>

#include "millrace/core/base/check.h"

namespace millrace::collectives {
namespace {

int place_of(const std::vector<std::uint32_t>& ranks, std::uint32_t rank) {
  MILLRACE_CHECK(std::ranges::adjacent_find(ranks, std::greater_equal()) == ranks.end(),
                 "the ranks of processes ascend");
  const auto found = std::ranges::lower_bound(ranks, rank);
  MILLRACE_CHECK(found != ranks.end() && *found == rank, "this process is one that takes part");
  return static_cast<int>(found - ranks.begin());
}

}  // namespace

ProgramMail::ProgramMail(Ref<net::Mesh> mesh, std::uint32_t epoch, std::vector<std::uint32_t> ranks)
    : mesh_(std::move(mesh)),
      ranks_(std::move(ranks)),
      self_(place_of(ranks_, mesh_->rank())),
      epoch_(epoch),
      peers_(ranks_.size()) {
  MILLRACE_CHECK(mesh_->max_payload() >= kLeastPayload, "an error fits a frame of the mesh");
  drained_ = drain_.emplace().future();
}

ProgramMail::~ProgramMail() { drained_.ignore(); }

Ref<ProgramMail> ProgramMail::make(Ref<net::Mesh> mesh, std::uint32_t epoch,
                                   std::vector<std::uint32_t> ranks) {
  auto mail = Ref<ProgramMail>::adopt(new ProgramMail(std::move(mesh), epoch, std::move(ranks)));
  mail->mesh_->set_sink({kProgramFrame, epoch},
                        [mail](std::uint32_t rank, net::Frame frame) -> Future<void> {
                          const Status heard = mail->hear(rank, std::move(frame));
                          if (heard) return {};
                          return heard.error();
                        });
  if (mail->mesh_->epoch() != epoch)
    mail->close(Error(ErrorCode::kAborted, "the job is in another epoch now"));
  return mail;
}

std::string ProgramMail::named(int process) const {
  const net::JobMember member = mesh_->member(ranks_[static_cast<std::size_t>(process)]);
  std::string text = "process " + std::to_string(process) + " (rank " + std::to_string(member.rank);
  if (!member.host.empty()) text += ", host " + member.host + ", pid " + std::to_string(member.pid);
  return text + ")";
}

LaunchId ProgramMail::next(std::uint64_t id) {
  MutexLock lock(mutex_);
  Link& link = links_[id];
  link.launches.try_emplace(link.next);
  return {id, link.next++};
}

ProgramMail::Launch& ProgramMail::launch_of(const LaunchId& id) {
  const auto link = links_.find(id.link);
  MILLRACE_CHECK(link != links_.end(), "a link stays open while it has launches");
  const auto launch = link->second.launches.find(id.number);
  MILLRACE_CHECK(launch != link->second.launches.end(), "a launch has one end");
  return launch->second;
}

// Why all of the launch ends.
std::optional<Error> ProgramMail::ended(const LaunchId& id, const Launch& launch) {
  if (closed_) return closed_;
  if (!launch.failed) return std::nullopt;
  return launch.failed->error.with_context(named(launch.failed->from) + " of " +
                                           links_[id.link].name);
}

// Why nothing goes to the process, and nothing more comes from it (PL-4).
std::optional<Error> ProgramMail::without(const LaunchId& id, int process) {
  const Link& link = links_[id.link];
  const auto& peer_end = peers_[static_cast<std::size_t>(process)].end;
  if (peer_end) return peer_end->with_context(named(process) + " of " + link.name);
  const auto user = link.users.find(process);
  if (user == link.users.end() || !user->second.gone || id.number < *user->second.gone)
    return std::nullopt;
  return Error(ErrorCode::kUnavailable, named(process) + " of " + link.name +
                                            ": it has released the program after " +
                                            std::to_string(*user->second.gone) + " launches");
}

// Why a message that has not come will not: the launch is over there (PL-4).
std::optional<Error> ProgramMail::missed(const LaunchId& id, const Source& source) {
  const Link& link = links_[id.link];
  const auto [edge, from] = source;
  const auto user = link.users.find(from);
  if (user == link.users.end() || id.number >= user->second.over) return std::nullopt;
  return Error(ErrorCode::kInternal, named(from) + " of " + link.name + ": it has ended launch " +
                                         std::to_string(id.number) + " without giving edge " +
                                         std::to_string(edge) + ", as if it ran another program");
}

// PL-2. The process whose launches are to end first; -1: none.
int ProgramMail::held_up_by(const Link& link, std::uint64_t number) const {
  if (number >= link.over + kMostUnderWay) return self_;
  for (const auto& [other, user] : link.users) {
    if (user.gone || peers_[static_cast<std::size_t>(other)].end) continue;
    if (!user.given.empty() && number >= *user.given.begin() + kMostAhead) return other;
  }
  return -1;
}

Result<bool> ProgramMail::begin(const LaunchId& id) {
  MutexLock lock(mutex_);
  Launch& launch = launch_of(id);
  launch.waits_for = std::nullopt;
  if (auto error = ended(id, launch)) return std::unexpected(*std::move(error));
  const int other = launch.begun ? -1 : held_up_by(links_[id.link], id.number);
  launch.begun = other < 0;
  launch.wants_begin = !launch.begun;
  if (!launch.begun) launch.waits_for = other;
  return launch.begun;
}

Status ProgramMail::give(const LaunchId& id, int edge, int to, std::span<const std::byte> bytes) {
  MILLRACE_CHECK(edge >= 0 && to >= 0 && to < processes() && to != self_,
                 "a launch gives to another process at an edge");
  {
    MutexLock lock(mutex_);
    Launch& launch = launch_of(id);
    MILLRACE_CHECK(launch.begun, "a launch gives once it has begun");
    if (auto error = ended(id, launch)) return std::unexpected(*std::move(error));
    if (auto error = without(id, to)) return std::unexpected(*std::move(error));
    if (bytes.size() > kMostMessage) {
      return fail(ErrorCode::kInvalidArgument, links_[id.link].name + " gives " +
                                                   std::to_string(bytes.size()) +
                                                   " bytes to another process at once");
    }
    User& user = links_[id.link].users[to];
    user.used = true;
    if (id.number >= user.over) user.given.insert(id.number);
  }
  std::vector<net::Frame> frames = data_frames(id, edge, bytes, mesh_->max_payload());
  {
    MutexLock lock(mutex_);
    Peer& peer = peers_[static_cast<std::size_t>(to)];
    User& user = links_[id.link].users[to];
    if (peer.end || closed_ || user.gone) return {};  // the next call says so
    std::ranges::move(frames, std::back_inserter(user.open ? peer.line : user.waiting));
  }
  pump(to);
  return {};
}

Result<bool> ProgramMail::take(const LaunchId& id, int edge, int from, std::span<std::byte> bytes) {
  MILLRACE_CHECK(edge >= 0 && from >= 0 && from < processes() && from != self_,
                 "a launch takes from another process at an edge");
  ProgramMessage message;
  {
    MutexLock lock(mutex_);
    Launch& launch = launch_of(id);
    launch.waits_for = std::nullopt;
    MILLRACE_CHECK(launch.begun, "a launch takes once it has begun");
    if (auto error = ended(id, launch)) return std::unexpected(*std::move(error));
    const Source source{edge, from};
    const auto line = launch.came.find(source);
    if (line == launch.came.end() || !line->second.ready()) {
      if (auto error = without(id, from)) return std::unexpected(*std::move(error));
      if (auto error = missed(id, source)) return std::unexpected(*std::move(error));
      if (std::ranges::find(launch.wanted, source) == launch.wanted.end())
        launch.wanted.push_back(source);
      launch.waits_for = from;
      return false;
    }
    std::erase(launch.wanted, source);
    message = line->second.take();
    if (message.total != bytes.size()) {
      return fail(ErrorCode::kInternal, named(from) + " of " + links_[id.link].name + " gave " +
                                            std::to_string(message.total) + " bytes at edge " +
                                            std::to_string(edge) + " of launch " +
                                            std::to_string(id.number) + ", where " +
                                            std::to_string(bytes.size()) + " are taken");
    }
  }
  message.move_to(bytes);
  return true;
}

// PL-5. There is reason to ask again.
void ProgramMail::note(Launch& launch, net::Later& later) {
  launch.reason = true;
  if (!launch.wake) return;
  launch.reason = false;
  launch.wanted.clear();
  launch.wants_begin = false;
  later.add(std::exchange(launch.wake, {}));
}

// Those that want something of the process.
void ProgramMail::note_takers(Link& link, int from, std::uint64_t below, net::Later& later) {
  for (auto& [number, launch] : link.launches) {
    if (number >= below) break;
    if (std::ranges::find(launch.wanted, from, &Source::second) != launch.wanted.end())
      note(launch, later);
  }
}

void ProgramMail::note_begins(Link& link, net::Later& later) {
  for (auto& [number, launch] : link.launches)
    if (launch.wants_begin && held_up_by(link, number) < 0) note(launch, later);
}

void ProgramMail::await(const LaunchId& id, std::function<void()> wake) {
  net::Later later;
  MutexLock lock(mutex_);
  Launch& launch = launch_of(id);
  MILLRACE_CHECK(!launch.wake, "a launch awaits once at a time");
  launch.wake = std::move(wake);
  if (launch.reason || ended(id, launch)) note(launch, later);
}

void ProgramMail::interrupt(const LaunchId& id) {
  net::Later later;
  MutexLock lock(mutex_);
  const auto link = links_.find(id.link);
  if (link == links_.end()) return;
  const auto launch = link->second.launches.find(id.number);
  if (launch != link->second.launches.end()) note(launch->second, later);
}

std::string ProgramMail::waits_for(const LaunchId& id) const {
  MutexLock lock(mutex_);
  const auto link = links_.find(id.link);
  if (link == links_.end()) return {};
  const auto launch = link->second.launches.find(id.number);
  if (launch == link->second.launches.end() || !launch->second.waits_for) return {};
  const int whom = *launch->second.waits_for;
  return whom == self_ ? "its own earlier launches" : named(whom);
}

// PL-3
void ProgramMail::send_end(Link& link, const LaunchId& id, const Failure& failure,
                           net::Later& later) {
  for (int to = 0; to < processes(); ++to) {
    if (to == self_ || to == failure.from || peers_[static_cast<std::size_t>(to)].end) continue;
    User& user = link.users[to];
    if (user.gone) continue;
    user.used = true;
    if (id.number >= user.over) user.given.insert(id.number);
    say(link, to, end_frame(id, failure.from, failure.error), later);
  }
}

void ProgramMail::end(const LaunchId& id, const Status& status) {
  Launches::node_type ended;  // what it has is freed outside of the lock
  net::Later later;
  MutexLock lock(mutex_);
  Launch& launch = launch_of(id);
  Link& link = links_[id.link];
  if (!status && !closed_)
    send_end(link, id, launch.failed ? *launch.failed : Failure{self_, status.error()}, later);
  note(launch, later);
  ended = link.launches.extract(id.number);
  link.over_early.insert(id.number);
  const std::uint64_t before = link.over;
  while (link.over_early.erase(link.over) > 0) ++link.over;
  if (!closed_ && (link.over == link.next || link.over / kReportEvery != before / kReportEvery)) {
    for (const auto& [to, user] : link.users)
      if (user.used && link.over > user.reported) report_over(id.link, link, to, later);
  }
  note_begins(link, later);
}

}  // namespace millrace::collectives
