#include "millrace/core/combinators.h"

#include <memory>
#include <new>
#include <utility>

#include "millrace/core/timer_queue.h"

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
      arm.value = Ref<AsyncValue>::share(&value(i));
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
        const Ref<AsyncValue> value = std::move(arms()[i].value);  // let go before waiters run
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

// A timer that expires its target, and a waiter that takes the timer back when the target is
// complete.
class DeadlineWaiter final : public Waiter, public Pooled {
 public:
  TimerQueue* timers = nullptr;
  TimerQueue::Id id;
  void on_complete(AsyncValue&) noexcept override {
    timers->cancel(id);
    delete this;
  }
};

}  // namespace

namespace detail {

Future<void> when_all_of(std::size_t count, ValueAt value) {
  auto all = AllCell::make(count);
  all->start(value);
  return Future<void>(Ref<Cell<void>>(std::move(all)));
}

Future<std::size_t> when_any_of(std::size_t count, ValueAt value) {
  if (count == 0)
    return fail(ErrorCode::kInvalidArgument, "when_any of nothing would never complete");
  auto any = make_ref<AnyCell>();
  for (std::size_t i = 0; i < count; ++i) {
    auto* arm = new AnyCell::Arm;
    arm->any = any;
    arm->index = i;
    value(i).add_waiter(arm);
  }
  return Future<std::size_t>(Ref<Cell<std::size_t>>(std::move(any)));
}

void arm_deadline(TimerQueue& timers, TimePoint deadline, Ref<AsyncValue> until,
                  Ref<RefCounted> target, void (*expire)(RefCounted&)) {
  auto* waiter = new DeadlineWaiter;
  waiter->timers = &timers;
  waiter->id = timers.schedule(deadline, [target = std::move(target), expire] { expire(*target); });
  until->add_waiter(waiter);
}

}  // namespace detail

Future<void> sleep_until(TimePoint deadline, TimerQueue& timers, std::stop_token stop) {
  // The timer's own share: completes the sleep when it fires, fails it when the queue goes away
  // before.
  struct Wake {
    Ref<Cell<void>> sleep;
    explicit Wake(Ref<Cell<void>> cell) : sleep(std::move(cell)) {}
    Wake(Wake&&) noexcept = default;
    ~Wake() {
      if (sleep && !sleep->complete()) {
        sleep->try_set(
            fail(ErrorCode::kAborted, "the timer queue closed before the end of a sleep"));
      }
    }
    void operator()() { sleep->try_set({}); }
  };
  struct Cancel {
    Ref<Cell<void>> sleep;
    void operator()() const {
      sleep->try_set(fail(ErrorCode::kCancelled, "a sleep was stopped on request"));
    }
  };
  auto sleep = make_ref<Cell<void>>();
  auto* timer = new DeadlineWaiter;
  timer->timers = &timers;
  timer->id = timers.schedule(deadline, Wake(sleep));
  sleep->add_waiter(timer);  // a stop takes the timer back
  if (stop.stop_possible()) {
    auto* guard = new detail::GuardWaiter<std::stop_callback<Cancel>>;
    guard->guard.emplace(std::move(stop), Cancel{sleep});
    sleep->add_waiter(guard);
  }
  return Future<void>(std::move(sleep));
}

}  // namespace millrace
