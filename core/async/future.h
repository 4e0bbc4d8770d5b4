// Future<T> and Promise<T>: a value or an Error that arrives once, later. The one type of Millrace
// for values that come later. A Future is a cheap handle; copies see the same value. Read next:
// coroutine.h, combinators.h.
#pragma once

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "millrace/core/async/async_value.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/async/loop_wait.h"

namespace millrace {

template <class T>
class Future;
template <class T>
class Promise;

namespace detail {

// What a continuation may return, and the T of the Future that its caller gets.
template <class R>
struct Unwrapped {
  using type = R;
};
template <class R>
struct Unwrapped<Future<R>> {
  using type = R;
};
template <class R>
struct Unwrapped<std::expected<R, Error>> {
  using type = R;
};
template <class R>
inline constexpr bool kIsFuture = false;
template <class R>
inline constexpr bool kIsFuture<Future<R>> = true;
template <class R>
inline constexpr bool kIsResult = false;
template <class R>
inline constexpr bool kIsResult<std::expected<R, Error>> = true;

template <class T, class F>
class ThenCell;

}  // namespace detail

// Shared handle on a value that arrives later; may be empty: then valid() is all that may be asked,
// and anything else is CHECKed. T may be void. A Future of a move-only type has one consumer.
// Thread-safety: external for the handle, thread-safe for what it points to.
template <class T>
class [[nodiscard]] Future {
 public:
  using value_type = T;

  Future() = default;
  explicit Future(Ref<Cell<T>> cell) : cell_(std::move(cell)) {}
  // Already complete.
  Future(Result<T> result)  // NOLINT(google-explicit-constructor)
      : cell_(make_ref<Cell<T>>(std::move(result))) {}
  Future(Error error) : Future(Result<T>(std::unexpected(std::move(error)))) {}  // NOLINT
  Future(std::unexpected<Error> error) : Future(Result<T>(std::move(error))) {}  // NOLINT

  bool valid() const { return static_cast<bool>(cell_); }
  bool ready() const { return there().complete(); }
  // CHECKed: ready.
  const Result<T>& result() const { return there().result(); }
  // CHECKed: ready. Copies the value, or moves it out if T is move-only.
  Result<T> take() const { return there().take(); }

  // Runs f(Result<T>) on executor once this is complete, and gives a Future of what f returns: U,
  // Result<U> or Future<U> all give Future<U>. For a copyable T, f may also take const Result<T>&.
  // An exception that f throws becomes kInternal; if the executor closes first, kAborted.
  template <class F>
  auto then(Executor& executor, F&& f) const& {
    static_cast<void>(there());
    return continue_with(executor, cell_, std::forward<F>(f));
  }
  // The same, for a handle that is not used afterwards.
  template <class F>
  auto then(Executor& executor, F&& f) && {
    static_cast<void>(there());
    return continue_with(executor, std::move(cell_), std::forward<F>(f));
  }

  // Says that no caller will look: an error of this future is not reported as dropped.
  void ignore() const { there().ignore_error(); }

  const Ref<Cell<T>>& cell() const { return cell_; }

 private:
  Cell<T>& there() const {
    MILLRACE_CHECK(cell_, "a Future that is empty (made by default, or moved from) was used");
    return *cell_;
  }
  template <class F>
  static auto continue_with(Executor& executor, Ref<Cell<T>> source, F&& f) {
    using Then = detail::ThenCell<T, std::decay_t<F>>;
    using U = typename Then::value_type;
    if (executor.completion_queue() != nullptr && !source->complete())
      source = detail::wait_on_loop(source, executor);
    Cell<T>* const awaited = source.get();  // the continuation holds it until it has run
    auto* cell = new Then(executor, std::move(source), std::forward<F>(f));
    awaited->add_waiter(cell);
    return Future<U>(Ref<Cell<U>>::adopt(cell));
  }

  Ref<Cell<T>> cell_;
};

// The writing end, with one owner; dropped unset, it completes its future with kAborted. Once set,
// or moved from, it is no longer valid(): to set it again, or to ask for its future, is CHECKed.
// Thread-safety: external.
template <class T>
class Promise {
 public:
  Promise() : cell_(make_ref<Cell<T>>()) {}
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    drop();
    cell_ = std::move(other.cell_);
    return *this;
  }
  ~Promise() { drop(); }

  // Not const: one call at a time, as of everything that changes a promise.
  Future<T> future() {
    MILLRACE_CHECK(cell_, "the future of a Promise is asked for before it is set or moved from");
    cell_->add_ref_confined();  // a promise has one owner, and its cell no other entry
    return Future<T>(Ref<Cell<T>>::adopt(cell_.get()));
  }
  bool valid() const { return static_cast<bool>(cell_); }
  // Completes the future; runs its waiters before it returns (continuations run on executors).
  void set(Result<T> result) {
    MILLRACE_CHECK(cell_, "a Promise is set once; this one was set before, or moved from");
    cell_.detach()->set_alone(std::move(result));
  }
  void set_error(Error error) { set(std::unexpected(std::move(error))); }
  void set_value()
    requires std::is_void_v<T>
  {
    set({});
  }

 private:
  void drop() {
    if (!cell_) return;
    if (cell_->unique()) cell_->ignore_error();  // no handle of the future is left
    std::exchange(cell_, {})->try_set(
        fail(ErrorCode::kAborted, "a promise was dropped without a value: its holder is gone"));
  }
  Ref<Cell<T>> cell_;
};

template <class T>
Future<std::decay_t<T>> make_ready(T&& value) {
  return Future<std::decay_t<T>>(Result<std::decay_t<T>>(std::forward<T>(value)));
}
inline Future<void> make_ready() { return Future<void>(Status()); }

namespace detail {

template <class T, class F>
using ContinuationResult = std::invoke_result_t<F&, Result<T>>;

// One object is the continuation's waiter, its piece of work, and the cell of its result.
template <class T, class F>
class ThenCell final : public Cell<typename Unwrapped<ContinuationResult<T, F>>::type>,
                       public Waiter,
                       public Work {
 public:
  using R = ContinuationResult<T, F>;
  using value_type = typename Unwrapped<R>::type;

  // Made with two references: one for the caller, one for the pending work.
  ThenCell(Executor& executor, Ref<Cell<T>> source, F f)
      : Cell<value_type>(2),
        executor_(executor),
        source_(std::move(source)),
        f_(std::in_place, std::move(f)) {}

  void on_complete(AsyncValue& value) noexcept override {
    if constexpr (kIsFuture<R>) {
      if (!source_) {  // second phase: the future that f returned
        finish(static_cast<Cell<value_type>&>(value).take());
        return;
      }
    }
    static_cast<void>(value);
    executor_.submit(this);
  }
  void on_complete_last(AsyncValue& value) noexcept override {
    if constexpr (kIsFuture<R>) {
      if (!source_) return Waiter::on_complete_last(value);
    }
    value.release_second();  // source_ is another one, of the same cell
    executor_.submit(this);
  }
  bool is_brief() const override { return &executor_ == &brief_executor(); }
  void run() noexcept override {
    Ref<Cell<T>> source = std::exchange(source_, {});
    try {
      // The source is released before f runs: a chain does not keep its earlier values alive.
      Result<T> input = std::exchange(source, {})->take();
      if constexpr (kIsFuture<R>) {
        R inner = (*f_)(std::move(input));
        f_.reset();
        if (!inner.valid())
          inner = Error(ErrorCode::kInternal, "a continuation returned an empty future");
        inner.cell()->add_waiter(this);
      } else if constexpr (kIsResult<R>) {
        finish((*f_)(std::move(input)));
      } else if constexpr (std::is_void_v<R>) {
        (*f_)(std::move(input));
        finish({});
      } else {
        finish((*f_)(std::move(input)));
      }
    } catch (...) {
      finish(std::unexpected(exception_to_error(std::current_exception())));
    }
  }
  void drop() noexcept override {
    this->ignore_error();  // the owner of the executor closed it and knows
    source_ = nullptr;
    finish(std::unexpected(executor_.drop_error("a continuation")));
  }

 private:
  void finish(Result<value_type> result) {
    f_.reset();  // captures end before waiters run: they may hold what the waiters wait for
    this->set_alone(std::move(result));
  }

  Executor& executor_;
  Ref<Cell<T>> source_;
  std::optional<F> f_;
};

}  // namespace detail
}  // namespace millrace
