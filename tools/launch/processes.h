// run_launch: starts the ranks of a job as processes of this host and follows the LaunchMachine
// until the job is over. One thread, that of the caller, does all of that, on an event loop: ranks
// are killed when the thread that has started them ends. The store has another: job_server.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/core/net/job_frames.h"
#include "millrace/tools/launch/launch_machine.h"

namespace millrace::launch {

struct LaunchOptions {
  LaunchRules rules = {};
  std::vector<std::string> words = {};  // the program, found by PATH, and its arguments
  std::string job = {};                 // its name, for MILLRACE_JOB
  bool tcp_store = false;               // else a Unix socket
  std::string transport = {};           // of the links between ranks; empty: as the store's
  Duration silent_after{0};             // 0: never
  std::string log_folder = {};          // RANK.stdout and RANK.stderr in there; empty: none
};

// What hears of a launch, on its thread. An error ends the job as SIGTERM to launch does, and is
// then the result.
class LaunchListener {
 public:
  virtual ~LaunchListener() = default;
  // Before all others. store: its address. wait_writable returns once a descriptor takes 4 KiB
  // without waiting; meanwhile the job's signals and limits go on. kDataLoss: it does not, and the
  // job was asked to end (LaunchMachine::asked_to_end): nothing more is written. Called in the
  // calls below only.
  virtual void begin(const std::string& store,
                     std::function<Status(int descriptor)> wait_writable) = 0;
  // Whole lines of the ranks.
  virtual Status out(std::string_view text) = 0;
  virtual Status err(std::string_view text) = 0;
  virtual Status started(int rank, int pid, int incarnation) = 0;
  // Every rank has been started, or will not be.
  virtual Status all_started() = 0;
  // It has given no sign of life for half of silent_after.
  virtual void suspect(const net::JobMember& member) = 0;
  // words: the last lines of its stderr.
  virtual Status ended(const RankEnd& end, const std::string& words) = 0;
  // Behind ended(): that was the first failure, or costs restart number n.
  virtual Status failed(const RankEnd& end, const std::string& words) = 0;
  virtual Status restarting(const RankEnd& end, const std::string& words, int n) = 0;
  // The job goes on without the rank.
  virtual Status lost(const RankEnd& end, const std::string& words) = 0;
};

// The exit code of the job. Catches SIGINT and SIGTERM meanwhile, unless they are ignored. Nothing
// that it has started is left when it returns, but for what has left its process group. Call it
// while this process has one thread; 1 to kMostRanks ranks.
Result<int> run_launch(const LaunchOptions& options, LaunchListener& listener);

}  // namespace millrace::launch
