// JobServer: the host of a launched job (core/net/job_host.h) on a thread of its own, so that ranks
// join, meet and show that they live also while a reader of launch's output takes nothing. Read
// next: processes.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "millrace/core/base/error.h"
#include "millrace/core/net/job_folder.h"
#include "millrace/core/net/job_host.h"

namespace millrace::launch {

using net::JobFolder;

struct JobServerOptions {
  std::string job = {};
  int ranks = 1;
  bool tcp = false;     // the store is reached by TCP
  bool secret = false;  // the job has one; so it has with tcp
  Duration silent_after{0};
  std::optional<int> least = {};  // JobHostOptions::least
};

// Called on the server's thread. generation: how many processes of the rank had ended before this
// one came, as ended() has counted them.
struct JobServerHooks {
  std::function<void(int rank, int generation)> joined;
  std::function<void(int rank, int generation)> silent;
  std::function<void(const net::JobMember&)> suspect;
};

// The destructor says goodbye to all, and joins the thread. Thread-safety: external.
class JobServer {
 public:
  // The secret is in a file of the folder. No variable has it, since what is in there is
  // read in /proc and written to logs; nor is it an inherited descriptor, since programs that start
  // others close those (Python's subprocess does), and the others keep it.
  static Result<std::unique_ptr<JobServer>> start(const JobFolder& folder,
                                                  const JobServerOptions& options,
                                                  JobServerHooks hooks);
  ~JobServer();
  JobServer(const JobServer&) = delete;
  JobServer& operator=(const JobServer&) = delete;

  // "unix:PATH" or "tcp:127.0.0.1:PORT"
  const std::string& address() const { return address_; }
  const std::string& secret_file() const { return secret_file_; }  // empty: none is needed
  // Those who have joined hear of it at once. The first one counts.
  void fail(const net::JobFailure& failure);
  // The rank has a process.
  void started(int rank, int pid);
  // The rank's process has ended.
  void ended(int rank);
  // After ended(): JobHost::lost(), JobHost::over().
  void lost(const net::JobFailure& failure);
  void over(const net::JobMember& member, bool well);

 private:
  class Thread;
  JobServer();
  Status open(const JobFolder& folder, const JobServerOptions& options);

  JobServerHooks hooks_;
  std::unique_ptr<Thread> thread_;
  std::string address_;
  std::string secret_file_;
};

}  // namespace millrace::launch
