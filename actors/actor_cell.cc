#include "millrace/actors/actor_cell.h"

namespace millrace::actors {
namespace {

ActorSnapshot::Handling read(const MessageType* type, Duration::rep since, TimePoint now) {
  if (type == nullptr) return {};
  return {std::string(type->name), now.time_since_epoch() - Duration(since)};
}

}  // namespace

CurrentActor& current_actor() {
  thread_local CurrentActor current;
  return current;
}

ActorCell::ActorCell(Ref<ActorHome> home, ActorId id, std::string name, const std::type_info& type,
                     const ActorOptions& options, Scope::Hold hold)
    : home_(std::move(home)),
      executor_(options.executor != nullptr ? *options.executor : *home_->environment.compute),
      id_(id),
      name_(std::move(name)),
      type_(type),
      admission_(options.mailbox_bytes, options.waiting_bytes),
      system_hold_(std::move(hold)) {}

ActorCell::~ActorCell() {
  if (Cell<Down>* down = down_.load()) down->release();
}

void ActorCell::submit(Work* work) noexcept {
  switch (mailbox_.push_urgent(work)) {
    case Mailbox::Push::kQueued:
      return;
    case Mailbox::Push::kWake:
      return wake();
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

ActorSnapshot ActorCell::snapshot() const {
  const TimePoint now = home_->environment.clock->now();
  const Admission::Load load = admission_.load();
  return {.id = id_,
          .name = name_,
          .state = state(),
          .handler = read(handler_mark_.type.load(), handler_mark_.since.load(), now),
          .oldest_in_flight = read(in_flight_mark_.type.load(), in_flight_mark_.since.load(), now),
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

void ActorCell::wake() {
  add_ref();  // the slice's
  executor_.submit(this);
}

}  // namespace millrace::actors
