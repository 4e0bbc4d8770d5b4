#include "millrace/actors/admission.h"

#include <algorithm>
#include <utility>

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

Admission::Verdict Admission::admit(std::size_t bytes, bool anyway) {
  const std::uint64_t share = share_of(bytes);
  std::uint64_t word = word_.load();
  do {
    if ((word & kClosedBit) != 0) return Verdict::kClosed;
    if (!anyway && ((word & kWaitingBit) != 0 || !fits(word, share))) return Verdict::kFull;
  } while (!word_.compare_exchange_weak(word, word + share));
  return Verdict::kAdmitted;
}

namespace {

// What a message holds may do anything when it goes: never under the lock.
void drop_all(WorkQueue messages) {
  while (Work* message = messages.pop()) message->drop();
}

}  // namespace

void Admission::Line::push(Envelope* message) {
  queue.push(message);
  bytes += message->bytes();
  ++messages;
}

Envelope* Admission::Line::pop() {
  auto* const message = static_cast<Envelope*>(queue.pop());
  bytes -= message->bytes();
  --messages;
  return message;
}

WorkQueue Admission::Line::take_withdrawn() {
  WorkQueue taken;
  for (std::size_t left = messages; left > 0; --left) {
    Envelope* const message = pop();
    message->withdrawn() ? taken.push(message) : push(message);
  }
  withdrawn = 0;
  return taken;
}

void Admission::withdraw() {
  Line* const line = line_.load();
  if (line == nullptr) return;
  WorkQueue taken;
  {
    MutexLock lock(line->mutex);
    // Only when they are half of the line: so each is looked at a few times, not at every call.
    if (++line->withdrawn * 2 >= line->messages) taken = line->take_withdrawn();
  }
  drop_all(taken);
}

Admission::~Admission() { delete line_.load(); }

Admission::Line& Admission::line() {
  Line* line = line_.load();
  if (line != nullptr) return *line;
  auto* const fresh = new Line;
  if (line_.compare_exchange_strong(line, fresh)) return *fresh;
  delete fresh;
  return *line;
}

Admission::Verdict Admission::wait(Envelope* message) {
  WorkQueue withdrawn;
  const Verdict verdict = enter_line(message, withdrawn);
  drop_all(withdrawn);
  return verdict;
}

Admission::Verdict Admission::enter_line(Envelope* message, WorkQueue& withdrawn) {
  const std::uint64_t share = share_of(message->bytes());
  Line& line = this->line();
  MutexLock lock(line.mutex);
  std::uint64_t word = word_.load();
  for (;;) {
    if ((word & kClosedBit) != 0) return Verdict::kClosed;
    if ((word & kWaitingBit) != 0) break;  // only a holder of the lock takes the bit away
    if (fits(word, share)) {
      if (word_.compare_exchange_weak(word, word + share)) return Verdict::kAdmitted;
    } else if (word_.compare_exchange_weak(word, word | kWaitingBit)) {
      break;  // a flush after this sees the bit and comes for the lock
    }
  }
  sender_waits_.store(true);
  if (!line.fits(message->bytes(), waiting_limit_bytes_)) {
    if (line.withdrawn == 0) return Verdict::kFull;
    withdrawn = line.take_withdrawn();
    if (!line.fits(message->bytes(), waiting_limit_bytes_)) return Verdict::kFull;
  }
  line.push(message);
  if (message->withdrawn()) ++line.withdrawn;  // an ask whose deadline had passed
  return Verdict::kWaiting;
}

bool Admission::release(std::size_t bytes) {
  // relaxed: written by the slice only; load() may see it late.
  done_.store(done_.load(std::memory_order_relaxed) + share_of(bytes), std::memory_order_relaxed);
  // Room that matters is released at once: a handler may take its time, and a sender be refused.
  const bool matters = (done_.load(std::memory_order_relaxed) & kBytesMask) > limit_bytes_ / 8;
  if (++done_messages_ < kDoneAtOnce && !matters && !sender_waits_.load()) return false;
  return flush();
}

bool Admission::flush() {
  if (done_messages_ == 0) return false;
  done_messages_ = 0;
  const std::uint64_t done = done_.load(std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  return (word_.fetch_sub(done) & kWaitingBit) != 0;
}

Envelope* Admission::next_waiting() {
  Line& line = this->line();
  MutexLock lock(line.mutex);
  if (line.queue.empty()) {
    word_.fetch_and(~kWaitingBit);
    sender_waits_.store(false);
    return nullptr;
  }
  // While the bit stands no other thread admits, so what fits now still fits when it is added.
  const auto* const first = static_cast<const Envelope*>(line.queue.front());
  const std::uint64_t share = share_of(first->bytes());
  if (!fits(word_.load(), share)) return nullptr;
  word_.fetch_add(share);
  return line.pop();
}

WorkQueue Admission::close() {
  // Who makes the line after this finds the bit.
  word_.fetch_or(kClosedBit);
  Line* const line = line_.load();
  if (line == nullptr) return {};
  MutexLock lock(line->mutex);
  word_.fetch_and(~kWaitingBit);
  sender_waits_.store(false);
  line->bytes = 0;
  line->messages = 0;
  return std::exchange(line->queue, {});
}

Admission::Load Admission::load() const {
  const std::uint64_t done = done_.load();
  const std::uint64_t word = word_.load();
  // A flush between the two would make them negative.
  const auto rest = [](std::uint64_t all, std::uint64_t part) {
    return static_cast<std::size_t>(all > part ? all - part : 0);
  };
  Load load{rest(messages_of(word), messages_of(done)), rest(word & kBytesMask, done & kBytesMask),
            0};
  if (const Line* line = line_.load()) {
    MutexLock lock(line->mutex);
    load.waiting_bytes = line->bytes;
  }
  return load;
}

}  // namespace millrace::actors
