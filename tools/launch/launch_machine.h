// LaunchMachine: what `millrace launch` does when: which rank starts, which is signalled, when the
// job is over and with which exit code. Pure: events and the time go in, commands come out;
// processes.h carries them out.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/core/base/clock.h"

namespace millrace::launch {

enum class RankState : std::uint8_t {
  kQueued,      // ranks start one at a time -> kStarting, kEnded
  kStarting,    // -> kRunning, kEnding, kRestarting, kEnded
  kRunning,     // -> kEnding, kRestarting, kEnded
  kEnding,      // has been signalled, or hears that the job ends -> kEnding, kRestarting, kEnded
  kRestarting,  // waits for the delay -> kQueued, kEnded
  kEnded,       // final
};

enum class JobState : std::uint8_t {
  kRunning,  // -> kEnding, kDone
  kEnding,   // after the first failure, the deadline or a signal -> kDone
  kDone,     // final
};

// How a process ended.
struct ProcessEnd {
  int exit = 0;
  int signal = 0;  // that ended it; 0: it exited
};

enum class Reason : std::uint8_t {
  kExit,
  kSignal,
  kSilent,      // it was killed since it gave no sign of life
  kNotStarted,  // the system has no process for it
};
const char* name_of(Reason reason);  // "exit", "signal", "silent", "start"

struct RankEnd {
  int rank = 0;
  int pid = 0;          // 0: not started
  int incarnation = 0;  // of the rank: 0, 1, ... with each restart
  Reason reason = Reason::kExit;
  ProcessEnd end = {};
  bool failed() const { return reason != Reason::kExit || end.exit != 0; }
};

struct Command {
  enum class Kind : std::uint8_t {
    kStart,    // the rank; answered by started() or not_started()
    kSignal,   // the rank's process group
    kEnded,    // the rank's process has: to be reported
    kFailed,   // that end is the first failure of the job: to be reported
    kRestart,  // that end costs a restart: to be reported
    kLost,     // the job goes on without the rank: to be reported
    kNotDue,   // no process comes for the rank, which waited for one
    kFinish,   // the last command: launch ends with exit_code
  };
  Kind kind;
  int rank = 0;
  int signal = 0;
  RankEnd end = {};
  int exit_code = 0;
};
using Commands = std::vector<Command>;

struct LaunchRules {
  int ranks = 1;
  Duration grace{0};
  int restarts = 0;  // of all ranks together
  Duration restart_delay{0};
  int least = 0;  // ranks that the job goes on with; 0: all
  std::optional<Duration> deadline = {};
  bool any_failure_ends() const { return restarts == 0 && (least == 0 || least == ranks); }
};

// The rules:
//
//  - Ranks start one at a time, so that a job that ends has no starts to wait for.
//  - A rank that ends with 0 has done its work. Any other end is a failure: it costs a restart,
//    where one is left. Else the job goes on while `least` ranks are left that run, or have done
//    their work; the first failure beyond that ends it. Where `least` have done their work, a
//    failure costs nothing.
//  - After the first failure or at the deadline, ranks get SIGTERM at once; those that have joined
//    the job hear of its end, so they get it after a grace only. SIGKILL comes a grace after that.
//  - The first signal to launch is passed on to each rank that has not been signalled yet, and two
//    graces later comes SIGKILL: a second signal would end a rank that is saving its work. The
//    second signal to launch is SIGKILL to all ranks at once.
//  - The exit code is that of what ended the job: the first failure's (128 + its signal), 124 for
//    the deadline, 128 + the signal to launch; 0 if all ranks ended with 0.
//
// Thread-safety: external. Ranks are 0 to rules.ranks - 1 (CHECKed).
class LaunchMachine {
 public:
  explicit LaunchMachine(const LaunchRules& rules);

  Commands begin(TimePoint now);
  Commands started(int rank, int pid, TimePoint now);
  Commands not_started(int rank, TimePoint now);
  Commands joined(int rank, TimePoint now);
  Commands ended(int rank, const ProcessEnd& end, TimePoint now);
  Commands silent(int rank, TimePoint now);
  // To launch itself: SIGINT or SIGTERM.
  Commands signalled(int signal, TimePoint now);
  Commands timer(TimePoint now);

  // When timer() is to be called; nullopt: no event of time is awaited.
  std::optional<TimePoint> next_timer() const;

  JobState job() const { return job_; }
  // A signal to launch has come, or the deadline, whatever ended the job.
  bool asked_to_end() const { return signal_ != 0 || late_; }
  RankState state(int rank) const { return at(rank).state; }
  const std::optional<RankEnd>& first_failure() const { return first_failure_; }
  int restarts() const { return restarts_; }

  // Asked by tests.
  static bool may_move(RankState from, RankState to);

 private:
  // What was done to end a rank; it only goes up.
  enum class Pressure : std::uint8_t { kNone, kTold, kSignalled, kTerminated, kKilled };
  struct Rank {
    RankState state = RankState::kQueued;
    Pressure pressure = Pressure::kNone;
    std::optional<TimePoint> due = {};  // of the next pressure, or of the restart
    bool joined = false;
    bool silent = false;
    bool done = false;  // it has ended well
    bool lost = false;  // it has failed for good
    int pid = 0;
    int incarnation = 0;
  };

  const Rank& at(int rank) const;
  Rank& at(int rank) { return const_cast<Rank&>(std::as_const(*this).at(rank)); }
  static void move(Rank& rank, RankState to);
  void move_job(JobState to);
  static bool is_alive(const Rank& rank);

  int least() const { return rules_.least > 0 ? rules_.least : rules_.ranks; }
  void end_rank(int rank, const RankEnd& end, TimePoint now, Commands& commands);
  void end_starts(Commands& commands);
  void end_job(int exit_code, int signal, TimePoint now, Commands& commands);
  void press(int rank, TimePoint now, Commands& commands);
  void send(int rank, Pressure pressure, int signal, Commands& commands);
  void advance(TimePoint now, Commands& commands);
  void start_next(Commands& commands);

  const LaunchRules rules_;
  std::vector<Rank> ranks_;
  JobState job_ = JobState::kRunning;
  std::optional<TimePoint> deadline_;
  std::optional<RankEnd> first_failure_;
  int exit_code_ = 0;     // once the job ends before its time
  int signal_ = 0;        // the first one to launch
  bool killing_ = false;  // a second one came
  bool late_ = false;     // the deadline came
  int restarts_ = 0;
};

}  // namespace millrace::launch
