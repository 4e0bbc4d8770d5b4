// Operation: one thing that a caller in C has started, from the call to its completion.
// Completions: those of one runtime, by handle while they run, in line once they have finished,
// with the descriptor that shows it. Not a CompletionQueue (core/loop/completion_queue.h): that one
// belongs to the one thread of a loop, and this is drained by any caller.
//
//  - CA-1 an operation finishes once: by its end or by a cancel, whichever comes first.
//  - CA-2 a cancelled operation finishes with kCancelled, whatever comes of it, and while memory of
//    the caller is in use only after that.
//  - CA-3 the descriptor is readable exactly while a finished operation waits to be taken.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <utility>

#include "millrace/core/base/error.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/ref.h"
#include "millrace/core/loop/event_fd.h"
#include "millrace/tools/c_api/handles.h"

namespace millrace::c_api {

class Completions;

// Shared by Completions, by what runs for it, and by the handles of its results. Thread-safety:
// thread-safe.
class Operation final : public RefCounted {
 public:
  enum class Kind : std::int32_t { kCompile = 1, kPut, kExecute, kFetch };  // as c_api.h has them

  Operation(Ref<Completions> completions, Kind kind, void* user_data)
      : completions_(std::move(completions)), kind_(kind), user_data_(user_data) {}

  Handle handle() const { return handle_; }
  Kind kind() const { return kind_; }
  void* user_data() const { return user_data_; }
  std::stop_token stop_token() const { return stop_.get_token(); }
  // Set by the completion: the first thing that it makes. Before it runs.
  void set_result(Handle result) { result_ = result; }
  Handle result() const { return result_; }

  // Memory of the caller is about to be used, until finish(); false: it was cancelled before.
  bool borrow();
  void finish(const Status& status);
  // False: it has finished before.
  bool cancel();
  // What use of its results gives once a cancel came before its end.
  std::optional<Error> cancelled() const;
  // For an operation that was taken from Completions.
  const std::optional<Error>& error() const { return error_; }

 private:
  enum class State : std::uint8_t {
    kRunning,    // -> kBorrowing, kDropped, kSettled
    kBorrowing,  // memory of the caller is in use -> kCancelled, kSettled
    kCancelled,  // -> kDropped
    kSettled,    // finished with what came of it; final
    kDropped,    // finished with kCancelled; final
  };
  ~Operation() override = default;
  // Once, by the thread that made the state final.
  void settle(const Status& status);

  const Ref<Completions> completions_;
  const Handle handle_ = make_handle(HandleKind::kOperation);
  const Kind kind_;
  void* const user_data_;
  Handle result_ = 0;
  std::atomic<State> state_{State::kRunning};
  std::stop_source stop_;
  std::optional<Error> error_;  // written by finish, published by Completions
};

// Thread-safety: thread-safe.
class Completions final : public RefCounted {
 public:
  // kResourceExhausted: no descriptor left.
  static Result<Ref<Completions>> create();
  explicit Completions(EventFd event) : event_(std::move(event)) {}

  // Before it runs: from now on find() knows it.
  void add(Ref<Operation> operation);
  Result<Ref<Operation>> find(Handle handle) const;
  // The one that has finished first, which is then known no more; empty if there is none.
  Ref<Operation> take();
  void cancel_all();
  bool all_finished() const;
  int descriptor() const { return event_.descriptor(); }

 private:
  friend class Operation;
  ~Completions() override = default;
  void finished(Operation& operation);

  const EventFd event_;
  mutable Mutex mutex_;
  std::unordered_map<Handle, Ref<Operation>> known_ MILLRACE_GUARDED_BY(mutex_);
  std::deque<Ref<Operation>> finished_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::c_api
