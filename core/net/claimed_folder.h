// ClaimedFolder: a folder of a known name that one living process at a time has, by a lock on a
// file in it: where the ranks of a job find its host by themselves. Read next:
// rank_host.h.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"

namespace millrace::net {

// The lock goes with the process that has it, however it ends. The destructor removes the folder,
// with all that lies in it. Thread-safety: external.
class ClaimedFolder {
 public:
  // Makes the folder (0700), or takes over what an earlier process has left, and removes what lies
  // in there. nullopt: a living process has it. kPermissionDenied: the name is another user's, or
  // others may enter; the errors of the file system.
  static Result<std::optional<ClaimedFolder>> claim(const std::string& path);
  // Removes the folder unless a living process has it: false. The lock of one that is killed may be
  // there a little longer than its connections.
  static bool remove_if_stale(const std::string& path);
  // So of all that are in a folder: what jobs have left whose processes were all killed.
  static void remove_stale_ones(const std::string& place);

  ClaimedFolder(ClaimedFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  ClaimedFolder& operator=(ClaimedFolder&&) = delete;
  ~ClaimedFolder();

 private:
  ClaimedFolder(std::string path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  Descriptor lock_;
};

}  // namespace millrace::net
