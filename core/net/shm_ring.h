// RingReader and RingWriter: the two ends of a ring of bytes in shared memory, each in a process of
// its own. The pure part: who may touch which bytes, and who must wake whom; shm_stream.h moves
// the bytes and sleeps. Read next: tests/core/net/shm_ring_test.cc, which tries all interleavings.
//
// Positions count all bytes since the start. Each end keeps its own for itself, publishes it, and
// believes the other's only where it can be true.
//
//  - SR-1 no end touches bytes that the other may touch, whatever the other publishes.
//  - SR-2 no wake-up is lost: an end that sleeps is woken once there is something for it.
//  - SR-3 an end is woken at most as often as it has announced that it sleeps.
//
// All accesses to the words are sequentially consistent. SR-2 needs it: an end announces that it
// sleeps and then looks at the other's position; the other moves its position and then looks for
// the announcement; so one of both sees the other. A position that is seen also brings the bytes
// before it (release and acquire).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "millrace/core/base/error.h"

namespace millrace::net {

// What both ends share beside the bytes. Zero at the start, as new memory is. Word: atomic, 64
// bits; a test steps through its accesses.
template <class Word>
struct RingWords {
  alignas(64) Word written;  // the writer's position
  Word reader_sleeps;        // 1: the reader wants to be woken; the writer takes it back to 0
  alignas(64) Word read;     // the reader's position
  Word writer_sleeps;        // 1: the writer wants to be woken once half of the ring is free
};

using ShmWord = std::atomic<std::uint64_t>;
static_assert(ShmWord::is_always_lock_free && sizeof(ShmWord) == 8);
static_assert(sizeof(RingWords<ShmWord>) == 128);

inline std::unexpected<Error> bad_position() {
  return fail(ErrorCode::kUnavailable,
              "the other end has put a position into the shared memory that cannot be");
}

// One word by which an end says that it sleeps. Thread-safety: confined.
template <class Word>
class RingSleep {
 public:
  explicit RingSleep(Word& word) : word_(word) {}
  void announce() { asked_ += word_.exchange(1) == 0 ? 1u : 0u; }
  // Too late if the other end wakes already.
  void withdraw() { asked_ -= word_.exchange(0) != 0 ? 1u : 0u; }
  std::uint64_t asked() const { return asked_; }
  // The other end's side: whether it has to wake this one, now.
  static bool take(Word& word) { return word.load() != 0 && word.exchange(0) != 0; }

 private:
  Word& word_;
  std::uint64_t asked_ = 0;
};

// Thread-safety: confined. The words outlive it.
template <class Word>
class RingReader {
 public:
  RingReader(RingWords<Word>& words, std::size_t size)
      : words_(words), size_(size), sleep_(words.reader_sleeps) {}

  // Where in the ring it reads next.
  std::size_t offset() const { return read_ & (size_ - 1); }
  // How many bytes may be read; they go on at the ring's start. kUnavailable: see bad_position().
  Result<std::size_t> available() {
    if (written_ == read_) {
      MILLRACE_TRY_STATUS(look());
    }
    return written_ - read_;
  }
  // So many of them were read. True: the other end has to be woken.
  [[nodiscard]] bool release(std::size_t bytes) {
    read_ += bytes;
    words_.read.store(read_);
    if (words_.writer_sleeps.load() == 0) return false;
    // Few bytes at a time would cost a wake-up each. A false position is found by the next read.
    const bool worth = !look() || size_ - (written_ - read_) >= size_ / 2;
    return worth && RingSleep<Word>::take(words_.writer_sleeps);
  }
  // Announces that it sleeps. False: there are bytes, and it does not. The other end wakes it.
  Result<bool> may_sleep() {
    if (written_ != read_) return false;
    sleep_.announce();
    MILLRACE_TRY_STATUS(look());
    if (written_ == read_) return true;
    sleep_.withdraw();
    return false;
  }
  std::uint64_t asked() const { return sleep_.asked(); }

 private:
  Status look() {
    const std::uint64_t written = words_.written.load();
    if (written - read_ > size_ || written - read_ < written_ - read_) return bad_position();
    written_ = written;
    return {};
  }

  RingWords<Word>& words_;
  const std::size_t size_;  // a power of two
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;  // as last seen
  RingSleep<Word> sleep_;
};

// Thread-safety: confined. The words outlive it.
template <class Word>
class RingWriter {
 public:
  RingWriter(RingWords<Word>& words, std::size_t size)
      : words_(words), size_(size), sleep_(words.writer_sleeps) {}

  // Where in the ring it writes next.
  std::size_t offset() const { return written_ & (size_ - 1); }
  // How many bytes may be written; they go on at the ring's start. It looks again where fewer than
  // wanted are known of. kUnavailable: see bad_position().
  Result<std::size_t> room(std::size_t wanted) {
    if (size_ - (written_ - read_) < wanted) {
      MILLRACE_TRY_STATUS(look());
    }
    return size_ - (written_ - read_);
  }
  // So many were written. True: the other end has to be woken.
  [[nodiscard]] bool publish(std::size_t bytes) {
    written_ += bytes;
    words_.written.store(written_);
    return RingSleep<Word>::take(words_.reader_sleeps);
  }
  // Announces that it sleeps. False: there is room, and it does not. The other end wakes it.
  Result<bool> may_sleep() {
    if (written_ - read_ != size_) return false;
    sleep_.announce();
    MILLRACE_TRY_STATUS(look());
    if (written_ - read_ == size_) return true;
    sleep_.withdraw();
    return false;
  }
  std::uint64_t asked() const { return sleep_.asked(); }

 private:
  Status look() {
    const std::uint64_t read = words_.read.load();
    if (written_ - read > size_ || written_ - read > written_ - read_) return bad_position();
    read_ = read;
    return {};
  }

  RingWords<Word>& words_;
  const std::size_t size_;  // a power of two
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;  // as last seen
  RingSleep<Word> sleep_;
};

}  // namespace millrace::net
