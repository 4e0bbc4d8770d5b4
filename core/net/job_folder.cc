#include "millrace/core/net/job_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/printed.h"

namespace millrace::net {
namespace {

// A path of a Unix socket has 107 bytes, with the name in the folder.
constexpr std::size_t kMostFolderBytes = 80;

}  // namespace

std::string JobFolder::name_of_hosted(std::uint64_t number) {
  return kPrefix + printed("%016llx", static_cast<unsigned long long>(number));  // NOLINT
}

bool JobFolder::is_name_of_hosted(std::string_view name) {
  const std::string_view prefix = kPrefix;
  return name.size() == prefix.size() + 16 && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

std::vector<std::string> JobFolder::places() {
  std::vector<std::string> places;
  const char* const runtime = ::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') places.emplace_back(runtime);
  places.emplace_back("/tmp");
  return places;
}

std::string JobFolder::place(const std::optional<std::string>& runtime_folder) {
  const bool good = runtime_folder && runtime_folder->starts_with('/') &&
                    runtime_folder->size() + 40 <= kMostFolderBytes &&
                    ::access(runtime_folder->c_str(), W_OK | X_OK) == 0;
  return good ? *runtime_folder : "/tmp";
}

Result<JobFolder> JobFolder::create() {
  int number = 0;
  for (const std::string& place : places()) {
    std::string path = place + "/" + kPrefix + "XXXXXX";
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

Result<Secret> read_secret(const std::string& path, const std::string& what) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return errno_error(what, errno);
  struct stat found = {};
  if (::fstat(file.get(), &found) != 0) return errno_error(what, errno);
  if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0) {
    return fail(ErrorCode::kInvalidArgument,
                what + ", which must be a file of this user that no other may read (mode 0600)");
  }
  Secret secret;
  std::byte more{};
  if (::read(file.get(), secret.data(), secret.size()) != static_cast<ssize_t>(secret.size()) ||
      ::read(file.get(), &more, 1) != 0) {
    return fail(ErrorCode::kInvalidArgument,
                what + ", which must have " + std::to_string(secret.size()) + " bytes");
  }
  return secret;
}

}  // namespace millrace::net
