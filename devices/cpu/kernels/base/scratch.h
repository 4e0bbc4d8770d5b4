// Scratch: the memory that one run of an operation needs beside its operands and results. A
// function takes its pieces from it, in order, before it looks at any element; run once with a
// Scratch that measures, the same lines give the need of the run, so that the planner can
// give it room in the arena and the run allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "millrace/core/base/check.h"

namespace millrace::devices::cpu::definition {

// Thread-safety: confined.
class Scratch {
 public:
  static constexpr std::size_t kAlignment = 64;

  Scratch() = default;  // measures
  // memory is as large as what was measured for the same shapes.
  explicit Scratch(std::span<std::byte> memory) : memory_(memory), measures_(false) {}

  // Then there is no element to look at: the pieces are empty, operands and results no addresses.
  bool measures() const { return measures_; }
  // n elements, not initialised.
  template <class T>
  std::span<T> take(std::int64_t n) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t first = used_;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (measures_) return {};
    MILLRACE_CHECK(used_ <= memory_.size(), "an operation needs more scratch than was measured");
    return {reinterpret_cast<T*>(memory_.data() + first), static_cast<std::size_t>(n)};
  }
  std::size_t taken_bytes() const { return used_; }

 private:
  std::span<std::byte> memory_;
  std::size_t used_ = 0;
  bool measures_ = true;
};

}  // namespace millrace::devices::cpu::definition
