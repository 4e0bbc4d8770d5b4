#include "millrace/core/combinators.h"

#include "millrace/core/timer_queue.h"

namespace millrace {
namespace {

// Counts inputs down; the result is read off the inputs themselves, lowest index first.
class AllCell final : public Cell<void> {
 public:
  struct Arm final : Waiter {
    AllCell* all = nullptr;
    void on_complete(AsyncValue&) noexcept override { all->arrived(); }
  };

  explicit AllCell(std::span<const Ref<AsyncValue>> values)
      : values_(values.begin(), values.end()), arms_(values.size()), missing_(values.size() + 1) {}

  void start() {
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      arms_[i].all = this;
      add_ref();
      values_[i]->add_waiter(&arms_[i]);
    }
    add_ref();
    arrived();
  }

 private:
  void arrived() {
    if (missing_.fetch_sub(1) == 1) {
      Status status;
      for (const Ref<AsyncValue>& value : values_) {
        if (const Error* error = value->error()) {
          status = std::unexpected(*error);
          break;
        }
      }
      values_.clear();
      set(std::move(status));
    }
    release();
  }

  std::vector<Ref<AsyncValue>> values_;
  std::vector<Arm> arms_;
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

Future<void> when_all(std::span<const Ref<AsyncValue>> values) {
  auto all = make_ref<AllCell>(values);
  all->start();
  return Future<void>(Ref<Cell<void>>(std::move(all)));
}

Future<std::size_t> when_any(std::span<const Ref<AsyncValue>> values) {
  if (values.empty())
    return fail(ErrorCode::kInvalidArgument, "when_any of nothing would never complete");
  auto any = make_ref<AnyCell>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto* arm = new AnyCell::Arm;
    arm->any = any;
    arm->index = i;
    values[i]->add_waiter(arm);
  }
  return Future<std::size_t>(Ref<Cell<std::size_t>>(std::move(any)));
}

namespace detail {

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
