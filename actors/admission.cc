#include "millrace/actors/admission.h"

#include <algorithm>

namespace millrace::actors {

std::uint64_t Admission::share_of(std::size_t bytes) {
  // Never 0 (AD-3), and two of the largest still fit into the word.
  const std::uint64_t counted = std::clamp<std::uint64_t>(bytes, 1, kBytesMask / 2);
  return kOneMessage + counted;
}

bool Admission::fits(std::uint64_t word, std::uint64_t share) const {
  const std::uint64_t used = word & kBytesMask;
  if (used == 0) return true;
  return used + (share & kBytesMask) <= limit_bytes_ && messages_of(word) < kMostMessages;
}

Admission::Verdict Admission::try_admit(std::size_t bytes) {
  const std::uint64_t share = share_of(bytes);
  std::uint64_t word = word_.load();
  do {
    if ((word & kClosedBit) != 0) return Verdict::kClosed;
    if ((word & kWaitingBit) != 0 || !fits(word, share)) return Verdict::kFull;
  } while (!word_.compare_exchange_weak(word, word + share));
  return Verdict::kAdmitted;
}

Admission::Verdict Admission::admit_anyway(std::size_t bytes) {
  const std::uint64_t share = share_of(bytes);
  std::uint64_t word = word_.load();
  do {
    if ((word & kClosedBit) != 0) return Verdict::kClosed;
  } while (!word_.compare_exchange_weak(word, word + share));
  return Verdict::kAdmitted;
}

Admission::Verdict Admission::wait(Envelope* message) {
  const std::uint64_t share = share_of(message->bytes());
  MutexLock lock(mutex_);
  std::uint64_t word = word_.load();
  for (;;) {
    if ((word & kClosedBit) != 0) return Verdict::kClosed;
    if ((word & kWaitingBit) != 0) break;  // only a holder of the lock takes the bit away
    if (fits(word, share)) {
      if (word_.compare_exchange_weak(word, word + share)) return Verdict::kAdmitted;
    } else if (word_.compare_exchange_weak(word, word | kWaitingBit)) {
      break;  // whoever releases after this sees the bit and comes for the lock
    }
  }
  if (first_ != nullptr && waiting_bytes_ + message->bytes() > waiting_limit_bytes_)
    return Verdict::kFull;
  message->next = nullptr;
  if (first_ == nullptr) {
    first_ = message;
  } else {
    last_->next = message;
  }
  last_ = message;
  waiting_bytes_ += message->bytes();
  return Verdict::kWaiting;
}

bool Admission::release(std::size_t bytes) {
  return (word_.fetch_sub(share_of(bytes)) & kWaitingBit) != 0;
}

Envelope* Admission::next_waiting() {
  MutexLock lock(mutex_);
  Envelope* const message = first_;
  if (message == nullptr) {
    word_.fetch_and(~kWaitingBit);
    return nullptr;
  }
  // While the bit stands nobody else admits, so what fits now still fits when it is added.
  const std::uint64_t share = share_of(message->bytes());
  if (!fits(word_.load(), share)) return nullptr;
  word_.fetch_add(share);
  first_ = message->next_envelope();
  if (first_ == nullptr) last_ = nullptr;
  waiting_bytes_ -= message->bytes();
  message->next = nullptr;
  return message;
}

Envelope* Admission::close() {
  MutexLock lock(mutex_);
  word_.fetch_or(kClosedBit);
  word_.fetch_and(~kWaitingBit);
  Envelope* const waiting = first_;
  first_ = last_ = nullptr;
  waiting_bytes_ = 0;
  return waiting;
}

Admission::Load Admission::load() const {
  const std::uint64_t word = word_.load();
  MutexLock lock(mutex_);
  return {static_cast<std::size_t>(messages_of(word)), static_cast<std::size_t>(word & kBytesMask),
          waiting_bytes_};
}

}  // namespace millrace::actors
