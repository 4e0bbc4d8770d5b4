// CompilationCache: compiled programs, kept in a folder from one process to the next. What is kept
// is code that runs, so a user who may write into the folder is trusted as the programs are. Read
// next: entry_folder.h (how it is kept).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/base/braced.h"
#include "millrace/devices/cache/entry_folder.h"
#include "millrace/devices/client.h"

namespace millrace::devices {

struct CompilationCacheOptions {
  Braced<std::string> folder = {};
  bool read_only = false;  // nothing is written, not even the time of the last use
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  // of all entries

  // "FOLDER[,read_only][,max=BYTES]", BYTES a whole number with K, M or G behind it if one likes.
  // kInvalidArgument says what it may be.
  static Result<CompilationCacheOptions> parse(std::string_view text);
};

struct CompilationCacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t damaged = 0;  // of the misses: an entry was there, but could not be used
  std::uint64_t stored = 0;
};

// Thread-safety: thread-safe.
class CompilationCache {
 public:
  explicit CompilationCache(CompilationCacheOptions options);

  // client.compile(program, options), or its result from before: of the same bytes of the program,
  // the same options, and a compiler that calls itself the same (Client::compiler_identity).
  // Errors are those of the compilation; what is wrong with the folder is logged, and nothing
  // fails because of it. Blocking.
  // hit, if given: whether nothing was compiled.
  Result<Executable> compile(Client& client, const Program& program, const CompileOptions& options,
                             bool* hit = nullptr);
  CompilationCacheStats stats() const;

  // Names an entry; `identity` is not empty. Pure.
  static Digest key(std::string_view identity, const Program& program,
                    const CompileOptions& options);

 private:
  void store(const Digest& key, const Executable& executable);

  const CompilationCacheOptions options_;
  const EntryFolder entries_;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, damaged_{0}, stored_{0};
};

}  // namespace millrace::devices
