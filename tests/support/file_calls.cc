#include "tests/support/file_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <mutex>
#include <optional>

namespace millrace::testing {
namespace {

struct Failure {
  std::string what;
  std::string ending;
  int number = 0;
  std::uint64_t at = 0;
};
struct Recorder {
  std::mutex mutex;
  bool on = false;
  std::vector<FileCall> calls;
  std::vector<Failure> failures;
};
// Never destroyed: libraries sync and rename at the end of the process, too.
Recorder& recorder() {
  static auto* made = new Recorder;
  return *made;
}

std::string path_of(int fd) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

std::optional<int> failure_of(const Recorder& all, const FileCall& call, std::uint64_t begin,
                              std::uint64_t end) {
  for (const Failure& failure : all.failures) {
    const bool here = call.what != "read" || (begin <= failure.at && failure.at < end);
    if (here && failure.what == call.what && call.path.ends_with(failure.ending)) {
      return failure.number;
    }
  }
  return std::nullopt;
}

}  // namespace

FileCalls::FileCalls() {
  const std::lock_guard lock(recorder().mutex);
  recorder().calls.clear();
  recorder().on = true;
}

FileCalls::~FileCalls() {
  const std::lock_guard lock(recorder().mutex);
  recorder().failures.clear();
  recorder().on = false;
}

void FileCalls::fail(const std::string& what, const std::string& ending, int number,
                     std::uint64_t at) {
  const std::lock_guard lock(recorder().mutex);
  recorder().failures.push_back({what, ending, number, at});
}

std::vector<FileCall> FileCalls::all() const {
  const std::lock_guard lock(recorder().mutex);
  return recorder().calls;
}

std::vector<std::string> FileCalls::texts() const {
  std::vector<std::string> texts;
  for (const FileCall& call : all()) {
    texts.push_back(call.what + " " + call.path + (call.to.empty() ? "" : " to " + call.to));
  }
  return texts;
}

}  // namespace millrace::testing

using millrace::testing::FileCall;

// In the place of libc's.
extern "C" int fsync(int fd) {
  auto& all = millrace::testing::recorder();
  std::unique_lock lock(all.mutex);
  if (all.on) {
    struct stat status{};
    static_cast<void>(::fstat(fd, &status));
    const bool file = S_ISREG(status.st_mode);
    all.calls.push_back({"sync", millrace::testing::path_of(fd), "",
                         file ? static_cast<std::uint64_t>(status.st_size) : 0});
    if (const auto number = millrace::testing::failure_of(all, all.calls.back(), 0, 0)) {
      errno = *number;
      return -1;
    }
  }
  lock.unlock();
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  auto& all = millrace::testing::recorder();
  std::unique_lock lock(all.mutex);
  if (all.on) {
    all.calls.push_back({"rename", from, to, 0});
    if (const auto number = millrace::testing::failure_of(all, all.calls.back(), 0, 0)) {
      errno = *number;
      return -1;
    }
  }
  lock.unlock();
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

extern "C" ssize_t pread(int fd, void* out, std::size_t size, off_t offset) {
  auto& all = millrace::testing::recorder();
  std::unique_lock lock(all.mutex);
  if (all.on) {
    const auto begin = static_cast<std::uint64_t>(offset);
    const FileCall call = {"read", millrace::testing::path_of(fd), "", 0};
    if (const auto number = millrace::testing::failure_of(all, call, begin, begin + size)) {
      errno = *number;
      return -1;
    }
  }
  lock.unlock();
  return ::syscall(SYS_pread64, fd, out, size, offset);
}
