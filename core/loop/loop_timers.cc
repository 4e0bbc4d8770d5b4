#include "millrace/core/loop/loop_timers.h"

namespace millrace {

LoopTimers::LoopTimers(EventLoop& loop) : loop_(loop), timers_(loop.timers().clock()) {
  timers_.set_wake([this] { arm(); });
}

// A timer of the loop may come later: it finds the scope closed.
void LoopTimers::operator delete(LoopTimers* timers, std::destroying_delete_t) {
  timers->close().ignore();
  detail::keep_for_good(timers);
}

Future<void> LoopTimers::close() {
  timers_.close();
  {
    MutexLock lock(mutex_);
    closed_ = true;
    if (armed_) loop_.timers().cancel(*armed_);
    armed_.reset();
  }
  return running_.close();
}

void LoopTimers::arm() {
  const std::optional<TimePoint> next = timers_.next_deadline();
  MutexLock lock(mutex_);
  if (!next || closed_ || (armed_ && armed_->first <= *next)) return;
  if (armed_) loop_.timers().cancel(*armed_);
  armed_ = loop_.timers().schedule(*next, [this] { on_deadline(); });
}

void LoopTimers::on_deadline() {
  const Scope::Hold hold = running_.hold();
  if (!hold) return;
  {
    MutexLock lock(mutex_);
    armed_.reset();
  }
  timers_.run_due();
  arm();
}

}  // namespace millrace
