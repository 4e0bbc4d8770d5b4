#include "millrace/core/scope.h"

namespace millrace {

Scope::~Scope() {
  MILLRACE_CHECK(holders() == 0, name_);
  if (!closing()) promise_.set_value();  // never closed, never held: nobody waits
}

// By comparing, never by adding first: what was added for a moment could end a closed scope again.
Scope::Hold Scope::hold() {
  std::uint64_t word = word_.load();
  do {
    if ((word & kClosing) != 0) return Hold();
  } while (!word_.compare_exchange_weak(word, word + kHolder));
  return Hold(this);
}

Future<void> Scope::close() {
  Future<void> closed = closed_;
  if (word_.fetch_or(kClosing) == 0) end();
  return closed;
}

void Scope::let_go() {
  if (word_.fetch_sub(kHolder) == (kClosing | kHolder)) end();
}

void Scope::end() {
  Promise<void> done = std::move(promise_);
  done.set_value();  // of a promise that is no member any more: a waiter may destroy this scope
}

Error Scope::closed_error() const {
  return Error(ErrorCode::kUnavailable, std::string(name_) + " is closed and takes no new work");
}

}  // namespace millrace
