// Scope: a gate for shutdown. Work holds it; close() refuses new holders and completes when the old
// are gone. Every close() of the house is one of these.
#pragma once

#include <cstddef>
#include <utility>

#include "millrace/core/future.h"

namespace millrace {

// States: open -> closing (close was called, holders left) -> closed. Destroying a Scope that has
// holders is a CHECK. Thread-safety: thread-safe.
class Scope {
 public:
  // One holder, released on destruction.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept : scope_(std::exchange(other.scope_, nullptr)) {}
    Hold& operator=(Hold&& other) noexcept {
      reset();
      scope_ = std::exchange(other.scope_, nullptr);
      return *this;
    }
    ~Hold() { reset(); }
    explicit operator bool() const { return scope_ != nullptr; }
    void reset() {
      if (scope_ != nullptr) std::exchange(scope_, nullptr)->let_go();
    }

   private:
    friend class Scope;
    explicit Hold(Scope* scope) : scope_(scope) {}
    Scope* scope_ = nullptr;
  };

  explicit Scope(const char* name) : name_(name) {}
  ~Scope();

  // Empty once close() was called: refuse the call with closed_error() then.
  Hold hold();
  bool closing() const;
  std::size_t holders() const;
  // Completes when the last holder is gone; every call gives the same future.
  Future<void> close();
  // kUnavailable: "<name> is closed".
  Error closed_error() const;

 private:
  void let_go();

  const char* name_;
  mutable Mutex mutex_;
  std::size_t holders_ MILLRACE_GUARDED_BY(mutex_) = 0;
  bool closing_ MILLRACE_GUARDED_BY(mutex_) = false;
  Promise<void> promise_ MILLRACE_GUARDED_BY(mutex_);
  Future<void> closed_ = promise_.future();
};

}  // namespace millrace
