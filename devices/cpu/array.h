// CpuArray: an array in a CPU device's memory. The handle on it that users hold is another object
// (buffer.h), so that a donation can take the array away while the handle lives on.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "millrace/core/async/future.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"
#include "millrace/devices/memory_pool.h"

namespace millrace::devices::cpu {

// The cell of a future whose error another one reports too.
class QuietCell final : public Cell<void> {
 public:
  QuietCell() { mark_observed(); }
};

// The array itself, shared by those who use its bytes: the handle, launches, copies; not by those
// who only wait for it. Thread-safety: thread-safe.
class CpuArray final : public Pooled {
 public:
  CpuArray() = default;

  void add_ref() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }  // holds one
  void release() const noexcept {
    if (refs_.fetch_sub(1) == 1) delete this;
  }
  // True if the caller's reference is the only one; then no other can be made.
  bool unique() const { return held_by(1); }
  // The same of a caller that has so many references.
  bool held_by(std::uint32_t references) const { return refs_.load() == references; }

  // Completes when it is written; its block is there from then on (a value), or never (an error).
  const Ref<Cell<void>>& ready() const { return ready_; }
  const Ref<Block>& block() const { return block_; }

  // By its one writer, who lets it go, so that the first reader to come may already be alone with
  // it.
  static void write(Ref<CpuArray> array, Ref<Block> block) {
    array->block_ = std::move(block);
    const Ref<Cell<void>> ready = array->ready_;
    array = nullptr;
    ready->set({});
  }
  static void fail(Ref<CpuArray> array, const Error& error) {
    array->ready_->set(std::unexpected(error));
  }

 private:
  ~CpuArray() = default;

  mutable std::atomic<std::uint32_t> refs_{1};
  const Ref<Cell<void>> ready_ = make_ref<QuietCell>();  // the launch or put reports it too
  Ref<Block> block_;
};

}  // namespace millrace::devices::cpu
