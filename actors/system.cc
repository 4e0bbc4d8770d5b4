#include "millrace/actors/system.h"

namespace millrace::actors {
ActorSystem::ActorSystem(const Environment& environment, ActorSystemOptions options) {
  MILLRACE_CHECK(options.slice_messages > 0, "a slice without messages would never end");
  home_->environment = environment;
  home_->system = this;
  home_->registry = &registry_;
  home_->slice_messages = options.slice_messages;
}

ActorSystem::~ActorSystem() {
  MILLRACE_CHECK(!registry_.newest(),
                 "an actor system was destroyed before its close() had completed");
}

Ref<ActorCell> detail::spawn_alone(const Environment& environment, std::string name,
                                   const ActorOptions& options, const std::type_info& type,
                                   FunctionRef<std::unique_ptr<Actor>()> make) {
  auto home = make_ref<ActorHome>();
  home->environment = environment;
  auto cell =
      make_ref<ActorCell>(std::move(home), 0, std::move(name), type, options, Scope::Hold());
  const Status made = cell->construct(make);
  MILLRACE_CHECK(made, "the constructor of an actor of no system has thrown");
  cell->start();
  return cell;
}

Result<Ref<ActorCell>> ActorSystem::spawn_cell(std::string name, const ActorOptions& options,
                                               const std::type_info& type,
                                               FunctionRef<std::unique_ptr<Actor>()> make) {
  Scope::Hold hold = scope_.hold();
  if (!hold)
    return std::unexpected(scope_.closed_error().with_context("actor '" + name + "' was not made"));
  auto cell = make_ref<ActorCell>(home_, next_id_.fetch_add(1), std::move(name), type, options,
                                  std::move(hold));
  if (!registry_.add(cell)) {
    return fail(
        ErrorCode::kAlreadyExists,
        "actor '" + cell->name() + "' was not made: another one of that name has not stopped yet");
  }
  if (Status made = cell->construct(make); !made) return std::unexpected(std::move(made).error());
  cell->start();
  if (closing_.load())
    cell->stop({ExitReason::kClosed, {}}, StopMode::kNow);  // close() may have passed it by
  return cell;
}

Result<Ref<ActorCell>> ActorSystem::find_cell(std::string_view name) const {
  Ref<ActorCell> cell = registry_.find(name);
  if (!cell) return fail(ErrorCode::kNotFound, "there is no actor '" + std::string(name) + "'");
  if (cell->refuses()) {
    return fail(ErrorCode::kNotFound, "actor '" + std::string(name) + "' is " +
                                          std::string(to_string(cell->state())) +
                                          " and takes no more messages");
  }
  return cell;
}

Result<Ref<ActorCell>> ActorSystem::find_cell(std::string_view name,
                                              const std::type_info& type) const {
  MILLRACE_TRY(Ref<ActorCell> cell, find_cell(name));
  if (cell->type() != type) {
    return fail(ErrorCode::kInvalidArgument, "actor '" + std::string(name) + "' is a " +
                                                 readable_name(cell->type()) + ", not a " +
                                                 readable_name(type));
  }
  return cell;
}

std::vector<ActorSnapshot> ActorSystem::snapshot() const { return overdue(Duration::min()); }

std::vector<ActorSnapshot> ActorSystem::overdue(Duration limit) const {
  const TimePoint now = home_->environment.clock->now();
  const auto is_overdue = [&](const ActorCell& cell) {
    return cell.longest_handling(now) >= limit;
  };
  std::vector<ActorSnapshot> rows;
  for (const Ref<ActorCell>& cell : registry_.select(is_overdue)) rows.push_back(cell->snapshot());
  return rows;
}

Future<void> ActorSystem::close() {
  const bool first = !closing_.exchange(true);
  Future<void> closed = scope_.close();
  if (first) close_newest();
  return closed;
}

// Goes on with the next older actor when one is gone, which holds the system open until then.
void ActorSystem::close_newest() {
  Ref<ActorCell> newest = registry_.newest();
  if (!newest) return;
  newest->stop({ExitReason::kClosed, {}}, StopMode::kNow);
  newest->down().then(inline_executor(), [this](const Result<Down>&) { close_newest(); }).ignore();
}

}  // namespace millrace::actors
