#include "millrace/core/async/scope.h"

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

template <std::size_t kStripes>
BasicScope<kStripes>::~BasicScope() {
  MILLRACE_CHECK(holders() == 0, name_);
  if (!closing()) promise_.set_value();  // never closed: no close() waits
}

// By comparing, never by adding first: what was added for a moment could end a stripe again.
template <std::size_t kStripes>
auto BasicScope<kStripes>::hold() -> Hold {
  const std::size_t own = kStripes == 1 ? 0 : own_number() % kStripes;
  std::atomic<std::uint64_t>& held = stripes_[own].word;
  std::uint64_t word = held.load();
  do {
    if ((word & kClosing) != 0) [[unlikely]]
      return {};
  } while (!held.compare_exchange_weak(word, word + kHolder));
  return {this, own};
}

template <std::size_t kStripes>
auto BasicScope<kStripes>::hold_late() -> Hold
  requires(kStripes > 1)
{
  if (Hold in_time = hold()) [[likely]]
    return in_time;
  std::size_t left = left_.load();
  do {
    if (left == 0) return {};
  } while (!left_.compare_exchange_weak(left, left + 1));
  late_.fetch_add(1);
  return {this, kStripes};
}

template <std::size_t kStripes>
std::size_t BasicScope<kStripes>::holders() const {
  std::size_t all = late_.load();
  for (const Stripe& stripe : stripes_) all += stripe.word.load() / kHolder;
  return all;
}

// The thread that ends the last stripe may have destroyed this when the loop is over.
template <std::size_t kStripes>
Future<void> BasicScope<kStripes>::close() {
  Future<void> closed = closed_;
  for (Stripe& stripe : stripes_) {
    if (stripe.word.fetch_or(kClosing) == 0) end_one();
  }
  return closed;
}

template <std::size_t kStripes>
void BasicScope<kStripes>::release(std::size_t stripe) {
  if (stripe == kStripes) {
    late_.fetch_sub(1);
    end_one();
  } else if (stripes_[stripe].word.fetch_sub(kHolder) == (kClosing | kHolder)) {
    end_one();
  }
}

template <std::size_t kStripes>
void BasicScope<kStripes>::end_one() {
  if (left_.fetch_sub(1) != 1) return;
  Promise<void> done = std::move(promise_);
  done.set_value();  // of a promise that is no member any more: a waiter may destroy this
}

template <std::size_t kStripes>
Error BasicScope<kStripes>::closed_error() const {
  return Error(ErrorCode::kUnavailable, std::string(name_) + " is closed and takes no new work");
}

template class BasicScope<1>;
template class BasicScope<16>;

}  // namespace millrace
