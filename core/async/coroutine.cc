#include "millrace/core/async/coroutine.h"

namespace millrace::detail {
namespace {

struct Trampoline {
  std::coroutine_handle<> next;
  TaskContext* finished = nullptr;
};
thread_local Trampoline* current = nullptr;

}  // namespace

void resume_on_trampoline(std::coroutine_handle<> frame) noexcept {
  // A task may run inside another's frame (a promise set there, an inline executor): two loops.
  Trampoline mine;
  Trampoline* const outer = std::exchange(current, &mine);
  mine.next = frame;
  while (mine.next && mine.finished == nullptr) std::exchange(mine.next, nullptr).resume();
  current = outer;
  if (mine.finished != nullptr) mine.finished->finish();
}

void transfer_on_trampoline(std::coroutine_handle<> frame) noexcept { current->next = frame; }

void finish_on_trampoline(TaskContext& context) noexcept { current->finished = &context; }

}  // namespace millrace::detail
