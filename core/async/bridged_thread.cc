#include "millrace/core/async/bridged_thread.h"

#include <pthread.h>

#include <utility>

namespace millrace {
namespace {

constinit thread_local const EventLoop* running = nullptr;

thread_local Ref<detail::ThreadMark> mark;
std::atomic<unsigned> generation{0};

void in_child() {
  generation.fetch_add(1);
  if (mark) mark->clear();
}

}  // namespace

bool on_bridged_thread() { return mark && mark->bridged(); }

const EventLoop* running_loop() { return running; }
RunningLoopScope::RunningLoopScope(const EventLoop& loop) : outer_(std::exchange(running, &loop)) {}
RunningLoopScope::~RunningLoopScope() { running = outer_; }

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
