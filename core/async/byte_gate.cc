#include "millrace/core/async/byte_gate.h"

#include <algorithm>
#include <string>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/timer_queue.h"

namespace millrace {

// A caller in line. Its promise is completed by the thread that takes it out of the line.
class ByteGate::Waiter final : public RefCounted, public Pooled {
 public:
  Waiter(Ref<ByteGate> gate, std::size_t bytes, Scope::Hold hold)
      : gate(std::move(gate)), bytes(bytes), hold(std::move(hold)) {}

  // The wait ends before the turn, perhaps at the same time as it: the lock decides.
  void leave_line(detail::WaitEnd end) {
    {
      MutexLock lock(gate->mutex_);
      Line& line = gate->line_;
      const auto place = std::ranges::find(line, this, &Ref<Waiter>::get);
      if (place == line.end()) return;
      line.erase(place);
    }
    fail(detail::wait_error(end, where()));
    gate->admit();  // it may have been first, and too large for what the next could have had
  }
  std::string where() const { return std::string("while it waited to enter ") + gate->name_; }
  void fail(Error error) {
    promise.set_error(std::move(error));
    hold.reset();
  }

  const Ref<ByteGate> gate;
  const std::size_t bytes;
  Scope::Hold hold;
  Promise<Pass> promise;
};

ByteGate::ByteGate(std::size_t limit_bytes, std::size_t most_waiting, TimerQueue& timers,
                   const char* name)
    : most_waiting_(most_waiting), timers_(timers), name_(name), inside_(limit_bytes) {}

ByteGate::~ByteGate() = default;

Future<ByteGate::Pass> ByteGate::enter(std::size_t bytes, const CallOptions& options) {
  MILLRACE_TRY_STATUS(check_in_time(options, timers_.clock(), "the request"));
  Scope::Hold hold = scope_.hold();
  Ref<Waiter> waiter;
  Future<Pass> turn;
  {
    MutexLock lock(mutex_);
    if (!hold || scope_.closing()) return scope_.closed_error();
    if (bytes > inside_.limit()) {
      return fail(ErrorCode::kResourceExhausted,
                  std::to_string(bytes) + " bytes never fit " + name_ + ", whose limit is " +
                      std::to_string(inside_.limit()) + "; raise it");
    }
    if (!line_.empty() || !inside_.fits(bytes)) {
      if (line_.size() >= most_waiting_) {
        return fail(ErrorCode::kResourceExhausted,
                    std::to_string(line_.size()) + " calls wait already to enter " + name_);
      }
      waiter = make_ref<Waiter>(Ref<ByteGate>::share(this), bytes, std::move(hold));
      turn = waiter->promise.future();
      line_.push_back(waiter);
    } else {
      inside_.take(bytes);
      turn = make_ready(Pass(Ref<ByteGate>::share(this), bytes, std::move(hold)));
    }
  }
  if (waiter) {
    detail::limit_wait(options, &timers_, Ref<AsyncValue>(turn.cell()), Ref<RefCounted>(waiter),
                       [](RefCounted& target, detail::WaitEnd end) {
                         static_cast<Waiter&>(target).leave_line(end);
                       });
  }
  return turn;
}

void ByteGate::leave(std::size_t bytes) {
  {
    MutexLock lock(mutex_);
    inside_.release(bytes);
  }
  admit();
}

// Lets in those who wait, in order, until the first does not fit.
void ByteGate::admit() {
  for (;;) {
    Ref<Waiter> first;
    {
      MutexLock lock(mutex_);
      if (line_.empty() || !inside_.fits(line_.front()->bytes)) return;
      first = std::move(line_.front());
      line_.pop_front();
      inside_.take(first->bytes);
    }
    first->promise.set(Pass(first->gate, first->bytes, std::move(first->hold)));
  }
}

std::size_t ByteGate::waiting() const {
  MutexLock lock(mutex_);
  return line_.size();
}

Future<void> ByteGate::close() {
  Future<void> closed = scope_.close();  // first: nothing joins the line after it is taken
  Line cancelled;
  {
    MutexLock lock(mutex_);
    cancelled.swap(line_);
  }
  for (const Ref<Waiter>& waiter : cancelled)
    waiter->fail(Error(ErrorCode::kCancelled, "closed " + waiter->where()));
  return closed;
}

}  // namespace millrace
