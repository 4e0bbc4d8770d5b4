// FrameOutlet: the frames of actors on their way to one rank, in one epoch. It gives the mesh no
// more at a time than a part of what the mesh takes for a rank, and keeps the rest, so that answers
// that come faster than they leave are late and not lost. Read next: caller.h, server.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"
#include "millrace/core/net/later.h"
#include "millrace/core/net/mesh.h"

namespace millrace::actors {

// States: open -> ended (frames are dropped). Shared by the two halves of what is said with a rank.
// Thread-safety: thread-safe.
class FrameOutlet final : public RefCounted {
 public:
  static constexpr std::size_t kMostInMesh = std::size_t{4} << 20;

  // Called once at most, without a lock, if the mesh refuses a frame.
  using Failed = std::function<void(const FrameOutlet*, const Error&)>;

  FrameOutlet(Ref<net::Mesh> mesh, std::uint32_t rank, std::uint32_t epoch, Failed failed)
      : mesh_(std::move(mesh)), rank_(rank), epoch_(epoch), failed_(std::move(failed)) {}

  std::uint32_t rank() const { return rank_; }
  std::uint32_t epoch() const { return epoch_; }
  // In the order of the calls. What follows from it runs with later, when the caller's locks are
  // free.
  void send(net::Frame frame, net::Later& later);
  // Bytes that the mesh has not got yet.
  std::size_t kept_bytes() const;
  // Drops what it keeps; calls failed no more.
  void end();

 private:
  void give(net::Frame frame, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void take_sent(std::size_t bytes, const Result<void>& sent);

  const Ref<net::Mesh> mesh_;
  const std::uint32_t rank_;
  const std::uint32_t epoch_;

  mutable Mutex mutex_;
  Failed failed_ MILLRACE_GUARDED_BY(mutex_);  // empty: ended
  PooledDeque<net::Frame> kept_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t kept_bytes_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::size_t in_mesh_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace millrace::actors
