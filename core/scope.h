// Scope: a gate for shutdown. Work holds it; close() refuses new holders and completes when the old
// are gone. Every close() of the house is one of these.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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

  // Empty once close() was called: refuse the call with closed_error() then. Never waits.
  Hold hold();
  bool closing() const { return (word_.load() & kClosing) != 0; }
  std::size_t holders() const { return word_.load() / kHolder; }
  // Completes when the last holder is gone; every call gives the same future.
  Future<void> close();
  // kUnavailable: "<name> is closed".
  Error closed_error() const;

 private:
  static constexpr std::uint64_t kClosing = 1, kHolder = 2;

  void let_go();
  void end();

  const char* name_;
  std::atomic<std::uint64_t> word_{0};  // kClosing, and kHolder for each holder
  Promise<void> promise_;               // of whoever finds it closing without holders: end()
  Future<void> closed_ = promise_.future();
};

}  // namespace millrace
