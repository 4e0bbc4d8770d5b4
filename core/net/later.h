// Later: what a block does once it holds no lock: it completes futures, whose continuations may run
// at once and call back. Declared before the lock.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "millrace/core/async/future.h"

namespace millrace::net {

// Thread-safety: confined.
class Later {
 public:
  Later() = default;
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;
  ~Later() {
    for (auto& work : work_) work();
  }
  template <class T>
  void set(Promise<T> promise, Result<T> result) {
    add([promise = std::move(promise), result = std::move(result)]() mutable {
      promise.set(std::move(result));
    });
  }
  void add(std::move_only_function<void()> work) { work_.push_back(std::move(work)); }

 private:
  std::vector<std::move_only_function<void()>> work_;
};

}  // namespace millrace::net
