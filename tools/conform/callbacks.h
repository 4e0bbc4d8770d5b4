// Callbacks of events that a check counts and looks into.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

// What an event calls. Thread-safe. Outlives the event: the check waits for every call that it
// expects; one more than that finds the object still there, as its memory is never freed.
class Callback {
 public:
  // body runs inside the callback, which has the error.
  static Callback& make(std::function<void(abi::Error*)> body = {}) {
    return *new Callback(std::move(body));
  }
  Status attach(Rig& rig, abi::Event* event) {
    abi::EventOnReadyArgs args;
    args.event = event;
    args.callback = &Callback::called;
    args.user_arg = this;
    return rig.table().call(args);
  }
  // Until so many calls have come and their bodies are done.
  Status wait(const Rig& rig, int calls, std::string_view what) {
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> patience(rig.options().patience_seconds);
    if (changed_.wait_for(lock, patience, [&] { return done_ >= calls; })) return {};
    return broken(std::string(what) + ": " + std::to_string(done_) + " of " +
                  std::to_string(calls) + " callbacks have come");
  }
  int calls() const {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }
  std::thread::id thread() const {
    const std::scoped_lock lock(mutex_);
    return thread_;
  }

 private:
  explicit Callback(std::function<void(abi::Error*)> body) : body_(std::move(body)) {}
  static void called(abi::Error* error, void* user_arg) {
    auto& self = *static_cast<Callback*>(user_arg);
    {
      const std::scoped_lock lock(self.mutex_);
      ++self.begun_;
      self.thread_ = std::this_thread::get_id();
    }
    if (self.body_) self.body_(error);
    const std::scoped_lock lock(self.mutex_);
    ++self.done_;
    self.changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0, done_ = 0;
  std::thread::id thread_;
  std::function<void(abi::Error*)> body_;
};

}  // namespace millrace::conform
