#include "millrace/core/net/job_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "millrace/core/base/errno_code.h"

namespace millrace::net {
namespace {

// A path of a Unix socket has 107 bytes, with the name in the folder.
constexpr std::size_t kMostFolderBytes = 80;

}  // namespace

std::vector<std::string> JobFolder::places() {
  std::vector<std::string> places;
  const char* const runtime = ::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') places.emplace_back(runtime);
  places.emplace_back("/tmp");
  return places;
}

Result<JobFolder> JobFolder::create() {
  int number = 0;
  for (const std::string& place : places()) {
    std::string path = place + "/millrace-XXXXXX";
    if (path.size() > kMostFolderBytes) continue;
    if (::mkdtemp(path.data()) != nullptr) return JobFolder(path);
    number = errno;
  }
  return errno_error("making a folder for a job, in XDG_RUNTIME_DIR or /tmp", number);
}

void JobFolder::remove(const std::string& path) {
  if (path.empty()) return;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(path, failed), end; !failed && entry != end;
       entry.increment(failed))
    ::unlink(entry->path().c_str());
  ::rmdir(path.c_str());
}

}  // namespace millrace::net
