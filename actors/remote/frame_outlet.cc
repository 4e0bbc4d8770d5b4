#include "millrace/actors/remote/frame_outlet.h"

#include <utility>

#include "millrace/actors/remote/remote_frames.h"
#include "millrace/core/async/executor.h"

namespace millrace::actors {
namespace {

std::size_t size_of(const net::Frame& frame) { return net::kHeaderBytes + frame.payload.size(); }

}  // namespace

void FrameOutlet::send(net::Frame frame, net::Later& later) {
  frame.header.words[kEpochWord] = epoch_;
  const std::size_t bytes = size_of(frame);
  MutexLock lock(mutex_);
  if (!failed_) return;
  if (kept_.empty() && (in_mesh_ == 0 || in_mesh_ + bytes <= kMostInMesh))
    return give(std::move(frame), later);
  kept_bytes_ += bytes;
  kept_.push_back(std::move(frame));
}

void FrameOutlet::give(net::Frame frame, net::Later& later) {
  const std::size_t bytes = size_of(frame);
  in_mesh_ += bytes;
  later.add([self = Ref<FrameOutlet>::share(this), bytes,
             sent = mesh_->send(rank_, std::move(frame))]() mutable {
    if (sent.ready()) return self->take_sent(bytes, sent.result());
    std::move(sent)
        .then(inline_executor(),
              [self, bytes](const Result<void>& result) { self->take_sent(bytes, result); })
        .ignore();
  });
}

void FrameOutlet::take_sent(std::size_t bytes, const Result<void>& sent) {
  net::Later later;
  MutexLock lock(mutex_);
  in_mesh_ -= bytes;
  if (!failed_) return;
  if (!sent) {
    later.add([self = Ref<FrameOutlet>::share(this), failed = std::exchange(failed_, nullptr),
               error = sent.error()] { failed(self.get(), error); });
    kept_.clear();
    kept_bytes_ = 0;
    return;
  }
  while (!kept_.empty() && (in_mesh_ == 0 || in_mesh_ + size_of(kept_.front()) <= kMostInMesh)) {
    net::Frame frame = std::move(kept_.front());
    kept_.pop_front();
    kept_bytes_ -= size_of(frame);
    give(std::move(frame), later);
  }
}

std::size_t FrameOutlet::kept_bytes() const {
  MutexLock lock(mutex_);
  return kept_bytes_;
}

void FrameOutlet::end() {
  Failed failed;  // ends outside of the lock
  MutexLock lock(mutex_);
  failed = std::exchange(failed_, nullptr);
  kept_.clear();
  kept_bytes_ = 0;
}

}  // namespace millrace::actors
