#include "millrace/devices/cache/compilation_cache.h"

#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "millrace/core/observe/log.h"

namespace millrace::devices {
namespace {

std::optional<std::uint64_t> read_bytes(std::string_view text) {
  std::uint64_t value = 0;
  const std::span<const char> letters(text);
  const char* const end = letters.data() + letters.size();
  const auto [stopped, error] = std::from_chars(letters.data(), end, value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(stopped - letters.data()));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (shift < 0 || value == 0 || value > (UINT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

// Fields with their lengths, so that no two lists of fields look the same.
void add_field(Sha256& hash, std::string_view field) {
  hash.add(std::to_string(field.size()) + ":");
  hash.add(field);
}

}  // namespace

Result<CompilationCacheOptions> CompilationCacheOptions::parse(std::string_view text) {
  CompilationCacheOptions options;
  const auto refuse = [text](const std::string& why) {
    return fail(
        ErrorCode::kInvalidArgument,
        "a compilation cache is FOLDER[,read_only][,max=BYTES] (BYTES as 500M or 4G), not '" +
            std::string(text) + "': " + why);
  };
  std::size_t comma = text.find(',');
  options.folder = text.substr(0, comma);
  if (options.folder.empty()) return refuse("it names no folder");
  while (comma != std::string_view::npos) {
    const std::size_t begin = comma + 1;
    comma = text.find(',', begin);
    const std::string_view word = text.substr(begin, comma - begin);
    if (word == "read_only") {
      options.read_only = true;
    } else if (const auto bytes =
                   word.starts_with("max=") ? read_bytes(word.substr(4)) : std::nullopt) {
      options.max_bytes = *bytes;
    } else {
      return refuse("'" + std::string(word) + "' is none of them");
    }
  }
  return options;
}

CompilationCache::CompilationCache(CompilationCacheOptions options)
    : options_(std::move(options)), entries_(options_.folder, options_.max_bytes) {}

Digest CompilationCache::key(std::string_view identity, const Program& program,
                             const CompileOptions& options) {
  Sha256 hash;
  add_field(hash, EntryFolder::kMagic);
  add_field(hash, identity);
  std::string words = std::to_string(options.replicas) + " " + std::to_string(options.partitions) +
                      (options.processes > 1 ? " of " + std::to_string(options.processes) : "") +
                      (options.portable ? " portable" : " bound") +
                      (options.deterministic ? " deterministic" : "");
  if (!options.on_any_one()) {
    for (const DeviceId device : options.devices) words += " " + std::to_string(index(device));
  }
  add_field(hash, words);
  add_field(hash, options.plugin_options);
  add_field(hash, program.code());
  return hash.finish();
}

Result<Executable> CompilationCache::compile(Client& client, const Program& program,
                                             const CompileOptions& options, bool* hit) {
  const std::string identity = client.compiler_identity();
  if (identity.empty()) return client.compile(program, options);
  const Digest name = key(identity, program, options);
  Result<std::optional<std::string>> kept = entries_.get(name);
  if (kept && *kept) {
    Result<Executable> loaded = client.load_compiled(**kept, program, options);
    if (loaded) {
      hits_.fetch_add(1);
      if (hit != nullptr) *hit = true;
      if (!options_.read_only) entries_.touch(name);
      return loaded;
    }
    kept = std::unexpected(loaded.error());
  }
  misses_.fetch_add(1);
  if (!kept) {
    damaged_.fetch_add(1);
    MILLRACE_LOG(kWarning, "cache",
                 "compiling " + program.name() + " again: " + kept.error().message());
  }
  Result<Executable> compiled = client.compile(program, options);
  if (compiled && !options_.read_only) store(name, *compiled);
  return compiled;
}

void CompilationCache::store(const Digest& key, const Executable& executable) {
  Result<std::string> bytes = executable.body()->serialize();
  Status stored = bytes ? entries_.put(key, *bytes) : Status(std::unexpected(bytes.error()));
  if (stored) {
    stored_.fetch_add(1);
  } else if (stored.error().code() == ErrorCode::kUnimplemented) {
    MILLRACE_LOG(kInfo, "cache",
                 "'" + executable.name() + "' is not kept: " + stored.error().message());
  } else {
    MILLRACE_LOG(kWarning, "cache",
                 "'" + executable.name() + "' is not kept: " + stored.error().message());
  }
}

CompilationCacheStats CompilationCache::stats() const {
  return {.hits = hits_.load(),
          .misses = misses_.load(),
          .damaged = damaged_.load(),
          .stored = stored_.load()};
}

}  // namespace millrace::devices
