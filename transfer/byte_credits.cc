#include "millrace/transfer/byte_credits.h"

#include <algorithm>

namespace millrace::transfer {

Future<ByteCredits::Credit> ByteCredits::acquire(std::size_t bytes, const CallOptions& options) {
  bool now = false;
  {
    MutexLock lock(mutex_);
    while (!waiters_.empty() && waiters_.front().call->claimed()) waiters_.pop_front();
    now = waiters_.empty() && fits(bytes);
    if (now) take(bytes);
  }
  if (now) return make_ready(Credit(Ref<ByteCredits>::share(this), bytes));
  const auto call = PendingCall<Credit>::make(options, timers_, "room for a transfer");
  Future<Credit> future = call->future();
  {
    MutexLock lock(mutex_);
    waiters_.push_back({call, bytes});
  }
  serve();  // there may be room meanwhile
  return future;
}

void ByteCredits::take(std::size_t bytes) {
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
}

void ByteCredits::give_back(std::size_t bytes) {
  {
    MutexLock lock(mutex_);
    in_use_ -= bytes;
  }
  serve();
}

void ByteCredits::serve() {
  for (;;) {
    Waiter first;
    {
      MutexLock lock(mutex_);
      while (!waiters_.empty() && waiters_.front().call->claimed()) waiters_.pop_front();
      if (waiters_.empty() || !fits(waiters_.front().bytes)) return;
      first = std::move(waiters_.front());
      waiters_.pop_front();
      if (!first.call->claim()) continue;  // it gave up this moment
      take(first.bytes);
    }
    first.call->complete(Credit(Ref<ByteCredits>::share(this), first.bytes));
  }
}

std::size_t ByteCredits::in_use() const {
  MutexLock lock(mutex_);
  return in_use_;
}

std::size_t ByteCredits::peak() const {
  MutexLock lock(mutex_);
  return peak_;
}

}  // namespace millrace::transfer
