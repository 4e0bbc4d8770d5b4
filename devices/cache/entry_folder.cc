#include "millrace/devices/cache/entry_folder.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <tuple>
#include <vector>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/fault_point.h"
#include "millrace/core/base/read_file.h"

namespace millrace::devices {
namespace {

namespace fs = std::filesystem;
using FileTime = fs::file_time_type;

constexpr std::string_view kEntry = ".entry";
constexpr std::string_view kPart = ".part";  // being written
// No process writes one entry for so long: the one that began it is gone.
constexpr std::chrono::hours kPartLifetime{1};
constexpr std::size_t kPieceBytes = std::size_t{1} << 30;  // of one read or write: Linux does less

std::unexpected<Error> disk_error(const std::string& what, int number) {
  return fail(errno_code(number), what + ": " + errno_text(number));
}

// How many bytes were read: fewer at the end of the file. Below 0: errno says why.
ssize_t read_up_to(const Descriptor& file, std::span<char> bytes) {
  std::size_t got = 0;
  while (got < bytes.size()) {
    const std::size_t piece = std::min(bytes.size() - got, kPieceBytes);
    const ssize_t n = ::read(file.get(), bytes.data() + got, piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return n;
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return static_cast<ssize_t>(got);
}

// False: errno says why.
bool write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.get(), bytes.data(), std::min(bytes.size(), kPieceBytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

using Header = std::array<char, EntryFolder::kHeaderBytes>;

Header make_header(const Digest& key, std::string_view payload) {
  Header header{};
  char* next = std::ranges::copy(EntryFolder::kMagic, header.data()).out;
  for (int shift = 0; shift < 64; shift += 8)
    *next++ = static_cast<char>(std::uint64_t{payload.size()} >> shift);
  next = std::ranges::copy(key, next).out;
  std::ranges::copy(sha256(payload), next);
  return header;
}

// The size of the payload, as the header says it.
std::uint64_t stated_size(const Header& header) {
  std::uint64_t size = 0;
  for (std::size_t i = 8; i-- > 0;)
    size = size << 8 | static_cast<unsigned char>(header[EntryFolder::kMagic.size() + i]);
  return size;
}

// 128 random bits: a folder may be shared by processes of one number, in containers or on hosts.
Result<std::string> unique_text() {
  std::array<std::uint8_t, 16> bits{};
  if (::getentropy(bits.data(), bits.size()) != 0)
    return disk_error("making a name that no other process uses", errno);
  return to_hex(bits);
}

// "<64 letters>.entry": others may have files of their own beside ours.
constexpr std::size_t kEntryName = 2 * std::tuple_size_v<Digest> + kEntry.size();
bool is_entry(std::string_view name) {
  return name.size() == kEntryName && name.ends_with(kEntry) &&
         name.find_first_not_of("0123456789abcdef") == kEntryName - kEntry.size();
}

struct Found {
  FileTime used;
  std::uint64_t bytes = 0;
  fs::path path;
};

}  // namespace

std::string EntryFolder::path(const Digest& key) const {
  return folder_ + "/" + to_hex(key) + std::string(kEntry);
}

Result<std::optional<std::string>> EntryFolder::get(const Digest& key) const {
  const std::string name = path(key);
  const auto damaged = [&name](const char* how) {
    return fail(ErrorCode::kDataLoss, "the cache's entry " + name + " is damaged: " + how);
  };
  const Result<Descriptor> file = open_regular_file(name);
  if (!file) {
    if (file.error().code() == ErrorCode::kNotFound) return std::nullopt;
    if (file.error().code() == ErrorCode::kInvalidArgument) return damaged("it is no file");
    return std::unexpected(file.error());
  }
  struct stat facts{};
  if (::fstat(file->get(), &facts) != 0) return disk_error("reading " + name, errno);
  const auto bytes = static_cast<std::uint64_t>(facts.st_size);
  Header header{};
  if (bytes < header.size()) return damaged("it is shorter than its header");
  ssize_t got = read_up_to(*file, header);
  if (got < 0) return disk_error("reading " + name, errno);
  // It is from a cache that was allowed more, or no entry at all: a file of holes may seem to have
  // any size.
  if (bytes > max_bytes_) return std::nullopt;
  if (got != std::ssize(header) || bytes - header.size() != stated_size(header))
    return damaged("it has not the length that its header states");
  std::string payload(static_cast<std::size_t>(bytes) - header.size(), '\0');
  got = read_up_to(*file, payload);
  if (got < 0) return disk_error("reading " + name, errno);
  // The header says how long the payload is, what it is and whose it is.
  if (got != std::ssize(payload) || header != make_header(key, payload))
    return damaged("its checksum or its length is another");
  return payload;
}

void EntryFolder::touch(const Digest& key) const {
  // Time of the last use; the time of the last read is kept by few file systems.
  static_cast<void>(::utimensat(AT_FDCWD, path(key).c_str(), nullptr, 0));
}

Status EntryFolder::write(const std::string& path, const Digest& key,
                          std::string_view payload) const {
  const Header header = make_header(key, payload);
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return disk_error("making " + path, errno);
  if (write_all(file, {header.data(), header.size()}) && write_all(file, payload) &&
      ::fsync(file.get()) == 0)
    return {};
  const Status failed = disk_error("writing " + path, errno);
  ::unlink(path.c_str());  // ours: it was made above
  return failed;
}

Status EntryFolder::put(const Digest& key, std::string_view payload) const {
  if (payload.size() + kHeaderBytes > max_bytes_) {
    evict({});
    return fail(ErrorCode::kResourceExhausted,
                "an entry of " + std::to_string(payload.size()) + " bytes does not fit into the " +
                    std::to_string(max_bytes_) + " of the cache " + folder_);
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return disk_error("making the folder of the cache " + folder_, error.value());
  MILLRACE_TRY(const std::string unique, unique_text());
  const std::string whole = path(key);
  const std::string part = whole + "." + unique + std::string(kPart);
  MILLRACE_TRY_STATUS(write(part, key, payload));
  Status written = fault_point("cache.rename");
  if (written && std::rename(part.c_str(), whole.c_str()) != 0)
    written = disk_error("renaming " + part, errno);
  if (!written) {
    ::unlink(part.c_str());
    return written;
  }
  const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) static_cast<void>(::fsync(folder.get()));  // a name that is lost is a miss later
  evict(whole);
  return {};
}

// Others do the same at the same time: what is gone already is no error. What they are writing
// stays, and counts once it is whole: what a writer that was killed has left must not cost entries.
void EntryFolder::evict(const std::string& kept) const {
  std::vector<Found> entries;
  std::uint64_t total = 0;
  std::error_code error;
  const FileTime now = FileTime::clock::now();
  for (fs::directory_iterator i(folder_, error), end; !error && i != end; i.increment(error)) {
    std::error_code gone;
    const Found found{i->last_write_time(gone), i->file_size(gone), i->path()};
    const std::string name = found.path.filename().string();
    const bool whole = is_entry(name);
    const bool part = name.ends_with(kPart) && is_entry(name.substr(0, kEntryName));
    if (gone || !(whole || part)) continue;
    if (part && now - found.used > kPartLifetime && fs::remove(found.path, gone)) continue;
    if (!whole) continue;
    total += found.bytes;
    if (found.path != kept) entries.push_back(found);
  }
  std::ranges::sort(entries, {}, &Found::used);
  for (const Found& entry : entries) {
    if (total <= max_bytes_) break;
    std::error_code refused;
    fs::remove(entry.path, refused);
    if (!refused) total -= entry.bytes;
  }
}

}  // namespace millrace::devices
