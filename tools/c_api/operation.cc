#include "millrace/tools/c_api/operation.h"

#include <array>
#include <string>
#include <vector>

namespace millrace::c_api {

bool Operation::borrow() {
  State running = State::kRunning;
  return state_.compare_exchange_strong(running, State::kBorrowing);
}

void Operation::finish(const Status& status) {
  State seen = state_.load();
  do {
    if (seen == State::kSettled || seen == State::kDropped) return;  // CA-1
  } while (!state_.compare_exchange_weak(
      seen, seen == State::kCancelled ? State::kDropped : State::kSettled));
  settle(status);
}

void Operation::settle(const Status& status) {
  error_ = cancelled();
  if (!error_ && !status) error_ = status.error();
  completions_->finished(*this);
}

bool Operation::cancel() {
  State seen = state_.load();
  do {
    if (seen == State::kCancelled) return true;
    if (seen == State::kSettled || seen == State::kDropped) return false;
  } while (!state_.compare_exchange_weak(
      seen, seen == State::kRunning ? State::kDropped : State::kCancelled));
  // Before the stop, which may end it on another thread: it has finished when this returns. Where
  // memory is borrowed, its user finishes it.
  if (seen == State::kRunning) settle({});
  stop_.request_stop();
  return true;
}

std::optional<Error> Operation::cancelled() const {
  const State state = state_.load();
  if (state != State::kCancelled && state != State::kDropped) return std::nullopt;
  constexpr std::array<const char*, 5> kNames = {"", "compilation", "put", "execution", "fetch"};
  return Error(ErrorCode::kCancelled, std::string("the ") +
                                          kNames[static_cast<std::size_t>(kind_)] + " (operation " +
                                          std::to_string(handle_) + ") was cancelled");
}

Result<Ref<Completions>> Completions::create() {
  MILLRACE_TRY(EventFd event, EventFd::create());
  return make_ref<Completions>(std::move(event));
}

void Completions::add(Ref<Operation> operation) {
  MutexLock lock(mutex_);
  const Handle handle = operation->handle();
  known_.emplace(handle, std::move(operation));
}

Result<Ref<Operation>> Completions::find(Handle handle) const {
  {
    MutexLock lock(mutex_);
    if (const auto found = known_.find(handle); found != known_.end()) return found->second;
  }
  return no_such_handle(HandleKind::kOperation, handle);
}

// CA-3: signalled and consumed under the lock.
void Completions::finished(Operation& operation) {
  MutexLock lock(mutex_);
  finished_.push_back(Ref<Operation>::share(&operation));
  if (finished_.size() == 1) event_.signal();
}

Ref<Operation> Completions::take() {
  MutexLock lock(mutex_);
  if (finished_.empty()) return nullptr;
  Ref<Operation> operation = std::move(finished_.front());
  finished_.pop_front();
  known_.erase(operation->handle());
  if (finished_.empty()) event_.consume();
  return operation;
}

void Completions::cancel_all() {
  std::vector<Ref<Operation>> all;
  {
    MutexLock lock(mutex_);
    all.reserve(known_.size());
    for (const auto& [handle, operation] : known_) all.push_back(operation);
  }
  // Outside the lock: they come back in when they finish.
  for (const Ref<Operation>& operation : all) operation->cancel();
}

bool Completions::all_finished() const {
  MutexLock lock(mutex_);
  return finished_.size() == known_.size();
}

}  // namespace millrace::c_api
