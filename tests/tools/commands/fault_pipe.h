// FaultPipe: how a faulty plugin in another process tells that its fault has begun: it writes a
// byte into the pipe that MILLRACE_FAULT_PIPE names.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>

#include "tests/support/temp_folder.h"

namespace millrace::testing {

class FaultPipe {
 public:
  FaultPipe() : path_(folder_.file("pipe")) {
    if (::mkfifo(path_.c_str(), 0600) == 0)
      descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~FaultPipe() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FaultPipe(const FaultPipe&) = delete;
  FaultPipe& operator=(const FaultPipe&) = delete;

  // For the process.
  std::map<std::string, std::string> variables(const std::string& fault) const {
    return {{"MILLRACE_FAULT", fault}, {"MILLRACE_FAULT_PIPE", path_}};
  }
  // False after five minutes.
  bool wait() const {
    pollfd polled{.fd = descriptor_, .events = POLLIN};
    return descriptor_ >= 0 && ::poll(&polled, 1, 300'000) == 1;
  }

 private:
  TempFolder folder_;
  const std::string path_;
  int descriptor_ = -1;
};

}  // namespace millrace::testing
