#include "millrace/actors/handler_watch.h"

#include <algorithm>
#include <utility>

#include "millrace/core/observe/log.h"

namespace millrace::actors {
namespace {

std::string seconds(Duration time) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(time).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

std::size_t OverdueHandler::queued() const {
  // Those in flight, or the one that runs, are accepted and not done.
  const std::size_t begun = std::max<std::size_t>(actor.in_flight, 1);
  return actor.messages - std::min(actor.messages, begun);
}

std::string OverdueHandler::to_string() const {
  std::string text = "actor '" + actor.name + "' has not ended its handler of " + handler.message;
  text += " for " + seconds(handler.age) + " (limit " + seconds(limit) + "); " +
          std::to_string(queued()) + " messages are queued behind it";
  if (actor.waiting_bytes > 0) {
    text += ", and senders wait with " + std::to_string(actor.waiting_bytes) + " bytes";
  }
  return text;
}

HandlerWatch::HandlerWatch(const ActorSystem& system, const Environment& environment,
                           HandlerWatchOptions options)
    : system_(system), environment_(environment), options_(std::move(options)) {
  schedule(scope_.hold());
}

void HandlerWatch::schedule(Scope::Hold hold) {
  MutexLock lock(mutex_);
  if (scope_.closing()) return;
  timer_ = environment_.timers->schedule(environment_.clock->now() + kPeriod,
                                         [this, hold = std::move(hold)]() mutable {
                                           look();
                                           schedule(std::move(hold));
                                         });
}

Future<void> HandlerWatch::close() {
  Future<void> closed = scope_.close();
  TimerQueue::Id timer;
  {
    MutexLock lock(mutex_);
    timer = timer_;
  }
  environment_.timers->cancel(timer);
  return closed;
}

void HandlerWatch::look() {
  std::unordered_map<ActorId, Named> named;
  for (ActorSnapshot& actor : system_.overdue(options_.limit)) {
    OverdueHandler overdue{.actor = std::move(actor), .handler = {}, .limit = options_.limit};
    const ActorSnapshot& row = overdue.actor;
    overdue.handler = row.handler.age >= options_.limit ? row.handler : row.oldest_in_flight;
    if (overdue.handler.age < options_.limit) continue;  // ended this moment
    Named current{.since = overdue.handler.since, .next_age = {}};
    const auto before = named_.find(row.id);
    const bool again = before != named_.end() && before->second.since == current.since;
    if (again) current.next_age = before->second.next_age;
    if (overdue.handler.age >= current.next_age) {
      current.next_age = 2 * overdue.handler.age;
      if (!again && options_.overdue != nullptr) options_.overdue->add();
      MILLRACE_LOG(kWarning, "actors", overdue.to_string());
      if (options_.on_overdue) options_.on_overdue(overdue);
    }
    named.emplace(row.id, current);
  }
  named_ = std::move(named);
}

}  // namespace millrace::actors
