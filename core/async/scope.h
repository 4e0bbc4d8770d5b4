// Scope: a gate for close. Work holds it; close() refuses new holders and completes when the last
// one releases. StripedScope is for many threads that hold and release all the time: each thread
// counts in its own cache line, so that no change moves a line from core to core.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "millrace/core/async/future.h"

namespace millrace {

// States: open -> closing (close was called, holders left) -> closed. Destroying one that has
// holders is a CHECK. Thread-safety: thread-safe.
template <std::size_t kStripes>
class BasicScope {
  struct OnlyStripe {
    OnlyStripe(std::size_t /*stripe*/) {}  // NOLINT(google-explicit-constructor): as a number
    operator std::size_t() const { return 0; }
  };

 public:
  // One holder; its destruction on any thread releases it.
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
      if (scope_ != nullptr) std::exchange(scope_, nullptr)->release(stripe_);
    }

   private:
    friend class BasicScope;
    Hold(BasicScope* scope, std::size_t stripe) : scope_(scope), stripe_(stripe) {}
    BasicScope* scope_ = nullptr;
    [[no_unique_address]] std::conditional_t<kStripes == 1, OnlyStripe, std::size_t> stripe_ = 0;
  };

  explicit BasicScope(const char* name) : name_(name) {}
  ~BasicScope();

  // Empty once close() was called: refuse the call with closed_error() then. Never waits.
  Hold hold();
  // Also after close(), while a holder is left: for work that held work begins. Empty once closed.
  Hold hold_late()
    requires(kStripes > 1);
  bool closing() const { return (stripes_.back().word.load() & kClosing) != 0; }
  std::size_t holders() const;  // of several stripes a sum of numbers that change meanwhile
  // Completes when the last holder is gone; every call gives the same future.
  Future<void> close();
  // kUnavailable: "<name> is closed".
  Error closed_error() const;

 private:
  static constexpr std::uint64_t kClosing = 1, kHolder = 2;
  struct alignas(kStripes == 1 ? alignof(std::uint64_t) : 64) Stripe {
    std::atomic<std::uint64_t> word{0};  // kClosing, and kHolder for each holder
  };

  void release(std::size_t stripe);
  void end_one();

  std::array<Stripe, kStripes> stripes_;
  const char* const name_;
  // What has not ended: stripes that are open or held, and late holders. It never rises from 0.
  std::atomic<std::size_t> left_{kStripes};
  std::atomic<std::size_t> late_{0};
  Promise<void> promise_;  // set by the thread that ends the last
  Future<void> closed_ = promise_.future();
};

using Scope = BasicScope<1>;
using StripedScope = BasicScope<16>;
extern template class BasicScope<1>;
extern template class BasicScope<16>;

}  // namespace millrace
