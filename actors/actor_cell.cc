#include "millrace/actors/actor_cell.h"

#include <algorithm>

#include "millrace/actors/reply_tracker.h"

namespace millrace::actors {

CurrentActor*& current_actor_slot() {
  static constinit thread_local CurrentActor* innermost = nullptr;
  return innermost;
}

CurrentActor& current_actor() {
  static constinit thread_local CurrentActor outside;
  CurrentActor* const innermost = current_actor_slot();
  return innermost != nullptr ? *innermost : outside;
}

namespace {

// The object of `at`, made by the first thread that asks for it.
template <class T>
Ref<T> made_once(std::atomic<T*>& at) {
  T* there = at.load();
  if (there == nullptr) {
    auto fresh = make_ref<T>();
    if (at.compare_exchange_strong(there, fresh.get())) there = fresh.detach();
  }
  return Ref<T>::share(there);
}

}  // namespace

ActorCell::ActorCell(Ref<ActorHome> home, ActorId id, std::string name, const std::type_info& type,
                     const ActorOptions& options, Scope::Hold hold)
    : admission_(options.mailbox_bytes, options.waiting_bytes),
      id_(id),
      type_(type),
      home_(std::move(home)),
      executor_(options.executor != nullptr ? *options.executor : *home_->environment.compute),
      inline_when_idle_(options.inline_when_idle),
      name_(std::move(name)),
      system_hold_(std::move(hold)) {}

ActorCell::~ActorCell() {
  if (Cell<Down>* down = down_.load()) down->release();
  if (ReplyList* replies = replies_.load()) replies->release();
  delete stop_.load();
}

std::stop_token ActorCell::stop_token() {
  std::stop_source* stop = stop_.load();
  if (stop == nullptr) {
    auto fresh = std::make_unique<std::stop_source>();
    if (stop_.compare_exchange_strong(stop, fresh.get())) stop = fresh.release();
    // begin_stopping may have looked before it was there.
    if (state() >= ActorState::kStopping) stop->request_stop();
  }
  return stop->get_token();
}

void ActorCell::submit_turn(Work* work, bool here) noexcept {
  // As soon as the mailbox has it, it may run, and with it the last reference may go.
  const Ref<ActorCell> self = Ref<ActorCell>::share(this);
  switch (mailbox_.push_urgent(work)) {
    case Mailbox::Push::kQueued:
      return;
    case Mailbox::Push::kWake:
      return wake(here);
    case Mailbox::Push::kClosed:
      return work->drop();
  }
}

void ActorCell::stop(Exit exit, StopMode mode) {
  if (current_actor().cell == this) return request_exit(std::move(exit), mode);
  post(*this,
       [this, exit = std::move(exit), mode]() mutable { request_exit(std::move(exit), mode); });
}

Future<Down> ActorCell::down() { return Future<Down>(made_once(down_)); }

Ref<ReplyList> ActorCell::replies() { return made_once(replies_); }

ActorSnapshot::Handling ActorCell::Mark::read(TimePoint now) const {
  const MessageType* const handled = type.load(std::memory_order_acquire);
  if (handled == nullptr) return {};
  const TimePoint begin{Duration(since.load())};
  return {std::string(handled->name), now - begin, begin};
}

Duration ActorCell::longest_handling(TimePoint now) const {
  Duration longest{};
  for (const Mark* mark : {&handler_mark_, &in_flight_mark_}) {
    if (mark->type.load(std::memory_order_acquire) == nullptr) continue;
    longest = std::max(longest, now.time_since_epoch() - Duration(mark->since.load()));
  }
  return longest;
}

ActorSnapshot ActorCell::snapshot() const {
  const TimePoint now = home_->environment.clock->now();
  const Admission::Load load = admission_.load();
  return {.id = id_,
          .name = name_,
          .state = state(),
          .handler = handler_mark_.read(now),
          .oldest_in_flight = in_flight_mark_.read(now),
          .in_flight = in_flight_count_.load(),
          .messages = load.messages,
          .bytes = load.bytes,
          .waiting_bytes = load.waiting_bytes};
}

Status ActorCell::construct(FunctionRef<std::unique_ptr<Actor>()> make) {
  CurrentActor& current = current_actor();
  ActorCell* const before = std::exchange(current.under_construction, this);
  Status status;
  try {
    actor_ = make();
  } catch (...) {
    status = std::unexpected(millrace::detail::exception_to_error(std::current_exception())
                                 .with_context("actor '" + name_ + "' could not be constructed"));
  }
  current.under_construction = before;
  if (!status) give_up(Exit{ExitReason::kFailed, status.error()});
  return status;
}

void ActorCell::wake(bool here) {
  add_ref();  // the slice's
  if (here) return run();
  executor_.submit(this);
}

// What Actor and Context ask of the cell.

Actor::Actor() : cell_(current_actor().under_construction) {
  MILLRACE_CHECK(cell_ != nullptr, "an Actor is made by ActorSystem::spawn, nowhere else");
}

Future<void> Actor::on_stop(const Exit& /*exit*/) { return {}; }

ActorId Context::id() const { return cell_.id(); }
const std::string& Context::name() const { return cell_.name(); }
ActorState Context::state() const { return cell_.state(); }
const Environment& Context::environment() const { return cell_.home().environment; }
ActorSystem& Context::system() const { return *cell_.home().system; }
Executor& Context::executor() const { return cell_; }
std::stop_token Context::stop_token() const { return cell_.stop_token(); }

void Context::fail(Error error) {
  cell_.stop(Exit{ExitReason::kFailed, std::move(error)}, StopMode::kNow);
}
void Context::stop() { cell_.stop(Exit{ExitReason::kStopped, std::nullopt}, StopMode::kNow); }

}  // namespace millrace::actors
