// EntryFolder: a folder of named bytes that any number of processes read and write at once. An
// entry is whole or not there: it is written beside, synced and renamed into its place, and a
// checksum finds what a disk or a stranger has changed. There are no locks, so none can be left
// behind. Read next: compilation_cache.h, which keeps compiled programs in one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/cache/sha256.h"

namespace millrace::devices {

// Thread-safety: thread-safe; every call blocks on the disk.
class EntryFolder {
 public:
  // A file: kMagic, the number of bytes of the payload (little-endian, 8), the entry's key (32),
  // the payload's SHA-256 (32), the payload.
  static constexpr std::string_view kMagic = "MLRCACH1";
  static constexpr std::size_t kHeaderBytes = 80;

  // The folder is made at the first put. max_bytes: of all files together.
  EntryFolder(std::string folder, std::uint64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  const std::string& folder() const { return folder_; }
  // "<folder>/<64 letters>.entry".
  std::string path(const Digest& key) const;
  // Nothing if there is none that max_bytes allows; kDataLoss, which names the file, for one that
  // is truncated or damaged; other errors of the disk.
  Result<std::optional<std::string>> get(const Digest& key) const;
  // Marks an entry as used now: those used longest ago go first. A failure is not reported.
  void touch(const Digest& key) const;
  // Replaces what is there. Then removes entries, those used longest ago first, until what is left
  // fits, and what processes that were killed have left. kResourceExhausted, with nothing written,
  // for an entry that is larger than max_bytes; others are removed then, too.
  Status put(const Digest& key, std::string_view payload) const;

 private:
  // Makes the file, or leaves nothing.
  Status write(const std::string& path, const Digest& key, std::string_view payload) const;
  void evict(const std::string& kept) const;

  const std::string folder_;
  const std::uint64_t max_bytes_;
};

}  // namespace millrace::devices
