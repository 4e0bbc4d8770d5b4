#include "millrace/core/net/claimed_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "millrace/core/base/errno_code.h"
#include "millrace/core/net/job_folder.h"

namespace millrace::net {
namespace {

constexpr int kTries = 100;  // one is lost to each process that removes the folder meanwhile

std::string lock_path(const std::string& folder) { return folder + "/lock"; }

Status check_ours(const std::string& path) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return errno_error("entering " + path, errno);
  if (S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & 077) == 0)
    return {};
  return fail(ErrorCode::kPermissionDenied,
              "entering " + path + ": it must be a folder of this user's alone (mode 0700)");
}

enum class Locked : std::uint8_t { kYes, kHeld, kGone };

// The file may have been removed between the two calls: then it locks nothing.
Locked lock(const std::string& path, int flags, Descriptor& into) {
  into = Descriptor(::open(path.c_str(), flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!into) return Locked::kGone;
  if (::flock(into.get(), LOCK_EX | LOCK_NB) != 0) return Locked::kHeld;
  struct stat held = {}, there = {};
  const bool same = ::fstat(into.get(), &held) == 0 && ::lstat(path.c_str(), &there) == 0 &&
                    held.st_ino == there.st_ino && held.st_dev == there.st_dev;
  return same ? Locked::kYes : Locked::kGone;
}

void remove_but_lock(const std::string& path) {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(path, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path() != lock_path(path)) ::unlink(entry->path().c_str());
  }
}

void remove_all(const std::string& path) {
  remove_but_lock(path);
  ::unlink(lock_path(path).c_str());
  ::rmdir(path.c_str());
}

}  // namespace

Result<std::optional<ClaimedFolder>> ClaimedFolder::claim(const std::string& path) {
  int number = 0;
  for (int i = 0; i < kTries; ++i) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return errno_error("making the folder " + path, errno);
    const Status ours = check_ours(path);
    if (!ours && ours.error().code() == ErrorCode::kNotFound) continue;
    MILLRACE_TRY_STATUS(ours);
    Descriptor held;
    const Locked locked = lock(lock_path(path), O_CREAT, held);
    number = errno;
    if (locked == Locked::kHeld) return std::nullopt;
    if (locked == Locked::kGone) continue;
    remove_but_lock(path);
    return ClaimedFolder(path, std::move(held));
  }
  return errno_error("claiming the folder " + path, number);
}

bool ClaimedFolder::remove_if_stale(const std::string& path) {
  Descriptor held;
  if (!check_ours(path)) return true;
  const Locked locked = lock(lock_path(path), 0, held);
  if (locked == Locked::kYes) remove_all(path);
  return locked != Locked::kHeld;
}

void ClaimedFolder::remove_stale_ones(const std::string& place) {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(place, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (JobFolder::is_name_of_hosted(entry->path().filename().string()))
      remove_if_stale(entry->path());
  }
}

// The lock goes last: until then no other process makes anything in there.
ClaimedFolder::~ClaimedFolder() {
  if (!path_.empty()) remove_all(path_);
}

}  // namespace millrace::net
