#include "millrace/actors/actor_cell.h"

#include <algorithm>

#include "millrace/actors/reply_tracker.h"

namespace millrace::actors {

CurrentActor& current_actor() {
  thread_local CurrentActor current;
  return current;
}

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

Future<Down> ActorCell::down() {
  Cell<Down>* down = down_.load();
  if (down == nullptr) {
    auto fresh = make_ref<Cell<Down>>();
    if (down_.compare_exchange_strong(down, fresh.get())) down = fresh.detach();
  }
  return Future<Down>(Ref<Cell<Down>>::share(down));
}

Ref<ReplyList> ActorCell::replies() {
  ReplyList* replies = replies_.load();
  if (replies == nullptr) {
    auto fresh = make_ref<ReplyList>();
    if (replies_.compare_exchange_strong(replies, fresh.get())) replies = fresh.detach();
  }
  return Ref<ReplyList>::share(replies);
}

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

}  // namespace millrace::actors
