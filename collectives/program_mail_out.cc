// How what a process says goes out, and how it ends.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "millrace/collectives/program_mail.h"

namespace millrace::collectives {
namespace {

// The ends of a mesh have codes of their own.
Error as_unavailable(const Error& error) {
  if (error.code() == ErrorCode::kUnavailable) return error;
  return Error(ErrorCode::kUnavailable, error.message());
}

}  // namespace

void ProgramMail::queue(int to, net::Frame frame, net::Later& later) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  if (to == self_ || peer.end) return;
  peer.line.push_back(std::move(frame));
  later.add([this, to] { pump(to); });
}

void ProgramMail::queue_all(int to, Frames frames, net::Later& later) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  if (frames.empty() || peer.end) return;
  std::ranges::move(frames, std::back_inserter(peer.line));
  later.add([this, to] { pump(to); });
}

// One thread at a time, so that the order is kept.
void ProgramMail::pump(int to) {
  const std::uint32_t rank = ranks_[static_cast<std::size_t>(to)];
  while (true) {
    net::Frame frame;
    std::optional<std::uint64_t> opened;
    {
      MutexLock lock(mutex_);
      Peer& peer = peers_[static_cast<std::size_t>(to)];
      if (peer.busy || peer.line.empty() || peer.in_flight >= kWindow) return;
      peer.busy = true;
      ++peer.in_flight;
      frame = std::move(peer.line.front());
      peer.line.pop_front();
      if (!peer.heard) opened = frame.header.words[0];
    }
    frame.header.channel = epoch_;
    Future<void> sent =
        mesh_->epoch() == epoch_
            ? mesh_->send(rank, std::move(frame))
            : Future<void>(Error(ErrorCode::kUnavailable, "the job is in another epoch now"));
    {
      MutexLock lock(mutex_);
      peers_[static_cast<std::size_t>(to)].busy = false;
    }
    sent.then(mesh_->home(),
              [self = self_ref(), to, opened](const Result<void>& result) {
                self->take_sent(to, opened, result);
              })
        .ignore();
  }
}

void ProgramMail::take_sent(int to, std::optional<std::uint64_t> opened, const Result<void>& sent) {
  const ErrorCode code = sent ? ErrorCode::kInternal : sent.error().code();
  const bool early = opened && code == ErrorCode::kDeadlineExceeded;  // it may come yet (PL-4)
  // The other process may be there, and must not wait for a frame that the mesh did not take.
  if (!early && (code == ErrorCode::kResourceExhausted || code == ErrorCode::kDeadlineExceeded))
    mesh_->declare_lost(ranks_[static_cast<std::size_t>(to)], sent.error());
  {
    net::Later later;
    MutexLock lock(mutex_);
    --peers_[static_cast<std::size_t>(to)].in_flight;
    if (early) {
      const auto link = links_.find(*opened);
      if (!closed_ && link != links_.end() && link->second.open)
        queue(to, news_frame(ProgramSays::kOpen, {*opened, 0}), later);
    } else if (!sent) {
      end_peer(to, sent.error(), later);
    }
    check_drained(later);
  }
  pump(to);
}

void ProgramMail::say_left(int to, net::Later& later) {
  if (std::exchange(peers_[static_cast<std::size_t>(to)].left, true)) return;
  queue(to, left_frame(*closed_), later);
}

void ProgramMail::end_peer(int process, const Error& error) {
  net::Later later;
  MutexLock lock(mutex_);
  end_peer(process, error, later);
}

void ProgramMail::end_peer(int process, const Error& error, net::Later& later) {
  Peer& peer = peers_[static_cast<std::size_t>(process)];
  if (peer.end) return;
  peer.end = as_unavailable(error);
  peer.line.clear();
  for (auto& [id, link] : links_) {
    for (auto& [number, launch] : link.launches) {
      for (auto& [source, line] : launch.came)
        if (source.second == process) line.drop_part();
    }
    if (const auto user = link.users.find(process); user != link.users.end())
      user->second.waiting.clear();
    note_takers(link, process, std::numeric_limits<std::uint64_t>::max(), later);
    note_begins(link, later);
  }
  for (auto& [id, released] : released_) released.waiting.erase(process);
  check_drained(later);
}

// PL-6
void ProgramMail::close(const Error& why) {
  std::vector<std::map<Source, MessageLine>> freed;
  std::vector<Frames> freed_frames;
  net::Later later;
  MutexLock lock(mutex_);
  if (closed_) return;
  closed_ = why;
  for (auto& [id, link] : links_) {
    for (auto& [number, launch] : link.launches) {
      if (launch.begun && !launch.failed) send_end(link, {id, number}, {self_, why}, later);
      freed.push_back(std::exchange(launch.came, {}));
      note(launch, later);
    }
    for (auto& [to, user] : link.users) freed_frames.push_back(std::exchange(user.waiting, {}));
  }
  for (auto& [id, released] : released_) {
    for (auto& [to, waiting] : released.waiting) freed_frames.push_back(std::move(waiting));
    released.waiting.clear();
  }
  std::erase_if(links_, [](const auto& one) { return !one.second.open; });
  for (int to = 0; to < processes(); ++to)
    if (watched_ || peers_[static_cast<std::size_t>(to)].heard) say_left(to, later);
  check_drained(later);
}

void ProgramMail::check_drained(net::Later& later) {
  if (!closed_ || !drain_) return;
  for (const Peer& peer : peers_)
    if (peer.heard && !peer.end && (!peer.line.empty() || peer.in_flight > 0)) return;
  later.add([self = self_ref(), drain = *std::exchange(drain_, std::nullopt)]() mutable {
    self->mesh_->erase_sink({kProgramFrame, self->epoch_})
        .then(self->mesh_->home(),
              [drain = std::move(drain)](const Result<void>&) mutable { drain.set_value(); })
        .ignore();
  });
}

}  // namespace millrace::collectives
