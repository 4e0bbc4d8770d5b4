#include "millrace/actors/child_ref.h"

namespace millrace::actors::detail {

ChildSlot::WaitingList ChildSlot::take_waiting() {
  waiting_bytes_ = 0;
  return std::exchange(waiting_, {});
}

bool ChildSlot::start(const Incarnation& cell) {
  std::optional<Promise<Incarnation>> next;
  {
    MutexLock lock(mutex_);
    cell_ = cell;
    serving_ = true;
    next.swap(next_);
  }
  const bool more = serve();
  if (next) next->set(cell);
  return more;
}

bool ChildSlot::serve() {
  Incarnation cell;
  WaitingList waiting;
  {
    MutexLock lock(mutex_);
    if (!cell_ || cell_->refuses()) {
      serving_ = false;  // they wait for the next one
      return false;
    }
    cell = cell_;
    waiting = take_waiting();
  }
  for (auto& [number, first] : waiting) first.promise.set(cell);
  MutexLock lock(mutex_);
  serving_ = !waiting_.empty();
  return serving_;
}

void ChildSlot::end(const Error& why) {
  std::optional<Promise<Incarnation>> next;
  WaitingList waiting;
  {
    MutexLock lock(mutex_);
    if (over_) return;
    over_ = why;
    cell_ = nullptr;
    next.swap(next_);
    waiting = take_waiting();
  }
  for (auto& [number, first] : waiting) first.promise.set_error(why);
  if (next) next->set_error(why);
}

Future<ChildSlot::Incarnation> ChildSlot::current(std::size_t bytes, const CallOptions& options) {
  std::uint64_t number = 0;
  Future<Incarnation> served;
  {
    MutexLock lock(mutex_);
    if (over_) return *over_;
    if (takes_messages()) return make_ready(Incarnation(cell_));
    if (!waiting_.empty() && waiting_bytes_ + bytes > limit_bytes_) {
      return fail(ErrorCode::kResourceExhausted,
                  described_ + " is being restarted, and " + std::to_string(waiting_bytes_) +
                      " bytes of messages wait for it already; await the futures of tell");
    }
    number = next_number_++;
    const auto added = waiting_.emplace(number, Waiting{Promise<Incarnation>(), bytes}).first;
    waiting_bytes_ += bytes;
    served = added->second.promise.future();
  }
  if (!options.stop.stop_possible() && options.deadline == kNoDeadline) return served;
  served.ignore();
  // The room is free again before the sender's future completes.
  return with_options(served, options, *environment_.timers)
      .then(inline_executor(),
            [self = Ref<ChildSlot>::share(this),
             number](Result<Incarnation> cell) -> Result<Incarnation> {
              if (!cell) self->give_up(number);
              return cell;
            });
}

void ChildSlot::give_up(std::uint64_t number) {
  WaitingList::node_type given_up;  // dropped without the lock
  MutexLock lock(mutex_);
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  waiting_bytes_ -= found->second.bytes;
  given_up = waiting_.extract(found);
}

Result<ChildSlot::Incarnation> ChildSlot::now() const {
  MutexLock lock(mutex_);
  if (over_) return std::unexpected(*over_);
  if (takes_messages()) return cell_;
  return fail(ErrorCode::kUnavailable, described_ + " is between two incarnations");
}

Future<ChildSlot::Incarnation> ChildSlot::next(std::optional<ActorId> after) {
  MutexLock lock(mutex_);
  if (over_) return *over_;
  // Also where it serves senders that have waited: its start has completed the promise before.
  if (after && cell_ && !cell_->refuses() && cell_->id() > *after)
    return make_ready(Incarnation(cell_));
  if (!next_) next_.emplace();
  return next_->future();
}

}  // namespace millrace::actors::detail
