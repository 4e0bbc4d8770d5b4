// FileCalls: what the code under test asks of the disk, in the order in which it asks, and calls
// that fail as those of a bad disk do. A binary that names it has fsync, rename and pread of its
// own, which pass everything on to the system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::testing {

struct FileCall {
  std::string what;         // "sync" (fsync), "rename", "read" (pread)
  std::string path;         // links resolved, but for rename, where it is as it was given
  std::string to;           // of a rename
  std::uint64_t bytes = 0;  // of a file that was synced, at that moment
};

// Records while it lives; one at a time. Thread-safety: thread-safe.
class FileCalls {
 public:
  FileCalls();
  ~FileCalls();
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;

  // From now on such calls on paths with this ending fail with this errno; reads: those of the byte
  // `at`.
  void fail(const std::string& what, const std::string& ending, int number, std::uint64_t at = 0);
  // All syncs and renames since it was made, failed ones included.
  std::vector<FileCall> all() const;
  // The same as text: "sync a", "rename a to b".
  std::vector<std::string> texts() const;
};

}  // namespace millrace::testing
