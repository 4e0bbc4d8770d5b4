// GatheredLaunches: which launch a call belongs to, where a launch on several devices comes as one
// call per device: the k-th call of every device belongs to the k-th launch. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::devices::cpu {

// The launches of one program. T is a handle on one. A launch is open from its first call to the
// last one. Thread-safety: external.
template <class T>
class GatheredLaunches {
 public:
  explicit GatheredLaunches(std::size_t devices) : calls_(devices) {}

  // The launch of the next call of this device; the first call of a launch makes it. Where make
  // fails, there was no call.
  template <class Make>
  Result<T> join(std::size_t device, Make&& make) {
    const auto row = static_cast<std::size_t>(calls_[device] - ended_);
    if (row == open_.size()) {
      MILLRACE_TRY(T made, make());
      open_.push_back({std::move(made), calls_.size()});
    }
    ++calls_[device];
    T launch = open_[row].launch;
    // Each device comes to the launches in order, so the first one is complete first.
    if (--open_[row].missing == 0) {
      open_.pop_front();
      ++ended_;
    }
    return launch;
  }

  struct Open {
    T launch;
    std::size_t missing;  // calls that have not come
  };
  const std::deque<Open>& open() const { return open_; }

 private:
  std::vector<std::uint64_t> calls_;  // per device
  std::uint64_t ended_ = 0;           // launches that all calls have come for
  std::deque<Open> open_;
};

}  // namespace millrace::devices::cpu
