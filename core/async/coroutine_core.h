// The trampoline under coroutine.h: one loop per running task that resumes whichever frame comes
// next.
#pragma once

#include <coroutine>
#include <stop_token>
#include <utility>

#include "millrace/core/async/executor.h"

namespace millrace::detail {

// What all frames of a spawned task share. Owned by the cell of its future.
class TaskContext {
 public:
  TaskContext(Executor& executor, std::stop_token token)
      : home(&executor), stop(std::move(token)) {}
  // The outermost frame has its result, and is suspended.
  virtual void finish() noexcept = 0;
  // The home executor dropped the task: destroys its frames, completes its future with kAborted.
  virtual void abandon() noexcept = 0;

  Executor* const home;
  const std::stop_token stop;

 protected:
  ~TaskContext() = default;
};

// Resumes frame, then whatever it hands over to, until a frame waits or the task ends.
void resume_on_trampoline(std::coroutine_handle<> frame) noexcept;
// From await_suspend: the loop resumes frame next.
void transfer_on_trampoline(std::coroutine_handle<> frame) noexcept;
// From await_suspend: the loop finishes the task.
void finish_on_trampoline(TaskContext& context) noexcept;

}  // namespace millrace::detail
