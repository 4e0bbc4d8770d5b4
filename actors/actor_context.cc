// What Actor and Context ask of the cell. A file of its own: the cell includes actor.h, not the
// other way round.
#include "millrace/actors/actor.h"

#include "millrace/actors/actor_cell.h"

namespace millrace::actors {

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
