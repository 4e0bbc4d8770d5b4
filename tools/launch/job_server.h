// JobServer: the host of a launched job (core/net/job_host.h) on a thread of its own, so that ranks
// join, meet and show that they live also while a reader of launch's output takes nothing. Read
// next: processes.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "millrace/core/base/error.h"
#include "millrace/core/net/job_host.h"

namespace millrace::launch {

// A new folder that is this user's alone (0700), below XDG_RUNTIME_DIR or /tmp: of the store's
// socket, or of the secret. Its end removes it, with both; a keeper does where launch is killed.
class JobFolder {
 public:
  // kPermissionDenied and so on: neither place takes one.
  static Result<JobFolder> create();
  JobFolder(JobFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  JobFolder& operator=(JobFolder&&) = delete;
  ~JobFolder() { remove(path_); }

  const std::string& path() const { return path_; }
  std::string socket() const { return path_ + kSocket; }
  std::string secret() const { return path_ + kSecret; }
  // Also of a folder that is not there, or "".
  static void remove(const std::string& path);

 private:
  static constexpr const char* kSocket = "/store";
  static constexpr const char* kSecret = "/secret";
  explicit JobFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct JobServerOptions {
  std::string job = {};
  int ranks = 1;
  bool tcp = false;
  Duration silent_after{0};
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
  // Over TCP the secret is in a file of the folder. No variable has it, since what is in there is
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
  // The rank's process has.
  void ended(int rank);

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
