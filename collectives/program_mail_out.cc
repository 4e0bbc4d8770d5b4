// How what a process says goes out, and how it ends.
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
  meet(to, later);
  peer.line.push_back(std::move(frame));
  later.add([this, to] { pump(to); });
}

// One thread at a time, so that the order is kept.
void ProgramMail::pump(int to) {
  const std::uint32_t rank = ranks_[static_cast<std::size_t>(to)];
  while (true) {
    net::Frame frame;
    {
      MutexLock lock(mutex_);
      Peer& peer = peers_[static_cast<std::size_t>(to)];
      if (peer.busy || peer.line.empty() || peer.in_flight >= kWindow) return;
      peer.busy = true;
      ++peer.in_flight;
      frame = std::move(peer.line.front());
      peer.line.pop_front();
    }
    Future<void> sent =
        mesh_->epoch() == epoch_
            ? mesh_->send(rank, std::move(frame))
            : Future<void>(Error(ErrorCode::kUnavailable, "the job is in another epoch now"));
    {
      MutexLock lock(mutex_);
      peers_[static_cast<std::size_t>(to)].busy = false;
    }
    sent.then(mesh_->home(),
              [self = self_ref(), to](const Result<void>& result) { self->take_sent(to, result); })
        .ignore();
  }
}

void ProgramMail::take_sent(int to, const Result<void>& sent) {
  // The other process may be there, and must not wait for a frame that the mesh did not take.
  if (!sent && (sent.error().code() == ErrorCode::kResourceExhausted ||
                sent.error().code() == ErrorCode::kDeadlineExceeded))
    mesh_->declare_lost(ranks_[static_cast<std::size_t>(to)], sent.error());
  {
    net::Later later;
    MutexLock lock(mutex_);
    --peers_[static_cast<std::size_t>(to)].in_flight;
    if (!sent) end_peer(to, sent.error(), later);
    check_drained(later);
  }
  pump(to);
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
      for (const Source& source : launch.wanted) {
        if (source.second != process) continue;
        note(launch, later);
        break;
      }
    }
    note_begins(link, later);
  }
  check_drained(later);
}

// PL-6
void ProgramMail::close(const Error& why) {
  std::vector<std::map<Source, MessageLine>> freed;
  net::Later later;
  MutexLock lock(mutex_);
  if (closed_) return;
  closed_ = why;
  for (auto& [id, link] : links_) {
    for (auto& [number, launch] : link.launches) {
      if (launch.begun && !launch.failed) send_end(link, {id, number}, why, later);
      freed.push_back(std::exchange(launch.came, {}));
      note(launch, later);
    }
  }
  std::erase_if(links_, [](const auto& one) { return !one.second.open; });
  for (int to = 0; to < processes(); ++to)
    if (peers_[static_cast<std::size_t>(to)].met) queue(to, left_frame(why), later);
  check_drained(later);
}

void ProgramMail::check_drained(net::Later& later) {
  if (!closed_ || !drain_) return;
  for (const Peer& peer : peers_)
    if (!peer.end && (!peer.line.empty() || peer.in_flight > 0)) return;
  later.add([self = self_ref(), drain = *std::exchange(drain_, std::nullopt)]() mutable {
    self->mesh_->erase_sink({kProgramFrame})
        .then(self->mesh_->home(),
              [drain = std::move(drain)](const Result<void>&) mutable { drain.set_value(); })
        .ignore();
  });
}

}  // namespace millrace::collectives
