#include "millrace/tools/launch/launch_machine.h"

#include <signal.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::launch {

namespace {

constexpr int kDeadlineExit = 124;
constexpr int kSignalExit = 128;

int exit_code_of(const RankEnd& end) {
  if (end.reason == Reason::kNotStarted) return 1;
  if (end.reason == Reason::kSilent) return kSignalExit + SIGKILL;
  return end.end.signal != 0 ? kSignalExit + end.end.signal : end.end.exit;
}

}  // namespace

const char* name_of(Reason reason) {
  constexpr const char* kNames[] = {"exit", "signal", "silent", "start"};
  return kNames[static_cast<std::size_t>(reason)];
}

LaunchMachine::LaunchMachine(const LaunchRules& rules)
    : rules_(rules), ranks_(static_cast<std::size_t>(rules.ranks)) {}

const LaunchMachine::Rank& LaunchMachine::at(int rank) const {
  MILLRACE_CHECK(rank >= 0 && rank < rules_.ranks, "there is no such rank");
  return ranks_[static_cast<std::size_t>(rank)];
}

bool LaunchMachine::may_move(RankState from, RankState to) {
  using enum RankState;
  const auto one_of = [to](std::initializer_list<RankState> list) {
    return std::ranges::find(list, to) != list.end();
  };
  switch (from) {
    case kQueued:
      return one_of({kStarting, kEnded});
    case kStarting:
    case kRunning:
      return one_of({kEnding, kRestarting, kEnded}) || (from == kStarting && to == kRunning);
    case kEnding:
      return one_of({kEnding, kRestarting, kEnded});
    case kRestarting:
      return one_of({kQueued, kEnded});
    case kEnded:
      return false;
  }
  return false;
}

void LaunchMachine::move(Rank& rank, RankState to) {
  MILLRACE_CHECK(may_move(rank.state, to), "a rank has no such step");
  rank.state = to;
}

void LaunchMachine::move_job(JobState to) {
  MILLRACE_CHECK(to > job_, "a job has no such step");
  job_ = to;
}

bool LaunchMachine::is_alive(const Rank& rank) {
  return rank.state == RankState::kRunning || rank.state == RankState::kEnding;
}

Commands LaunchMachine::begin(TimePoint now) {
  Commands commands;
  if (rules_.deadline) deadline_ = now + *rules_.deadline;
  advance(now, commands);
  return commands;
}

Commands LaunchMachine::started(int rank, int pid, TimePoint now) {
  Commands commands;
  Rank& r = at(rank);
  r.pid = pid;
  move(r, RankState::kRunning);
  if (job_ == JobState::kEnding) press(rank, now, commands);
  advance(now, commands);
  return commands;
}

Commands LaunchMachine::not_started(int rank, TimePoint now) {
  Commands commands;
  end_rank(rank, {.rank = rank, .incarnation = at(rank).incarnation, .reason = Reason::kNotStarted},
           now, commands);
  advance(now, commands);
  return commands;
}

Commands LaunchMachine::joined(int rank, TimePoint now) {
  Commands commands;
  Rank& r = at(rank);
  if (is_alive(r)) r.joined = true;
  advance(now, commands);
  return commands;
}

Commands LaunchMachine::ended(int rank, const ProcessEnd& end, TimePoint now) {
  Commands commands;
  const Rank& r = at(rank);
  const Reason reason = r.silent          ? Reason::kSilent
                        : end.signal != 0 ? Reason::kSignal
                                          : Reason::kExit;
  end_rank(rank,
           {.rank = rank, .pid = r.pid, .incarnation = r.incarnation, .reason = reason, .end = end},
           now, commands);
  advance(now, commands);
  return commands;
}

Commands LaunchMachine::silent(int rank, TimePoint now) {
  Commands commands;
  Rank& r = at(rank);
  if (is_alive(r) && r.pressure != Pressure::kKilled) {
    r.silent = true;
    send(rank, Pressure::kKilled, SIGKILL, commands);
  }
  advance(now, commands);
  return commands;
}

Commands LaunchMachine::signalled(int signal, TimePoint now) {
  Commands commands;
  if (signal_ != 0) {
    killing_ = true;
    for (int rank = 0; rank < rules_.ranks; ++rank) {
      if (is_alive(at(rank))) press(rank, now, commands);
    }
  } else {
    signal_ = signal;
    if (job_ == JobState::kRunning) {
      end_job(kSignalExit + signal, signal, now, commands);
    } else {
      for (int rank = 0; rank < rules_.ranks; ++rank) {
        if (at(rank).pressure == Pressure::kTold) press(rank, now, commands);
      }
    }
  }
  advance(now, commands);
  return commands;
}

Commands LaunchMachine::timer(TimePoint now) {
  Commands commands;
  advance(now, commands);
  return commands;
}

std::optional<TimePoint> LaunchMachine::next_timer() const {
  // Once asked to end, launch waits for no deadline.
  std::optional<TimePoint> next = asked_to_end() ? std::nullopt : deadline_;
  for (const Rank& rank : ranks_) {
    if (rank.due && (!next || *rank.due < *next)) next = rank.due;
  }
  return next;
}

void LaunchMachine::end_rank(int rank, const RankEnd& end, TimePoint now, Commands& commands) {
  Rank& r = at(rank);
  commands.push_back({.kind = Command::Kind::kEnded, .rank = rank, .end = end});
  r.due = std::nullopt;
  const bool is_done = std::ranges::count(ranks_, true, &Rank::done) >= least();
  if (job_ == JobState::kRunning && end.failed() && !is_done && restarts_ < rules_.restarts) {
    ++restarts_;
    commands.push_back({.kind = Command::Kind::kRestart, .rank = rank, .end = end});
    move(r, RankState::kRestarting);
    r = {.state = r.state, .due = now + rules_.restart_delay, .incarnation = r.incarnation + 1};
    return;
  }
  move(r, RankState::kEnded);
  if (job_ != JobState::kRunning) return;
  r.done = !end.failed();
  r.lost = end.failed();
  if (std::ranges::count(ranks_, true, &Rank::done) >= least()) end_starts(commands);
  if (r.done || is_done ||
      rules_.ranks - std::ranges::count(ranks_, true, &Rank::lost) >= least()) {
    if (r.lost) commands.push_back({.kind = Command::Kind::kLost, .rank = rank, .end = end});
    return;
  }
  first_failure_ = end;
  commands.push_back({.kind = Command::Kind::kFailed, .rank = rank, .end = end});
  end_job(exit_code_of(end), 0, now, commands);
}

// No rank is started any more.
void LaunchMachine::end_starts(Commands& commands) {
  for (int rank = 0; rank < rules_.ranks; ++rank) {
    Rank& r = at(rank);
    if (r.state != RankState::kQueued && r.state != RankState::kRestarting) continue;
    move(r, RankState::kEnded);
    r.due = std::nullopt;
    if (job_ == JobState::kRunning)  // the others work on
      commands.push_back({.kind = Command::Kind::kNotDue, .rank = rank, .end = {.rank = rank}});
  }
}

// signal: to launch, which is passed on; 0: the job ends for another reason.
void LaunchMachine::end_job(int exit_code, int signal, TimePoint now, Commands& commands) {
  move_job(JobState::kEnding);
  exit_code_ = exit_code;
  signal_ = signal;
  end_starts(commands);
  for (int rank = 0; rank < rules_.ranks; ++rank) {
    if (is_alive(at(rank))) press(rank, now, commands);
  }
}

// The next thing that is done to end a rank of a job that ends.
void LaunchMachine::press(int rank, TimePoint now, Commands& commands) {
  Rank& r = at(rank);
  if (r.pressure == Pressure::kKilled) return;
  if (killing_) {
    send(rank, Pressure::kKilled, SIGKILL, commands);
  } else if (r.pressure <= Pressure::kTold && signal_ != 0) {
    send(rank, Pressure::kSignalled, signal_, commands);
    r.due = now + 2 * rules_.grace;
  } else if (r.pressure == Pressure::kNone && r.joined) {
    send(rank, Pressure::kTold, 0, commands);
    r.due = now + rules_.grace;
  } else if (r.pressure <= Pressure::kTold) {
    send(rank, Pressure::kTerminated, SIGTERM, commands);
    r.due = now + rules_.grace;
  } else {
    send(rank, Pressure::kKilled, SIGKILL, commands);
  }
}

void LaunchMachine::send(int rank, Pressure pressure, int signal, Commands& commands) {
  Rank& r = at(rank);
  MILLRACE_CHECK(pressure > r.pressure, "the pressure on a rank only goes up");
  move(r, RankState::kEnding);
  r.pressure = pressure;
  r.due = std::nullopt;
  if (signal == 0) return;
  commands.push_back({.kind = Command::Kind::kSignal, .rank = rank, .signal = signal});
}

// What the time has brought, the next start, and the end.
void LaunchMachine::advance(TimePoint now, Commands& commands) {
  late_ = late_ || (deadline_ && *deadline_ <= now);
  if (job_ == JobState::kDone) return;
  if (job_ == JobState::kRunning && late_) end_job(kDeadlineExit, 0, now, commands);
  for (int rank = 0; rank < rules_.ranks; ++rank) {
    Rank& r = at(rank);
    if (!r.due || *r.due > now) continue;
    r.due = std::nullopt;
    if (r.state == RankState::kRestarting) {
      move(r, RankState::kQueued);
    } else {
      press(rank, now, commands);
    }
  }
  start_next(commands);
  const bool over =
      std::ranges::all_of(ranks_, [](const Rank& r) { return r.state == RankState::kEnded; });
  if (!over) return;
  move_job(JobState::kDone);
  commands.push_back({.kind = Command::Kind::kFinish, .exit_code = exit_code_});
}

void LaunchMachine::start_next(Commands& commands) {
  int first = -1;
  for (int rank = rules_.ranks - 1; rank >= 0; --rank) {
    if (at(rank).state == RankState::kStarting) return;
    if (at(rank).state == RankState::kQueued) first = rank;
  }
  if (first < 0) return;
  move(at(first), RankState::kStarting);
  commands.push_back({.kind = Command::Kind::kStart, .rank = first});
}

}  // namespace millrace::launch
