// EventLoopThread: an EventLoop that runs on a thread of its own, for programs without one.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "millrace/core/loop/event_loop.h"

namespace millrace {

// Owns the loop and its thread. Thread-safety: thread-safe; what is confined to the loop's thread
// is reached by posting to it. The destructor closes and joins; it is never run on the loop's own
// thread. The constructor throws as start_thread.h says.
class EventLoopThread {
 public:
  EventLoopThread(std::unique_ptr<EventLoop> loop, const std::string& name);
  EventLoopThread(const EventLoopThread&) = delete;
  EventLoopThread& operator=(const EventLoopThread&) = delete;
  ~EventLoopThread();

  EventLoop& loop() { return *loop_; }
  // This thread is the loop's, also before and after the loop runs.
  bool on_own_thread() const { return thread_.get_id() == std::this_thread::get_id(); }
  // Stops the loop after the work that is running, drops the rest; completes as its thread ends.
  Future<void> close();

 private:
  std::unique_ptr<EventLoop> loop_;
  Promise<void> promise_;  // of the loop's thread
  const Future<void> closed_ = promise_.future();
  std::thread thread_;
};

}  // namespace millrace
