// Callback: what an event calls, counted and awaited by a check.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "millrace/tools/conform/table.h"

namespace millrace::conform {

// The event knows it by a number that is never used again: a plugin that calls twice, or after its
// end, finds nothing, where a pointer would be stale. Thread-safe.
class Callback {
 public:
  // body runs inside the callback, without a lock.
  explicit Callback(std::function<void()> body = {}) : body_(std::move(body)) {
    const std::scoped_lock lock(all().mutex);
    all().alive.emplace(number_ = ++all().last, this);
  }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback() {
    const std::scoped_lock lock(all().mutex);
    all().alive.erase(number_);
  }

  Status attach(const Table& table, abi::Event* event) const {
    abi::EventOnReadyArgs args;
    args.event = event;
    args.user_arg = reinterpret_cast<void*>(number_);
    args.callback = &Callback::called;
    return table.call(args);
  }
  // Until so many calls have come and their bodies are done; how many have.
  int wait(int calls, double seconds) const {
    std::unique_lock lock(all().mutex);
    all().changed.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return done_ >= calls; });
    return done_;
  }

  // Once a call has come.
  int calls() const { return read(begun_); }
  abi::Error* error() const { return read(error_); }  // of the first call
  bool inline_call() const { return read(thread_) == std::this_thread::get_id(); }  // the last one

 private:
  struct All {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uintptr_t, Callback*> alive;
    std::uintptr_t last = 0;
    Callback* find(std::uintptr_t number) {
      const auto found = alive.find(number);
      return found == alive.end() ? nullptr : found->second;
    }
  };
  static All& all() {
    static All* const instance = new All;  // never destroyed: plugins' threads run on
    return *instance;
  }
  static void called(abi::Error* error, void* user_arg) {
    const auto number = reinterpret_cast<std::uintptr_t>(user_arg);
    std::unique_lock lock(all().mutex);
    Callback* self = all().find(number);
    if (self == nullptr) return;
    if (++self->begun_ == 1) self->error_ = error;
    self->thread_ = std::this_thread::get_id();
    if (self->body_) {
      const std::function<void()> body = self->body_;
      lock.unlock();
      body();
      lock.lock();
      self = all().find(number);
    }
    if (self != nullptr) ++self->done_;
    all().changed.notify_all();
  }
  template <class T>
  static T read(const T& field) {
    const std::scoped_lock lock(all().mutex);
    return field;
  }

  const std::function<void()> body_;
  std::uintptr_t number_ = 0;
  int begun_ = 0, done_ = 0;
  std::thread::id thread_;
  abi::Error* error_ = nullptr;
};

}  // namespace millrace::conform
