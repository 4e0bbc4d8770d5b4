#include "millrace/core/striped_scope.h"

#include <string>

namespace millrace {
namespace {

// Threads take turns at the stripes: each keeps its own.
std::size_t own_number() {
  constinit static std::atomic<std::size_t> next{0};
  thread_local const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

StripedScope::~StripedScope() {
  MILLRACE_CHECK(holders() == 0, name_);
  if (!closing()) promise_.set_value();  // never closed, never held: nobody waits
}

// By comparing, as Scope does: what was added for a moment could end a stripe again.
StripedScope::Hold StripedScope::hold() {
  const std::size_t own = own_number() % kStripes;
  std::atomic<std::uint64_t>& held = stripes_[own].word;
  std::uint64_t word = held.load();
  do {
    if ((word & kClosing) != 0) [[unlikely]]
      return {};
  } while (!held.compare_exchange_weak(word, word + kHolder));
  return {this, own};
}

StripedScope::Hold StripedScope::hold_late() {
  if (Hold in_time = hold()) [[likely]]
    return in_time;
  std::size_t left = left_.load();
  do {
    if (left == 0) return {};
  } while (!left_.compare_exchange_weak(left, left + 1));
  late_.fetch_add(1);
  return {this, kStripes};
}

bool StripedScope::closing() const { return (stripes_.back().word.load() & kClosing) != 0; }

std::size_t StripedScope::holders() const {
  std::size_t all = late_.load();
  for (const Stripe& stripe : stripes_) all += stripe.word.load() / kHolder;
  return all;
}

// Whoever ends the last stripe may have destroyed this when the loop is over.
Future<void> StripedScope::close() {
  Future<void> closed = closed_;
  for (Stripe& stripe : stripes_) {
    if (stripe.word.fetch_or(kClosing) == 0) end_one();
  }
  return closed;
}

void StripedScope::let_go(std::size_t stripe) {
  if (stripe == kStripes) {
    late_.fetch_sub(1);
    end_one();
  } else if (stripes_[stripe].word.fetch_sub(kHolder) == (kClosing | kHolder)) {
    end_one();
  }
}

void StripedScope::end_one() {
  if (left_.fetch_sub(1) != 1) return;
  Promise<void> done = std::move(promise_);
  done.set_value();  // of a promise that is no member any more: a waiter may destroy this
}

Error StripedScope::closed_error() const {
  return Error(ErrorCode::kUnavailable, std::string(name_) + " is closed and takes no new work");
}

}  // namespace millrace
