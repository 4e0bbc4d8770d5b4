#include "millrace/tools/trace/trace_parts.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "millrace/core/base/errno_code.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::trace {
namespace {

namespace fs = std::filesystem;

constexpr char kPacketTag = 1 << 3 | 2;  // number 1, with a length
constexpr std::string_view kRank = ".rank";

std::unexpected<Error> file_error(const std::string& what, int error) {
  return fail(errno_code(error), what + ": " + errno_text(error));
}

// Waits for it: others have it for as long as they join parts.
Status lock_file(const Descriptor& file, const std::string& path) {
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return file_error("locking the trace " + path, errno);
  }
  return {};
}

// "trace.JOB.rank": what the names of a job's parts begin with. A job's name may have any
// character.
std::string prefix(const std::string& file, const std::string& job) {
  std::string name = job;
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain) c = '_';
  }
  return file + "." + name + std::string(kRank);
}

struct Part {
  int rank = 0;
  int pid = 0;
  std::string path = {};
  Descriptor lock = {};
};

// "2.4711"
std::optional<Part> parse_name(std::string_view text) {
  Part part;
  const char* const end = text.end();
  const auto rank = std::from_chars(text.begin(), end, part.rank);
  if (rank.ec != std::errc() || rank.ptr == end || *rank.ptr != '.') return std::nullopt;
  const auto pid = std::from_chars(rank.ptr + 1, end, part.pid);
  if (pid.ec != std::errc() || pid.ptr != end) return std::nullopt;
  return part;
}

// In the order of the ranks, and of a rank in that of the processes.
Result<std::vector<Part>> find_parts(const std::string& file, const std::string& job) {
  const fs::path begin = prefix(file, job);
  const fs::path folder = begin.has_parent_path() ? begin.parent_path() : fs::path(".");
  const std::string name_begin = begin.filename().string();
  std::vector<Part> parts;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(name_begin)) continue;
    std::optional<Part> part = parse_name(std::string_view(name).substr(name_begin.size()));
    if (!part) continue;
    part->path = it->path().string();
    parts.push_back(*std::move(part));
  }
  if (error) return file_error("listing the parts of the trace " + file, error.value());
  std::ranges::sort(parts, {}, [](const Part& p) { return std::pair(p.rank, p.pid); });
  return parts;
}

// False: another process is writing one.
Result<bool> lock_all(std::vector<Part>& parts) {
  for (Part& part : parts) {
    part.lock = Descriptor(::open(part.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!part.lock) return file_error("opening the part of a trace " + part.path, errno);
    if (::flock(part.lock.get(), LOCK_EX | LOCK_NB) == 0) continue;
    if (errno == EWOULDBLOCK) return false;
    return file_error("locking the part of a trace " + part.path, errno);
  }
  return true;
}

Status write_all(int to, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("writing the trace " + path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Status append(int to, const Part& part, const std::string& path) {
  MILLRACE_TRY(const transfer::File file, transfer::File::open(part.path));
  if (file.size() == 0) return {};
  MILLRACE_TRY(const transfer::MappedFile mapped, transfer::MappedFile::map(file));
  const auto bytes = mapped.bytes();
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return write_all(to, all.substr(0, whole_packets(all)), path);
}

}  // namespace

std::size_t whole_packets(std::string_view bytes) {
  std::size_t whole = 0;
  while (whole < bytes.size() && bytes[whole] == kPacketTag) {
    std::size_t at = whole + 1;
    std::uint64_t length = 0;
    int shift = 0;
    for (; at < bytes.size() && shift < 35; ++at, shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at]);
      length |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80) == 0) break;
    }
    if (at >= bytes.size() || shift >= 35 || length > bytes.size() - at - 1) break;
    whole = at + 1 + static_cast<std::size_t>(length);
  }
  return whole;
}

std::string part_path(const std::string& file, const TracePart& part) {
  return prefix(file, part.job) + std::to_string(part.rank) + "." + std::to_string(::getpid());
}

bool may_have_parts(const std::string& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

Result<Descriptor> open_part(const std::string& path) {
  for (;;) {
    Descriptor part(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!part) return file_error("cannot write the trace to " + path, errno);
    if (const Status locked = lock_file(part, path); !locked)
      return std::unexpected(locked.error());
    struct stat status{};
    if (::fstat(part.get(), &status) != 0) return file_error("looking at " + path, errno);
    // Else another rank has found it before it was locked, and has removed it with the others.
    if (status.st_nlink > 0) return part;
  }
}

Status join_parts(const std::string& file, const std::string& job, const Descriptor& file_lock) {
  MILLRACE_TRY_STATUS(lock_file(file_lock, file));
  // The descriptor may live longer, and others wait for the lock.
  struct Unlock {
    ~Unlock() { ::flock(file, LOCK_UN); }
    int file;
  } const unlock{file_lock.get()};
  MILLRACE_TRY(std::vector<Part> parts, find_parts(file, job));
  MILLRACE_TRY(const bool all_ended, lock_all(parts));
  if (!all_ended || parts.empty()) return {};
  if (::ftruncate(file_lock.get(), 0) != 0 || ::lseek(file_lock.get(), 0, SEEK_SET) != 0)
    return file_error("emptying the trace " + file, errno);
  for (const Part& part : parts) MILLRACE_TRY_STATUS(append(file_lock.get(), part, file));
  for (const Part& part : parts) ::unlink(part.path.c_str());
  return {};
}

}  // namespace millrace::trace
