#include "millrace/core/loop_wait.h"

#include "millrace/core/completion_queue.h"

namespace millrace::detail {

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

}  // namespace millrace::detail
