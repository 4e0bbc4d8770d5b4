#include "millrace/core/loop/completion_queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace {

using detail::LoopWait;
using detail::ThreadMark;

namespace {
thread_local const CompletionQueue* draining_here = nullptr;
}  // namespace

CompletionQueue::CompletionQueue(std::unique_ptr<LoopPort> port, const BridgeOptions& options)
    : Executor(this), options_(options), port_(std::move(port)), one_thread_(port_->one_thread()) {
  // Not own_thread_: whether the loop runs here is not known before the first drain.
  if (port_->made_on_loop()) mark_thread(ThreadMark::of_this_thread());
}

CompletionQueue::~CompletionQueue() {
  MILLRACE_CHECK(!Pushed::holds_entries(pushed_.word()) || forked(),
                 "a CompletionQueue was destroyed with work in it");
}

// ---- any thread

void CompletionQueue::submit(Work* work) noexcept {
  if (forked()) return work->drop();
  if (draining_here == this && passing_on_ && continuation_ == nullptr) {
    continuation_ = work;  // runs next, in the place of its LoopWait
    return;
  }
  const auto keep = Ref<CompletionQueue>::share(this);  // the work may destroy the bridge
  const Pushed::Word seen = pushed_.push(work, kEnded);
  if (seen == kEnded) return work->drop();
  // Inside a drain its end decides. Outside, another thread's wake-up may still be on its way, and
  // the loop must not end before it comes.
  if (on_own_thread() && !draining_) set_keep_alive(true);
  if (seen == kAsleep || may_end()) wake();
}

Error CompletionQueue::drop_error(const char* what) const {
  if (forked()) return fork_error();
  return Error(ErrorCode::kAborted,
               std::string("the bridge to an event loop closed before ") + what + " ran there");
}

Error CompletionQueue::fork_error() const {
  return Error(ErrorCode::kFailedPrecondition,
               "a bridge to an event loop was used in the child of a fork, but belongs to the "
               "parent: make the runtime, the loop and the bridge after the fork");
}

void CompletionQueue::wake() {
  const std::uint64_t sleep = sleeps_.load();
  wake_ups_.fetch_add(1, std::memory_order_relaxed);  // a count
  port_->wake();
  stays_for_.store(sleep);
}

// The loop sleeps, and the thread that wakes it has not done so yet.
bool CompletionQueue::may_end() const { return stays_for_.load() != sleeps_.load(); }

std::optional<Error> CompletionQueue::enter(LoopWait& wait) {
  if (forked()) return fork_error();
  const auto keep = Ref<CompletionQueue>::share(this);  // a close may end the wait's reference
  const std::size_t before = waiting_.fetch_add(1);
  wait.add_ref();
  if (arrivals_.push(&wait, kEnded) == kEnded) {
    wait.release();
    // The thread that closes may have counted this one and wait for its end.
    if (waiting_.fetch_sub(1) == 1 && pushed_.word() != kEnded) wake();
    return Error(ErrorCode::kCancelled, "the bridge to an event loop is closing");
  }
  // CQ-4: the loop must not end for want of work now.
  if (on_own_thread()) {
    set_keep_alive(true);
  } else if (before == 0 || may_end()) {
    wake();
  }
  return std::nullopt;
}

Future<void> CompletionQueue::close() {
  if (forked()) return fork_error();
  if (!close_asked_.exchange(true) || may_end()) {
    if (on_own_thread()) set_keep_alive(true);
    wake();
  }
  return closed_;
}

BridgeStats CompletionQueue::stats() const {
  return {.wake_ups = wake_ups_.load(),
          .drains = drains_.load(),
          .ran = ran_.load(),
          .waiting = waiting_.load()};
}

bool CompletionQueue::on_own_thread() const {
  const ThreadMark* const here = ThreadMark::existing();
  return one_thread_ && here != nullptr && here == own_thread_.load();
}

// ---- the loop's thread

std::size_t CompletionQueue::drain(const DrainLimits& limits) {
  // A callback that turns its loop itself finds the outer drain at work.
  if (state_ == State::kClosed || forked() || draining_) return 0;
  const auto keep = Ref<CompletionQueue>::share(this);  // a callback may destroy the bridge
  draining_ = true;
  const CompletionQueue* const outer = std::exchange(draining_here, this);
  adopt_thread();
  if (state_ == State::kOpen && close_asked_.load()) {
    state_ = State::kClosing;
    cancel_waits("closed while a continuation waited there");
  }
  const TimePoint begin = options_.clock->now();
  std::size_t ran = 0;
  bool more = true;
  while (more) {
    Work* const work = next();
    if (work == nullptr) {
      if (last_round_) {
        end();
        port_->detach(keep);
        break;
      }
      sleeps_.fetch_add(1);
      more = !pushed_.replace(kAwake, kAsleep) && pushed_.word() != kAsleep;
      if (more) stays_for_.store(sleeps_.load());
      continue;
    }
    work->run();
    if (Work* const handed = std::exchange(continuation_, nullptr)) {
      state_ == State::kClosed ? handed->drop() : handed->run();
    }
    ++ran;
    if (state_ == State::kClosed || forked()) break;
    if (ran >= limits.max || options_.clock->now() - begin >= limits.budget) break;
  }
  drains_.fetch_add(1, std::memory_order_relaxed);  // counts
  ran_.fetch_add(ran, std::memory_order_relaxed);
  draining_ = false;
  draining_here = outer;
  if (state_ != State::kClosed && !forked()) {  // CQ-3 and CQ-4
    set_keep_alive(more || close_asked_.load() || waiting_.load() != 0);
    if (kept_alive_) stays_for_.store(sleeps_.load());
    // A callback that turned its loop itself may have used up the wake-up of its own close().
    if (more || (state_ == State::kOpen && close_asked_.load())) wake();
  }
  return ran;
}

Work* CompletionQueue::next() {
  if (Work* work = local_.pop()) return work;
  if (last_round_) return nullptr;
  // No LoopWait is left, so every cancellation is in the queue by now.
  last_round_ = state_ == State::kClosing && waiting_.load() == 0;
  if (Pushed::holds_entries(pushed_.word()))
    local_.push_all(Pushed::oldest_first(pushed_.exchange(kAwake)));
  return local_.pop();
}

// The continuation, which the value's cell submits, is handed over and runs next.
void CompletionQueue::pass_on(LoopWait& wait) {
  if (!wait.linked_ && arrivals_.word() != kEnded) link_arrivals(arrivals_.exchange(0));
  if (wait.linked_) unlink(wait);
  passing_on_ = true;
  wait.pass_on();
  passing_on_ = false;
  waiting_.fetch_sub(1);
}

void CompletionQueue::link_arrivals(Arrivals::Word arrivals) {
  LoopWait* ordered = Arrivals::oldest_first(arrivals);
  while (ordered != nullptr) {
    LoopWait* const wait = std::exchange(ordered, ordered->after_);
    wait->linked_ = true;
    wait->after_ = std::exchange(first_wait_, wait);
    if (wait->after_ != nullptr) wait->after_->before_ = wait;
  }
}

void CompletionQueue::unlink(LoopWait& wait) {
  wait.linked_ = false;
  (wait.before_ == nullptr ? first_wait_ : wait.before_->after_) = wait.after_;
  if (wait.after_ != nullptr) wait.after_->before_ = wait.before_;
  wait.release();
}

void CompletionQueue::set_keep_alive(bool on) {
  if (kept_alive_ == on) return;
  kept_alive_ = on;
  port_->keep_alive(on);
}

void CompletionQueue::adopt_thread() {
  const Ref<ThreadMark>& here = ThreadMark::of_this_thread();
  if (own_thread_.load() == here.get()) return;
  own_thread_.store(here.get());
  if (one_thread_) release_threads();  // the loop was handed on
  mark_thread(here);
}

void CompletionQueue::mark_thread(const Ref<ThreadMark>& here) {
  if (std::ranges::find(marks_, here) != marks_.end()) return;
  std::erase_if(marks_, [](const Ref<ThreadMark>& mark) { return mark->unique(); });  // have ended
  marks_.push_back(here);
  here->add(1);
}

void CompletionQueue::release_threads() {
  for (const Ref<ThreadMark>& mark : marks_) mark->add(-1);
  marks_.clear();
}

// ---- the end

void CompletionQueue::cancel_waits(const char* why) {
  const Error error(ErrorCode::kCancelled, std::string("the bridge to an event loop was ") + why);
  link_arrivals(arrivals_.exchange(kEnded));
  for (LoopWait* wait = first_wait_; wait != nullptr; wait = wait->after_) wait->linked_ = false;
  // The waits are cancelled in the order in which they came; the list has the newest first.
  LoopWait* ordered = Arrivals::reversed(std::exchange(first_wait_, nullptr));
  while (ordered != nullptr) {
    LoopWait* const wait = std::exchange(ordered, ordered->after_);
    // Where the value came first, pass_on() counts.
    if (wait->cancel(error)) waiting_.fetch_sub(1);
    wait->release();
  }
}

void CompletionQueue::close_now() {
  if (state_ == State::kClosed) return;  // the port is detached, in a child of a fork too
  if (forked()) return port_->leave_in_child();
  const auto keep = Ref<CompletionQueue>::share(this);
  end();
  cancel_waits("destroyed while a continuation waited");
  port_->detach(keep);
}

// From here on a thread that pushes work drops it.
void CompletionQueue::end() {
  state_ = State::kClosed;
  const Pushed::Word word = pushed_.exchange(kEnded);
  release_threads();
  own_thread_.store(nullptr);
  local_.push_all(Pushed::oldest_first(word));
  while (Work* work = local_.pop()) work->drop();
  set_keep_alive(false);
}

void CompletionQueue::detached() { closed_promise_.set_value(); }

// ---- what waits for a value

namespace detail {

LoopWait::LoopWait(Executor& executor)
    : queue_(Ref<CompletionQueue>::share(executor.completion_queue())) {}
LoopWait::~LoopWait() = default;

std::optional<Error> LoopWait::enter() { return queue_->enter(*this); }

void LoopWait::on_complete(AsyncValue& /*value*/) noexcept {
  if (state_.exchange(State::kTaken) == State::kCancelled) {
    release();
    return;
  }
  // This may be gone, and its reference with it, before submit returns.
  const Ref<CompletionQueue> queue = queue_;
  queue->submit(this);
}

void LoopWait::run() noexcept {
  const Ref<CompletionQueue> queue = queue_;
  queue->pass_on(*this);
  release();
}

void LoopWait::drop() noexcept {
  fail(queue_->drop_error("a continuation"));  // the list is gone, or the parent's
  release();
}

bool LoopWait::cancel(const Error& error) {
  if (state_.exchange(State::kCancelled) == State::kTaken) return false;
  fail(error);
  queue_ = nullptr;  // the value may be long in coming: it keeps nothing of the bridge
  return true;
}

}  // namespace detail

LoopBridge& LoopBridge::operator=(LoopBridge&& other) noexcept {
  if (this != &other) {
    if (queue_) queue_->close_now();
    queue_ = std::move(other.queue_);
  }
  return *this;
}

LoopBridge::~LoopBridge() {
  if (queue_) queue_->close_now();
}

}  // namespace millrace
