#include "millrace/core/bridged_thread.h"

#include <pthread.h>

namespace millrace {
namespace {

thread_local Ref<detail::ThreadMark> mark;
std::atomic<unsigned> generation{0};

void in_child() {
  generation.fetch_add(1);
  if (mark) mark->forget();
}

}  // namespace

bool on_bridged_thread() { return mark && mark->bridged(); }

namespace detail {

const Ref<ThreadMark>& ThreadMark::of_this_thread() {
  if (!mark) mark = make_ref<ThreadMark>();
  return mark;
}

ThreadMark* ThreadMark::existing() { return mark.get(); }

unsigned fork_generation() {
  static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
  static_cast<void>(registered);
  return generation.load();
}

}  // namespace detail
}  // namespace millrace
