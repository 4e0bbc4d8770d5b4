// ShmMemory: memory that two processes of one host share, with a ring of bytes for each direction.
// It has no name (memfd), so that nothing of it stays behind, however a process ends; one process
// offers it to the other over their Unix socket. Read next: shm_ring.h, shm_stream.h.
//
// The offer is a message of 16 bytes, little-endian, with one descriptor:
//
//   0 magic "MRS1"   4 version   8 bytes of each ring
//
// The memory is a page with the words of both rings, then the rings: first that in which the
// process writes that made the offer. It is sealed: its size never changes, so that no access can
// fault. Each ring is mapped twice, one behind the other, so that bytes that wrap around lie in one
// piece. Pages are committed when they are first written: a ring that has been written round
// once holds all of its bytes. Where the system has no memory left for one, it kills, as for any
// memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"
#include "millrace/core/net/shm_ring.h"

namespace millrace::net {

// The largest page of the systems that this runs on: each part of the file is mapped alone.
inline constexpr std::size_t kShmPageBytes = std::size_t{64} << 10;
inline constexpr std::size_t kLeastRingBytes = kShmPageBytes;
inline constexpr std::size_t kMostRingBytes = std::size_t{16} << 20;

using ShmOffer = std::array<std::byte, 16>;
ShmOffer encode_offer(std::size_t ring_bytes);

// What the system says of a descriptor that came.
struct ShmFile {
  bool regular = false;
  std::uint64_t bytes = 0;
  int seals = -1;  // below 0: it cannot have any
};
ShmFile look_at_file(const Descriptor& file);

// The bytes of each ring. kUnimplemented for another version, else kInvalidArgument for an offer
// that is none, or a file that does not fit it.
Result<std::size_t> read_offer(std::span<const std::byte> message, const ShmFile& file);

// A mapping; the descriptor is not needed any more. Thread-safety: immutable, but for what it maps.
class ShmMemory {
 public:
  struct Made;
  // New memory. ring_bytes: a power of two within the limits. kResourceExhausted: the process or
  // the system lacks descriptors or memory.
  static Result<Made> create(std::size_t ring_bytes);
  // Memory that was offered: errors as of read_offer(), and kResourceExhausted.
  static Result<ShmMemory> map(std::span<const std::byte> message, const Descriptor& file);

  ShmMemory(ShmMemory&& other) noexcept;
  ShmMemory& operator=(ShmMemory&&) = delete;
  ~ShmMemory();

  std::size_t ring_bytes() const { return ring_bytes_; }
  RingWords<ShmWord>& words(std::size_t ring) const;
  // The ring, and the ring again.
  std::byte* bytes(std::size_t ring) const {
    return base_ + kShmPageBytes + 2 * ring * ring_bytes_;
  }

 private:
  ShmMemory(std::byte* base, std::size_t ring_bytes) : base_(base), ring_bytes_(ring_bytes) {}
  static Result<ShmMemory> map_file(const Descriptor& file, std::size_t ring_bytes);

  std::byte* base_;
  std::size_t ring_bytes_;
};

struct ShmMemory::Made {
  ShmMemory memory;
  Descriptor file;
};

// Over a Unix socket; never waits. Errors: kUnavailable if the socket does not take it.
Status send_offer(const Descriptor& socket, std::size_t ring_bytes, const Descriptor& file);
// nullopt: none is there yet. kUnavailable: the other end is gone; kResourceExhausted: this process
// may open no more descriptors; the errors of map().
Result<std::optional<ShmMemory>> receive_offer(const Descriptor& socket);

}  // namespace millrace::net
