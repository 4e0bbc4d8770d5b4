// JobFolder: a folder of this user's alone, where the processes of a job find each other: sockets,
// and the secret where they talk by TCP. Read next: job_options.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::net {

// Its end removes it, with all that lies in it. Thread-safety: external.
class JobFolder {
 public:
  // A new one (0700) of a random name. kPermissionDenied and so on: no place takes one.
  static Result<JobFolder> create();
  JobFolder(JobFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  JobFolder& operator=(JobFolder&&) = delete;
  ~JobFolder() { remove(path_); }

  const std::string& path() const { return path_; }
  std::string socket() const { return path_ + "/store"; }
  std::string secret() const { return path_ + "/secret"; }

  // Where such folders are: XDG_RUNTIME_DIR, if it is there, and /tmp.
  static std::vector<std::string> places();
  // The folder, with its files and sockets. Also of a folder that is not there, or "".
  static void remove(const std::string& path);

 private:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace millrace::net
