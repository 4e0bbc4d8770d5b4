// Task<T> and co_await: asynchronous code that reads from top to bottom. co_await on a Future<U> or
// a Task<U> gives a Result<U>. A Task starts when it is awaited or spawned. It has one home
// executor (spawn's), and every co_await continues there. A trampoline resumes coroutines:
// symmetric transfer from one to the next grows the stack where the compiler does not turn it into
// a jump (g++ -O0).
//
//   Task<int> length(Future<std::string> text) {
//     Result<std::string> t = co_await text;
//     if (!t) co_return t.error();
//     co_return static_cast<int>(t->size());
//   }
//   Future<int> n = spawn(executor, length(text));
//
// g++ 12 gets braces inside an awaited expression wrong. What they make of Millrace's own types is
// safe (core/base/braced.h); what no signature of ours can mend is named before:
//  - A std::initializer_list does not compile ("array used as initializer"):
//    `co_await device.put(std::vector<float>{1, 2}, {2})`. Write `std::vector<float> x = {1, 2};`
//    and `co_await device.put(std::move(x), {2})`, or name the future and await that.
//  - What an aggregate owns is destroyed twice: `co_await ref.ask(Message{.name = name})`. Name the
//    message, or give it a constructor. So is what a lambda owns that is written within braces.
//
// Invariants:
//  - CO-1 a coroutine runs on its home executor. A drop by that executor may destroy its locals on
//    another thread; its future is kAborted then.
//  - CO-2 at most one frame of a spawned task is running; the depth of the stack does not grow with
//    the number of co_awaits or of nested Tasks.
#pragma once

#include <coroutine>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"

namespace millrace {

namespace detail {
template <class T>
struct TaskPromise;
template <class T>
class TaskAwaiter;
template <class T>
class SpawnCell;
}  // namespace detail

// A coroutine that has not started; owns its frame. co_return takes T, Result<T>, an Error or a
// std::unexpected; of Task<void>, nothing: `co_await end_with(error)` fails it. An exception
// becomes kInternal. Awaited or spawned once, CHECKed. Thread-safety: external.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

 private:
  friend promise_type;
  template <class U>
  friend class detail::TaskAwaiter;
  template <class U>
  friend class detail::SpawnCell;

  using Handle = std::coroutine_handle<promise_type>;
  explicit Task(Handle frame) : frame_(frame) {}
  Handle frame_;
};

// Ends the awaiting task at once with an error, as co_return does.
struct EndWith {
  Error error;
};
inline EndWith end_with(Error error) { return EndWith{std::move(error)}; }

// `co_await current_stop()` gives the stop token of spawn.
struct CurrentStop {};
inline CurrentStop current_stop() { return {}; }

namespace detail {

// What all frames of a spawned task share. Owned by the cell of its future.
class TaskContext {
 public:
  TaskContext(Executor& executor, std::stop_token token)
      : home(&executor), stop(std::move(token)) {}
  // The outermost frame has its result, and is suspended.
  virtual void finish() noexcept = 0;
  // The home executor dropped the task: destroys its frames, completes its future with kAborted.
  virtual void end_dropped() noexcept = 0;

  Executor* const home;
  const std::stop_token stop;

 protected:
  ~TaskContext() = default;
};

// Resumes frame, then each frame that it hands over to, until one waits or the task ends.
void resume_on_trampoline(std::coroutine_handle<> frame) noexcept;
// From await_suspend: the loop resumes frame next.
void transfer_on_trampoline(std::coroutine_handle<> frame) noexcept;
// From await_suspend: the loop finishes the task.
void finish_on_trampoline(TaskContext& context) noexcept;

// Waits for a future, then returns to the home executor. Lives in the waiting coroutine's frame.
template <class T>
class FutureAwaiter final : public Waiter, public Work {
 public:
  FutureAwaiter(Future<T> future, TaskContext& context)
      : future_(std::move(future)), context_(context) {}

  bool await_ready() {
    if (future_.ready()) return true;
    if (context_.stop.stop_possible()) future_ = with_stop(future_, context_.stop);
    if (context_.home->completion_queue() != nullptr && !future_.ready()) {
      future_ = Future<T>(wait_on_loop(future_.cell(), *context_.home));
    }
    return future_.ready();
  }
  void await_suspend(std::coroutine_handle<> frame) {
    frame_ = frame;
    const Ref<Cell<T>> cell = future_.cell();  // this may be gone before add_waiter returns
    if (!cell) __builtin_unreachable();  // await_ready has seen it; g++ 12 would warn of a null one
    cell->add_waiter(this);
  }
  Result<T> await_resume() { return future_.take(); }

  void on_complete(AsyncValue&) noexcept override { context_.home->submit(this); }
  void run() noexcept override { resume_on_trampoline(frame_); }
  void drop() noexcept override { context_.end_dropped(); }  // destroys this with the frame

 private:
  Future<T> future_;
  TaskContext& context_;
  std::coroutine_handle<> frame_;
};

// Runs a child task within the same context and returns its result.
template <class T>
class TaskAwaiter {
 public:
  explicit TaskAwaiter(Task<T> task) : task_(std::move(task)) {
    MILLRACE_CHECK(task_.frame_, "a Task is awaited once; this one was used before");
  }
  bool await_ready() const { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> parent) {
    auto& child = task_.frame_.promise();
    child.context = parent.promise().context;
    child.parent = parent;
    transfer_on_trampoline(task_.frame_);
  }
  Result<T> await_resume() { return std::move(*task_.frame_.promise().result); }

 private:
  Task<T> task_;
};

template <class T>
struct TaskPromiseBase {
  TaskContext* context = nullptr;
  std::coroutine_handle<> parent;  // empty: the task was spawned
  std::optional<Result<T>> result;

  struct Final {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> frame) const noexcept {
      frame.promise().go_back();
    }
    void await_resume() const noexcept {}
  };
  void go_back() noexcept {
    if (parent) {
      transfer_on_trampoline(parent);
    } else {
      finish_on_trampoline(*context);
    }
  }

  // Frames come and go with every call: from the pool.
  static void* operator new(std::size_t size) { return pool_allocate(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { pool_free(frame, size); }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  Final final_suspend() const noexcept { return {}; }
  void unhandled_exception() {
    result.emplace(std::unexpected(exception_to_error(std::current_exception())));
  }

  template <class U>
  FutureAwaiter<U> await_transform(Future<U> future) {
    return FutureAwaiter<U>(std::move(future), *context);
  }
  template <class U>
  TaskAwaiter<U> await_transform(Task<U> task) {
    return TaskAwaiter<U>(std::move(task));
  }
  // In the middle of the body: the frame goes with its Task.
  Final await_transform(EndWith end) {
    result.emplace(std::unexpected(std::move(end.error)));
    return {};
  }
  auto await_transform(CurrentStop) {
    struct Stop {
      std::stop_token token;
      bool await_ready() const noexcept { return true; }
      void await_suspend(std::coroutine_handle<>) const noexcept {}
      std::stop_token await_resume() { return std::move(token); }
    };
    return Stop{context->stop};
  }
};

template <class T>
struct TaskPromise : TaskPromiseBase<T> {
  Task<T> get_return_object() {
    return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
  }
  void return_value(Result<T> value) { this->result.emplace(std::move(value)); }
  void return_value(Error error) { this->result.emplace(std::unexpected(std::move(error))); }
};

template <>
struct TaskPromise<void> : TaskPromiseBase<void> {
  inline Task<void> get_return_object();
  void return_void() { result.emplace(); }
};
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

// The future of a spawned task, and the piece of work that starts it. Owns the outermost frame.
template <class T>
class SpawnCell final : public Cell<T>, public Work, public TaskContext {
 public:
  SpawnCell(Executor& executor, Task<T> task, std::stop_token token)
      : TaskContext(executor, std::move(token)), frame_(std::exchange(task.frame_, nullptr)) {
    MILLRACE_CHECK(frame_, "a Task is spawned once; this one was used before");
    frame_.promise().context = this;
  }
  void run() noexcept override { resume_on_trampoline(frame_); }
  void drop() noexcept override { end_dropped(); }

  void finish() noexcept override { end(std::move(*frame_.promise().result)); }
  void end_dropped() noexcept override { end(std::unexpected(home->drop_error("a task"))); }

 private:
  void end(Result<T> result) {
    frame_.destroy();  // locals end before waiters run: they may hold what the waiters wait for
    this->set_alone(std::move(result));
  }
  std::coroutine_handle<TaskPromise<T>> frame_;
};

}  // namespace detail

// Starts task on executor, its home; never inside the call (EX-1). On stop, the co_await in which
// it waits, and every later one that would wait, gives kCancelled: the task decides what follows.
template <class T>
Future<T> spawn(Executor& executor, Task<T> task, std::stop_token stop = {}) {
  auto* cell = new detail::SpawnCell<T>(executor, std::move(task), std::move(stop));
  cell->add_ref();  // one for the caller, one until the task ends
  executor.submit(cell);
  return Future<T>(Ref<Cell<T>>::adopt(cell));
}

}  // namespace millrace
