#include "millrace/core/loop/event_loop_base.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/pause.h"
#include "millrace/core/loop/event_fd.h"

namespace millrace {
namespace {

// Posted work that runs before descriptors and timers get their turn again.
constexpr int kDrainLimit = 1024;

// Looks at memory, in all half a microsecond, before other threads get this core for the first
// time: what is as near as that costs no two switches.
constexpr int kLooksAtOnce = 10;

// How long memory and posted work may keep descriptors waiting.
constexpr std::chrono::milliseconds kMostLooking(1);

}  // namespace

std::unexpected<Error> no_loop(const std::string& why) {
  return fail(
      ErrorCode::kResourceExhausted,
      "making an event loop: " + why + "; close descriptors, or allow more of them (ulimit -n)");
}

Status check_descriptors_left(int count) {
  std::vector<Descriptor> opened;
  while (count-- > 0) {
    // An epoll needs no path that this user may see.
    if (!opened.emplace_back(::epoll_create1(EPOLL_CLOEXEC))) return no_loop(std::strerror(errno));
  }
  return {};
}

DeadlineFd::DeadlineFd()
    : descriptor_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {}

void DeadlineFd::arm(std::optional<TimePoint> deadline, const Clock& clock) {
  if (deadline == armed_for_) return;
  itimerspec spec{};
  if (deadline) {
    const Duration left = std::max<Duration>(*deadline - clock.now(), std::chrono::nanoseconds(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    spec.it_value.tv_sec = seconds.count();
    spec.it_value.tv_nsec = (left - seconds).count();
  }
  MILLRACE_CHECK(timerfd_settime(descriptor(), 0, &spec, nullptr) == 0, "timerfd_settime");
  armed_for_ = deadline;
}

void DeadlineFd::consume() {
  EventFd::consume(descriptor());
  armed_for_.reset();
}

LoopBase::LoopBase(const Clock& clock) : clock_(clock), timers_(clock) {
  timers_.set_wake([this] { wake(); });
}

void LoopBase::operator delete(LoopBase* loop, std::destroying_delete_t) {
  loop->close();
  loop->deleted_.store(true);
  while (loop->waking_.load() != 0) std::this_thread::yield();
  loop->release();
  loop->deadline_.reset();
  detail::keep_for_good(loop);
}

void LoopBase::submit(Work* work) noexcept {
  {
    MutexLock lock(mutex_);
    if (!closed_) posted_.push(std::exchange(work, nullptr));
  }
  if (work != nullptr) return work->drop();
  if (running_loop() == this && waits_)
    posted_here_ = true;
  else
    wake();
}

void LoopBase::wake() {
  if (awake_.exchange(Awake::kYes) != Awake::kNo) return;
  waking_.fetch_add(1);
  if (!deleted_.load()) signal();
  waking_.fetch_sub(1);
}

void LoopBase::run() {
  const RunningLoopScope here(*this);
  waits_ = true;
  while (!stopping_.load()) {
    before_wait();
    turn(true);
  }
  waits_ = false;
  if (posted_here_) wake();  // the next run() or poll()
  stopping_.store(false);
}

bool LoopBase::poll() {
  const RunningLoopScope here(*this);
  ran_ = 0;
  before_wait();
  turn(false);
  return ran_ != 0;
}

void LoopBase::stop() {
  stopping_.store(true);
  wake();
}

Work* LoopBase::take() {
  MutexLock lock(mutex_);
  return posted_.pop();
}

bool LoopBase::empty() {
  MutexLock lock(mutex_);
  return posted_.empty();
}

// False: there may be more.
bool LoopBase::run_posted() {
  int left = kDrainLimit;
  for (; left > 0; --left) {
    Work* const work = take();
    if (work == nullptr) break;
    ++ran_;
    work->run();
  }
  posted_here_ = false;
  return left > 0;
}

void LoopBase::drain() {
  const bool all = run_posted();
  // Down first, then look again: what is posted in between either sees it down or is seen here.
  awake_.store(Awake::kNo);
  if (!all || !empty()) wake();
}

void LoopBase::before_wait() {
  if (posted_here_) drain();
  run_timers();
  if (!waits_) return act_on_memory();
  if (!look_until_idle()) return wake();
  bool sleeps = true;
  for (std::size_t i = 0; i < memory_.size(); ++i) sleeps = memory_[i]->may_sleep() && sleeps;
  if (!sleeps || posted_here_) wake();
}

// False: descriptors get their turn first, or the loop ends.
bool LoopBase::look_until_idle() {
  const TimePoint limit = steady_clock().now() + kMostLooking;
  while (look()) {
    if (stopping_.load() || steady_clock().now() >= limit) return false;
    run_timers();
  }
  return true;
}

void LoopBase::run_timers() {
  ran_ += timers_.run_due();
  deadline_->arm(timers_.next_deadline(), clock_);
}

// True: something has happened. What is posted meanwhile, by this thread too, needs no wake-up.
bool LoopBase::look() {
  Awake asleep = Awake::kNo;
  if (!awake_.compare_exchange_strong(asleep, Awake::kLooking)) return false;  // it is woken
  const auto is_there = [this] {
    return awake_.load() == Awake::kYes || (memory_.empty() ? descriptors_ready() : memory_ready());
  };
  bool found = posted_here_ || is_there();
  for (int i = 0; !found && i < kLooksAtOnce && !memory_.empty(); ++i) {
    pause_core();
    found = is_there();
  }
  found = found || wait_offering(is_there);
  act_on_memory();
  Awake looking = Awake::kLooking;
  const bool woken = !awake_.compare_exchange_strong(looking, Awake::kNo);
  if (woken || posted_here_) drain();
  return found || woken;
}

// A thread that waits for the loop runs it while this one lets others run: it need not be woken.
template <class Done>
bool LoopBase::wait_offering(const Done& done) {
  if (memory_.empty()) return short_wait_.wait_for(done);
  const ShortWait before = short_wait_;
  seat_.offer();
  const bool found = short_wait_.wait_for([&] {
    if (!seat_.regain()) return false;
    if (ran_elsewhere_ || done()) return true;
    seat_.offer();
    return false;
  });
  seat_.await();
  if (!std::exchange(ran_elsewhere_, false)) return found;
  short_wait_ = before;  // the wait says nothing of what the next one is worth
  return true;
}

bool LoopBase::run_some() noexcept {
  if (made_in_ != detail::fork_generation() || !seat_.take()) return false;
  const RunningLoopScope here(*this);
  const bool ran = !stopping_.load() && (memory_ready() || awake_.load() == Awake::kYes);
  if (ran) {
    ran_elsewhere_ = true;
    act_on_memory();
    awake_.store(Awake::kLooking);  // a stop or a timer is seen by ran_elsewhere_
    if (!run_posted()) awake_.store(Awake::kYes);
  }
  seat_.give();
  return ran;
}

bool LoopBase::memory_ready() const {
  return std::ranges::any_of(memory_, [](const MemoryWatch* watch) { return watch->ready(); });
}

// A look at descriptors takes a system call, and does at once what is to do.
bool LoopBase::descriptors_ready() {
  ran_ = 0;
  turn(false);
  return ran_ != 0;
}

void LoopBase::on_deadline() {
  deadline_->consume();
  ++ran_;
}

void LoopBase::act_on_memory() {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (!memory_[i]->ready()) continue;
    ++ran_;
    memory_[i]->act();
  }
}

void LoopBase::close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  while (Work* work = take()) work->drop();
  timers_.close();
}

WatchBase::~WatchBase() {
  if (waiting_) {
    waiting_->set_error(Error(ErrorCode::kCancelled, "the watch on the descriptor was closed"));
  }
}

Future<unsigned> WatchBase::wait(unsigned wanted) {
  if (waiting_) {
    return fail(ErrorCode::kFailedPrecondition,
                "waiting for a descriptor: another wait on the same watch is going on");
  }
  if (watched_ != wanted) {
    watched_ = 0;
    MILLRACE_TRY_STATUS(begin(wanted));
    watched_ = wanted;
  }
  return waiting_.emplace().future();
}

void WatchBase::found(unsigned readiness, bool over) {
  if (!waiting_) {
    watched_ = 0;
    return end();
  }
  const unsigned wanted = over ? std::exchange(watched_, 0) : watched_;
  ++loop_.ran_;
  Promise<unsigned> promise = *std::exchange(waiting_, std::nullopt);
  promise.set(readiness & wanted);
}

}  // namespace millrace
