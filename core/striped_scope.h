// StripedScope: a Scope that many threads take and leave all the time. Each thread counts in a
// cache line of its own, so that cores need not fetch one from each other for every change. Larger
// than a Scope, and its close() looks at every line.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "millrace/core/future.h"

namespace millrace {

// States: open -> closing (close was called, holders left) -> closed. Destroying one that has
// holders is a CHECK. Thread-safety: thread-safe.
class StripedScope {
 public:
  // One holder, released on destruction, by whatever thread.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept
        : scope_(std::exchange(other.scope_, nullptr)), stripe_(other.stripe_) {}
    Hold& operator=(Hold&& other) noexcept {
      reset();
      scope_ = std::exchange(other.scope_, nullptr);
      stripe_ = other.stripe_;
      return *this;
    }
    ~Hold() { reset(); }
    explicit operator bool() const { return scope_ != nullptr; }
    void reset() {
      if (scope_ != nullptr) std::exchange(scope_, nullptr)->let_go(stripe_);
    }

   private:
    friend class StripedScope;
    Hold(StripedScope* scope, std::size_t stripe) : scope_(scope), stripe_(stripe) {}
    StripedScope* scope_ = nullptr;
    std::size_t stripe_ = 0;
  };

  explicit StripedScope(const char* name) : name_(name) {}
  ~StripedScope();

  // Empty once close() was called: refuse the call with closed_error() then. Never waits.
  Hold hold();
  // After close() too, as long as another holds it: for what comes of what is held. Empty once it
  // is closed.
  Hold hold_late();
  bool closing() const;
  std::size_t holders() const;  // a sum of numbers that change meanwhile
  // Completes when the last holder is gone; every call gives the same future.
  Future<void> close();
  // kUnavailable: "<name> is closed".
  Error closed_error() const;

 private:
  static constexpr std::uint64_t kClosing = 1, kHolder = 2;
  static constexpr std::size_t kStripes = 16;
  struct alignas(64) Stripe {
    std::atomic<std::uint64_t> word{0};  // kClosing, and kHolder for each holder
  };

  void let_go(std::size_t stripe);
  void end_one();

  std::array<Stripe, kStripes> stripes_;
  const char* const name_;
  // What has not ended: stripes that are open or held, and late holders. It never rises from 0.
  std::atomic<std::size_t> left_{kStripes};
  std::atomic<std::size_t> late_{0};
  Promise<void> promise_;  // of whoever ends the last
  Future<void> closed_ = promise_.future();
};

}  // namespace millrace
