#include "millrace/actors/remote/cast_run.h"

#include <algorithm>

namespace millrace::actors {
namespace {

constexpr std::size_t kMostNamedRuns = 8;

}  // namespace

// The call to the first process of a part.
class CastRun::Part final : public PendingCall {
 public:
  Part(Ref<CastRun> run, std::size_t place) : run_(std::move(run)), place_(place) {}

  void take(const Result<net::Bytes>& answer) noexcept override { run_->take(place_, answer); }
  std::string what() const override {
    return "the cast of " + run_->message_.schema.name + " to actor '" + run_->actor_ + "'";
  }
  bool ended() const override { return run_->ended(); }

 private:
  const Ref<CastRun> run_;
  const std::size_t place_;
};

class CastRun::OwnAnswer final : public RefCounted, public Waiter {
 public:
  OwnAnswer(Ref<CastRun> run, std::size_t place, net::JobMember self)
      : run_(std::move(run)), place_(place), self_(std::move(self)) {}

  void on_complete(AsyncValue& answer) noexcept override {
    const auto self = Ref<OwnAnswer>::adopt(this);
    Result<net::Bytes> bytes = run_->message_.encode(answer);
    if (!bytes)
      bytes = std::unexpected(bytes.error().with_context(net::to_string(self_)).with_detail(self_));
    run_->take(place_, bytes);
  }

 private:
  const Ref<CastRun> run_;
  const std::size_t place_;
  const net::JobMember self_;
};

std::size_t CastRun::add(const CastRanks& ranks) {
  MutexLock lock(mutex_);
  places_.push_back({ranks});
  ++missing_;
  return places_.size() - 1;
}

void CastRun::start(TimerQueue& timers, TimePoint deadline) {
  MutexLock lock(mutex_);
  if (deadline == kNoDeadline) return;
  timers_ = &timers;
  timer_ = timers.schedule(deadline, [self = Ref<CastRun>::share(this)] { self->expire(); });
}

Ref<PendingCall> CastRun::call(std::size_t place) {
  return make_ref<Part>(Ref<CastRun>::share(this), place);
}

void CastRun::sent(const Ref<Caller>& caller, std::uint64_t number) {
  {
    MutexLock lock(mutex_);
    if (done_) return calls_.emplace_back(caller, number), void();
  }
  caller->withdraw(number);  // it has ended meanwhile
}

void CastRun::watch_own(std::size_t place, const Ref<AsyncValue>& answer,
                        const net::JobMember& self) {
  auto own = make_ref<OwnAnswer>(Ref<CastRun>::share(this), place, self);
  answer->add_waiter(own.detach());
}

bool CastRun::ended() {
  MutexLock lock(mutex_);
  return !done_;
}

void CastRun::take(std::size_t place, const Result<net::Bytes>& answer) {
  net::Later later;
  MutexLock lock(mutex_);
  if (!done_ || places_[place].answer) return;
  if (!answer) return end(std::unexpected(answer.error()), later);
  places_[place].answer = *answer;
  if (--missing_ > 0) return;
  std::vector<net::Bytes> answers;
  for (Place& one : places_) answers.push_back(std::move(*one.answer));
  calls_.clear();
  // Reduces without the lock: it is the user's code.
  later.add(
      [self = Ref<CastRun>::share(this), answers = std::move(answers),
       done = std::exchange(done_, nullptr)]() mutable { done(self->message_.reduce(answers)); });
  if (timer_) later.add([timers = timers_, timer = *timer_] { timers->cancel(timer); });
}

void CastRun::cancel(const Error& why) {
  net::Later later;
  MutexLock lock(mutex_);
  if (done_) end(std::unexpected(why), later);
}

void CastRun::expire() {
  net::Later later;
  MutexLock lock(mutex_);
  if (!done_) return;
  std::string names;
  std::size_t runs = 0;
  for (const Place& place : places_) {
    if (place.answer) continue;
    for (const RankRun& run : place.ranks.runs()) {
      if (++runs > kMostNamedRuns) break;
      names += (names.empty() ? "" : ", ") + std::to_string(run.first);
      if (run.count > 1) names += " to " + std::to_string(run.first + run.count - 1);
    }
  }
  if (runs > kMostNamedRuns) names += ", ...";
  timer_.reset();
  end(fail(ErrorCode::kDeadlineExceeded,
           "the cast of " + message_.schema.name + " to actor '" + actor_ +
               "': the deadline came first; no answer of rank " + names),
      later);
}

void CastRun::end(Result<net::Bytes> result, net::Later& later) {
  later.add([done = std::exchange(done_, nullptr), result = std::move(result)]() mutable {
    done(result);
  });
  for (auto& [caller, number] : std::exchange(calls_, {}))
    later.add([caller = std::move(caller), number] { caller->withdraw(number); });
  if (timer_) later.add([timers = timers_, timer = *timer_] { timers->cancel(timer); });
}

}  // namespace millrace::actors
