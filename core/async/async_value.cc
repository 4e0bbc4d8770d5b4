#include "millrace/core/async/async_value.h"

#include <new>

#include "millrace/core/async/executor.h"
#include "millrace/core/observe/log.h"

namespace millrace {

// Per thread: how deep notifications are nested, and those put off (AV-4).
struct Notifier {
  int depth = 0;
  Waiter* head = nullptr;
  Waiter* tail = nullptr;
  Executor* others = nullptr;  // in a ForeignThreadScope: for those that are not brief

  // In their order, the oldest first; takes a reference of value.
  void notify_all(Waiter* ordered, AsyncValue& value) {
    while (ordered != nullptr) {
      Waiter* const next = ordered->next_;
      notify(ordered, value, next == nullptr);
      ordered = next;
    }
  }

  // Submits those that are not brief, with a reference of value; gives the brief ones.
  Waiter* brief_ones(Waiter* ordered, AsyncValue& value);

  // last: it gets the caller's reference.
  void notify(Waiter* waiter, AsyncValue& value, bool last) {
    if (depth >= AsyncValue::kMaxInlineDepth) {
      if (!last) value.add_ref();
      waiter->completed_ = &value;
      waiter->next_ = nullptr;
      (tail == nullptr ? head : tail->next_) = waiter;
      tail = waiter;
      return;
    }
    ++depth;
    last ? waiter->on_complete_last(value) : waiter->on_complete(value);
    if (depth == 1 && head != nullptr) drain();
    --depth;
  }

  void drain() {
    while (head != nullptr) {
      Waiter* waiter = head;
      head = waiter->next_;
      if (head == nullptr) tail = nullptr;
      waiter->on_complete_last(*waiter->completed_);
    }
  }
};

namespace {

thread_local Notifier notifier;

// Waiters of a complete value, which are notified on an executor.
class NotifyWork final : public Work, public Pooled {
 public:
  NotifyWork(Waiter* ordered, AsyncValue& value) : ordered_(ordered), value_(value) {}
  void run() noexcept override {
    Waiter* const ordered = ordered_;
    AsyncValue& value = value_;
    delete this;
    notifier.notify_all(ordered, value);
  }
  void drop() noexcept override { run(); }  // AV-3 holds whether the executor is there or not

 private:
  Waiter* const ordered_;
  AsyncValue& value_;  // with a reference
};

std::atomic<bool> counting{false};
std::atomic<std::int64_t> alive_count{0};
std::atomic<std::int64_t> pending_count{0};

void log_unobserved(const Error& error) {
  MILLRACE_LOG(kWarning, "core", "an error that was never looked at: " + error.to_string());
}
std::atomic<UnobservedErrorHandler> unobserved_handler{&log_unobserved};

}  // namespace

Waiter* Notifier::brief_ones(Waiter* ordered, AsyncValue& value) {
  Waiter *brief = nullptr, *rest = nullptr;
  Waiter **brief_end = &brief, **rest_end = &rest;
  for (; ordered != nullptr; ordered = ordered->next_) {
    Waiter**& end = ordered->is_brief() ? brief_end : rest_end;
    *end = ordered;
    end = &ordered->next_;
  }
  *brief_end = *rest_end = nullptr;
  if (rest == nullptr) return brief;
  value.add_ref();
  try {
    others->submit(new NotifyWork(rest, value));
  } catch (const std::bad_alloc&) {
    notify_all(rest, value);  // better here than never
  }
  return brief;
}

ForeignThreadScope::ForeignThreadScope(Executor& others)
    : outer_(std::exchange(notifier.others, &others)) {}

ForeignThreadScope::~ForeignThreadScope() { notifier.others = outer_; }

bool AsyncValue::is_notifying_here() { return notifier.depth > 0 || notifier.others != nullptr; }

bool ForeignThreadScope::here() { return notifier.others != nullptr; }

void Waiter::on_complete_last(AsyncValue& value) noexcept {
  on_complete(value);
  value.release();
}

AsyncValue::AsyncValue(std::uint32_t references, State state)
    : RefCounted(references),
      waiters_(state == State::kPending ? 0 : kComplete),
      claimed_(state != State::kPending),
      final_state_(state) {
  if (counting.load(std::memory_order_relaxed)) {  // tests switch it while nothing else runs
    counted_ = true;
    alive_count.fetch_add(1);
    if (state == State::kPending) pending_count.fetch_add(1);
  }
}

AsyncValue::~AsyncValue() {
  MILLRACE_CHECK(!Waiters::holds_entries(waiters_.word()),
                 "a pending cell with waiters was destroyed (AV-3)");
  if (counted_) {
    alive_count.fetch_sub(1);
    if (final_state_ == State::kPending) pending_count.fetch_sub(1);
  }
}

const Error* AsyncValue::error() const {
  if (state() != State::kError) return nullptr;
  mark_observed();
  return stored_error();
}

void AsyncValue::watch(Waiter* waiter) {
  if (waiters_.push(waiter, kComplete) != kComplete) return;
  waiter->next_ = nullptr;
  notifier.notify(waiter, *this, false);
}

void AsyncValue::publish(State final_state, bool given) {
  final_state_ = final_state;
  if (counted_) pending_count.fetch_sub(1);
  if (given && unique() && waiters_.word() == 0) {  // its futures are gone: none will look
    waiters_.set_unshared(kComplete);
    return release();
  }
  const Waiters::Word word = waiters_.exchange(kComplete);
  MILLRACE_CHECK(word != kComplete, "published twice (AV-1)");
  Waiter* ordered = Waiters::oldest_first(word);
  if (ordered != nullptr && notifier.others != nullptr) [[unlikely]]
    ordered = notifier.brief_ones(ordered, *this);
  if (ordered == nullptr) {
    if (given) release();
    return;
  }
  if (!given) add_ref();  // whatever waiters drop
  notifier.notify_all(ordered, *this);
}

void AsyncValue::set_counting(bool on) {
  counting.store(on);
  if (on) {
    alive_count.store(0);
    pending_count.store(0);
  }
}

AsyncValue::Counts AsyncValue::counts() { return {alive_count.load(), pending_count.load()}; }

void set_unobserved_error_handler(UnobservedErrorHandler handler) {
  unobserved_handler.store(handler != nullptr ? handler : &log_unobserved);
}

void report_unobserved_error(const Error& error) {
  if (error.code() != ErrorCode::kCancelled && error.claim_report())
    unobserved_handler.load()(error);
}

}  // namespace millrace
