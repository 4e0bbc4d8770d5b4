#include "millrace/core/scope.h"

#include <optional>

namespace millrace {

Scope::~Scope() {
  MutexLock lock(mutex_);
  MILLRACE_CHECK(holders_ == 0, name_);
  if (promise_.valid() && !closing_)
    promise_.set_value();  // never closed, never held: nobody waits
}

Scope::Hold Scope::hold() {
  MutexLock lock(mutex_);
  if (closing_) return Hold();
  ++holders_;
  return Hold(this);
}

bool Scope::closing() const {
  MutexLock lock(mutex_);
  return closing_;
}

std::size_t Scope::holders() const {
  MutexLock lock(mutex_);
  return holders_;
}

Future<void> Scope::close() {
  Future<void> closed = closed_;
  std::optional<Promise<void>> done;
  {
    MutexLock lock(mutex_);
    if (!closing_ && holders_ == 0) done.emplace(std::move(promise_));
    closing_ = true;
  }
  if (done) done->set_value();
  return closed;
}

void Scope::let_go() {
  std::optional<Promise<void>> done;
  {
    MutexLock lock(mutex_);
    --holders_;
    if (closing_ && holders_ == 0) done.emplace(std::move(promise_));
  }
  if (done) done->set_value();  // after the lock: a waiter may destroy this scope
}

Error Scope::closed_error() const {
  return Error(ErrorCode::kUnavailable, std::string(name_) + " is closed and takes no new work");
}

}  // namespace millrace
