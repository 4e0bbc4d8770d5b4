#include "millrace/core/async/combinators.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace millrace {
namespace {

// Counts inputs down; the result is read off the inputs themselves, lowest index first. Its arms
// lie behind it in the same block.
class AllCell final : public Cell<void> {
 public:
  static Ref<AllCell> make(std::size_t count) {
    return Ref<AllCell>::adopt(new (Arms{count}) AllCell(count));
  }

  void start(detail::ValueAt value) {
    for (std::size_t i = 0; i < count_; ++i) {
      Arm& arm = arms()[i];
      arm.all = this;
      arm.value = Ref<AsyncValue>::share(value(i));
      add_ref();
      arm.value->add_waiter(&arm);
    }
    add_ref();
    arrived();
  }

  struct Arms {  // a type of its own: (size, size) would be a sized operator delete's
    std::size_t count;
  };
  static void* operator new(std::size_t header, Arms arms) {
    return pool_allocate(header + arms.count * sizeof(Arm));
  }
  static void operator delete(AllCell* cell, std::destroying_delete_t) {
    const std::size_t bytes = sizeof(AllCell) + cell->count_ * sizeof(Arm);
    cell->~AllCell();
    pool_free(cell, bytes);
  }

 private:
  struct Arm final : Waiter {
    AllCell* all = nullptr;
    Ref<AsyncValue> value;
    void on_complete(AsyncValue&) noexcept override { all->arrived(); }
  };

  explicit AllCell(std::size_t count) : count_(count), missing_(count + 1) {
    static_assert(sizeof(AllCell) % alignof(Arm) == 0);
    std::uninitialized_value_construct_n(arms(), count);
  }
  ~AllCell() override { std::destroy_n(arms(), count_); }

  Arm* arms() { return std::launder(reinterpret_cast<Arm*>(this + 1)); }

  void arrived() {
    if (missing_.fetch_sub(1) == 1) {
      Status status;
      for (std::size_t i = 0; i < count_; ++i) {
        const Ref<AsyncValue> value = std::move(arms()[i].value);  // released before waiters run
        if (const Error* error = value->error(); error != nullptr && status)
          status = std::unexpected(*error);
      }
      set(std::move(status));
    }
    release();
  }

  const std::size_t count_;
  std::atomic<std::size_t> missing_;
};

class AnyCell final : public Cell<std::size_t> {
 public:
  struct Arm final : Waiter, Pooled {
    Ref<AnyCell> any;
    std::size_t index = 0;
    void on_complete(AsyncValue&) noexcept override {
      any->try_set(index);
      delete this;
    }
  };
};

// Waits with `until`; its end takes the stop callback and the timer back.
class WaitLimit final : public Waiter, public Pooled {
 public:
  using Ended = void (*)(RefCounted&, detail::WaitEnd);

  WaitLimit(const CallOptions& options, TimerQueue* timers, Ref<AsyncValue> until,
            Ref<RefCounted> target, Ended ended, TimerQueue::Kind limited)
      : timers_(timers), until_(std::move(until)), target_(std::move(target)), ended_(ended) {
    if (options.stop.stop_possible()) stop_.emplace(options.stop, Stop{this});
    if (options.deadline == kNoDeadline || until_->complete()) return;
    Work* const due = new Due(until_, target_, ended_);
    timer_ = timers_->schedule(options.deadline, due, limited);
  }
  void on_complete(AsyncValue&) noexcept override {
    if (timer_) timers_->cancel(*timer_);
    delete this;
  }

 private:
  struct Stop {
    WaitLimit* limit;
    void operator()() const {
      if (limit->until_->complete()) return;
      // The end of the wait destroys limit, and this with it.
      const Ref<RefCounted> target = limit->target_;
      limit->ended_(*target, detail::WaitEnd::kStopped);
    }
  };
  class Due final : public Work, public Pooled {
   public:
    Due(Ref<AsyncValue> until, Ref<RefCounted> target, Ended ended)
        : until_(std::move(until)), target_(std::move(target)), ended_(ended) {}
    void run() noexcept override { end(detail::WaitEnd::kDue); }
    void drop() noexcept override { end(detail::WaitEnd::kClosed); }

   private:
    void end(detail::WaitEnd how) {
      if (!until_->complete()) ended_(*target_, how);
      delete this;
    }
    const Ref<AsyncValue> until_;
    const Ref<RefCounted> target_;
    const Ended ended_;
  };

  TimerQueue* const timers_;
  const Ref<AsyncValue> until_;
  const Ref<RefCounted> target_;
  const Ended ended_;
  std::optional<TimerQueue::Id> timer_;
  std::optional<std::stop_callback<Stop>> stop_;  // goes first: it looks at the others
};

Status check_inputs(const char* what, std::size_t count, detail::ValueAt value) {
  for (std::size_t i = 0; i < count; ++i) {
    if (value(i) != nullptr) continue;
    return fail(ErrorCode::kInvalidArgument,
                "input " + std::to_string(i) + " of " + what + " is an empty Future");
  }
  return {};
}

}  // namespace

namespace detail {

Future<void> when_all_of(std::size_t count, ValueAt value) {
  if (Status ok = check_inputs("when_all", count, value); !ok) return ok.error();
  auto all = AllCell::make(count);
  all->start(value);
  return Future<void>(Ref<Cell<void>>(std::move(all)));
}

Future<std::size_t> when_any_of(std::size_t count, ValueAt value) {
  if (count == 0)
    return fail(ErrorCode::kInvalidArgument, "when_any of nothing would never complete");
  if (Status ok = check_inputs("when_any", count, value); !ok) return ok.error();
  auto any = make_ref<AnyCell>();
  for (std::size_t i = 0; i < count; ++i) {
    auto* arm = new AnyCell::Arm;
    arm->any = any;
    arm->index = i;
    value(i)->add_waiter(arm);
  }
  return Future<std::size_t>(Ref<Cell<std::size_t>>(std::move(any)));
}

Error wait_error(WaitEnd end, std::string_view what) {
  static constexpr std::pair<ErrorCode, const char*> kEnds[] = {
      {ErrorCode::kCancelled, "stopped on request "},
      {ErrorCode::kDeadlineExceeded, "the deadline came "},
      {ErrorCode::kAborted, "the timers closed "}};
  const auto& [code, words] = kEnds[static_cast<std::size_t>(end)];
  return Error(code, words + std::string(what));
}

void limit_wait(const CallOptions& options, TimerQueue* timers, Ref<AsyncValue> until,
                Ref<RefCounted> target, void (*ended)(RefCounted&, WaitEnd),
                TimerQueue::Kind limited) {
  if (!options.stop.stop_possible() && options.deadline == kNoDeadline) return;
  AsyncValue& waited = *until;  // kept by the limit, which it ends
  waited.watch(new WaitLimit(options, timers, std::move(until), std::move(target), ended, limited));
}

}  // namespace detail

Future<void> sleep_until(TimePoint deadline, TimerQueue& timers, std::stop_token stop) {
  auto sleep = make_ref<Cell<void>>();
  // One without an end ends with the timers.
  const TimePoint last = kNoDeadline - Duration(1);
  detail::limit_wait({.stop = std::move(stop), .deadline = std::min(deadline, last)}, &timers,
                     Ref<AsyncValue>(sleep), Ref<RefCounted>(sleep),
                     [](RefCounted& target, detail::WaitEnd end) {
                       Status status;
                       if (end != detail::WaitEnd::kDue)
                         status = std::unexpected(wait_error(end, "before the end of a sleep"));
                       static_cast<Cell<void>&>(target).try_set(std::move(status));
                     });
  return Future<void>(std::move(sleep));
}

}  // namespace millrace
