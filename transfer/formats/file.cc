#include "millrace/transfer/formats/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/read_file.h"

namespace millrace::transfer {
namespace {

// One read(2) or write(2) moves at most this much (Linux: 2 GiB - 4 KiB); zlib counts in 32 bits.
constexpr std::size_t kMaxPiece = std::size_t{1} << 30;

std::unexpected<Error> writing_error(const std::string& path, int number) {
  return errno_error("writing " + path, number);
}

// Where a path leads: what is renamed over a link would take its place. Where there is no file yet,
// a link to nowhere is refused.
Result<std::string> without_links(const std::string& path, bool is_there) {
  std::error_code error;
  if (is_there) {
    std::string target = std::filesystem::canonical(path, error).string();
    if (error) return writing_error(path, error.value());
    return target;
  }
  if (std::filesystem::is_symlink(path, error)) {
    return fail(ErrorCode::kNotFound, "writing " + path + ": it is a link to " +
                                          std::filesystem::read_symlink(path, error).string() +
                                          ", which is not there");
  }
  return path;
}

// In its folder, with its name in front.
std::string neighbour_of(const std::string& path, int number) {
  constexpr std::size_t kMostOfItsName = 200;  // names have 255 bytes at most
  const std::size_t name = path.rfind('/') + 1;
  return path.substr(0, name + std::min(path.size() - name, kMostOfItsName)) + "." +
         std::to_string(::getpid()) + "." + std::to_string(number) + ".part";
}

// As far as that is allowed, as by cp: a file that may not be given away stays the writer's. In
// another group, it has no rights that not all had.
void take_owner_and_mode(int fd, const struct stat& old) {
  mode_t mode = old.st_mode & 0777;
  const bool kept = ::fchown(fd, old.st_uid, old.st_gid) == 0 ||
                    ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) == 0;
  if (!kept) {
    const mode_t of_all = mode & (mode >> 3) & 07;
    mode = (mode & 0700) | of_all << 3 | of_all;
  }
  [[maybe_unused]] const int set = ::fchmod(fd, mode);
}

// The folder refuses what the file itself may allow.
bool is_of_the_folder(int number) {
  return number == EACCES || number == EPERM || number == EROFS || number == EBUSY ||
         number == EXDEV;
}

// A standard stream of this process that can be written and is this file; -1: none is.
int stream_of(const struct stat& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO}) {
    struct stat status{};
    if (::fstat(stream, &status) != 0) continue;
    if (status.st_dev != file.st_dev || status.st_ino != file.st_ino) continue;
    const int flags = ::fcntl(stream, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return stream;
  }
  return -1;
}

// What errno says; bytes is what was not written.
int write_all(int fd, std::span<const std::byte>& bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), kMaxPiece));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return 0;
}

// Into a file that is there, which keeps its owner, mode and place. What errno says.
int copy_into(const std::string& source, const std::string& path) {
  const Descriptor from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from) return errno;
  Descriptor to(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!to) return errno;
  int number = ::ftruncate(to.get(), 0) == 0 ? 0 : errno;
  std::array<std::byte, std::size_t{64} << 10> piece;
  for (off_t done = 0; number == 0;) {
    const ssize_t n = ::pread(from.get(), piece.data(), piece.size(), done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) number = errno;
    if (n <= 0) break;
    std::span<const std::byte> rest = std::span(piece).first(static_cast<std::size_t>(n));
    number = write_all(to.get(), rest);
    done += n;
  }
  if (number == 0 && ::fsync(to.get()) != 0) number = errno;
  if (::close(to.detach()) != 0 && number == 0) number = errno;
  return number;
}

}  // namespace

Result<File> File::open(std::string path) {
  Result<Descriptor> opened = open_regular_file(path);
  if (!opened) {
    return std::unexpected(opened.error().with_detail(FilePosition{std::move(path), 0, false}));
  }
  File file(std::move(path), *std::move(opened));
  struct stat status{};
  if (::fstat(file.fd_.get(), &status) != 0) {
    const int number = errno;
    return std::unexpected(
        file_error(errno_code(number), {file.path_, 0, false}, errno_text(number)));
  }
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

Result<std::size_t> File::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t piece = std::min(out.size() - done, kMaxPiece);
    const ssize_t n =
        ::pread(fd_.get(), out.data() + done, piece, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int number = errno;
      return std::unexpected(
          file_error(errno_code(number), {path_, offset + done, false}, errno_text(number)));
    }
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

Result<std::size_t> FileSource::read(std::span<std::byte> out) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::size_t done = 0;
  while (done < out.size()) {
    if (stop_.stop_requested()) {
      return std::unexpected(
          file_error(ErrorCode::kCancelled, position(next_), "stopped on request"));
    }
    const std::span<std::byte> piece = out.subspan(done, std::min(out.size() - done, kPiece));
    MILLRACE_TRY(const std::size_t count, file_.read_at(next_, piece));
    done += count;
    next_ += count;
    if (count < piece.size()) break;  // the end of the file
  }
  return done;
}

Result<MappedFile> MappedFile::map(const File& file) {
  if (file.size() == 0) return MappedFile(std::span<const std::byte>());
  void* address = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.fd_.get(), 0);
  if (address == MAP_FAILED) {
    const int number = errno;
    return std::unexpected(file_error(
        errno_code(number), {file.path(), 0, false},
        "mapping " + std::to_string(file.size()) + " bytes into memory: " + errno_text(number)));
  }
  return MappedFile(std::span(static_cast<const std::byte*>(address), file.size()));
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

NewFile::~NewFile() {
  if (fd_ && is_beside()) ::unlink(written_.c_str());
}

Result<NewFile> NewFile::create(const std::string& path) {
  struct stat there{};
  const bool is_there = ::stat(path.c_str(), &there) == 0;
  if (!is_there && errno != ENOENT) return writing_error(path, errno);
  if (is_there && S_ISDIR(there.st_mode)) return writing_error(path, EISDIR);
  if (const int stream = is_there ? stream_of(there) : -1; stream >= 0) {
    if (stream == STDOUT_FILENO) std::fflush(stdout);  // what was said before comes before
    const int fd = ::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0) return writing_error(path, errno);
    return NewFile(path, path, fd);
  }
  if (is_there && !S_ISREG(there.st_mode)) return create_in_place(path, false);
  // It is replaced, not written to: that needs no right of its own.
  if (is_there && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
    return writing_error(path, errno);
  MILLRACE_TRY(const std::string target, without_links(path, is_there));
  for (int number = 0;; ++number) {
    std::string beside = neighbour_of(target, number);
    // Nothing of a secret file is open to others, also before it has its owner.
    const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                          is_there ? mode_t{0600} : mode_t{0666});
    if (fd < 0 && errno == EEXIST) continue;  // of another call, or left by a killed process
    if (fd < 0 && is_there && is_of_the_folder(errno)) return create_in_place(target, true, errno);
    if (fd < 0) return writing_error(path, errno);
    if (is_there) take_owner_and_mode(fd, there);
    return NewFile(target, std::move(beside), fd, is_there);
  }
}

// The error is why, or if that is 0, what opening it gives.
Result<NewFile> NewFile::create_in_place(const std::string& path, bool replaces, int why) {
  // With O_NONBLOCK, a pipe that nothing reads is an error and not waited for; writes wait.
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd && errno == ENXIO)
    return fail(ErrorCode::kFailedPrecondition, "writing " + path + ": it has no reader");
  if (!fd) return writing_error(path, why != 0 ? why : errno);
  if (const int flags = ::fcntl(fd.get(), F_GETFL);
      flags < 0 || ::fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return writing_error(path, errno);
  }
  return NewFile(path, path, fd.detach(), replaces);
}

Status NewFile::check(const std::string& path) {
  struct stat there{};
  const bool is_there = ::stat(path.c_str(), &there) == 0;
  // Opening a pipe and closing it would be the end for its reader.
  if (is_there && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    if (stream_of(there) >= 0) return {};
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
      return writing_error(path, errno);
    return {};
  }
  MILLRACE_TRY(const NewFile dropped, create(path));
  return {};
}

Status NewFile::empty_old() {
  if (is_beside() || !std::exchange(replaces_, false)) return {};
  if (::ftruncate(fd_.get(), 0) != 0) return writing_error(path_, errno);
  return {};
}

Status NewFile::write(std::span<const std::byte> bytes) {
  MILLRACE_TRY_STATUS(empty_old());
  if (const int number = write_all(fd_.get(), bytes); number != 0)
    return writing_error(path_, number);
  return {};
}

Status NewFile::finish() {
  MILLRACE_TRY_STATUS(empty_old());
  const bool beside = is_beside();
  // Else the name may reach the disk before the content, and a crash leave a part of it.
  int number = beside && ::fsync(fd_.get()) != 0 ? errno : 0;
  if (::close(fd_.detach()) != 0 && number == 0) number = errno;
  bool is_renamed = false;
  if (beside && number == 0) {
    is_renamed = std::rename(written_.c_str(), path_.c_str()) == 0;
    if (!is_renamed) number = errno;
    if (!is_renamed && replaces_ && is_of_the_folder(number)) number = copy_into(written_, path_);
  }
  if (beside && !is_renamed) ::unlink(written_.c_str());
  if (number != 0) return writing_error(path_, number);
  return {};
}

Status write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  MILLRACE_TRY(NewFile file, NewFile::create(path));
  for (const std::span<const std::byte> piece : pieces) MILLRACE_TRY_STATUS(file.write(piece));
  return file.finish();
}

Status write_file(const std::string& path, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return write_file(path, {&bytes, 1});
}

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  uLong sum = before;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kMaxPiece));
    sum =
        ::crc32(sum, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size()));
    bytes = bytes.subspan(piece.size());
  }
  return static_cast<std::uint32_t>(sum);
}

Result<FileWriter> FileWriter::create(std::string path) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd) return FileWriter(std::move(path), std::move(fd));
  if (errno != EEXIST) return errno_error("making " + path, errno);
  return fail(ErrorCode::kAlreadyExists, "making " + path + ": " + errno_text(EEXIST));
}

Status FileWriter::write(std::span<const std::byte> bytes) {
  crc32_ = crc32_of(bytes, crc32_);
  bytes_ += bytes.size();
  const int number = write_all(fd_.get(), bytes);
  bytes_ -= bytes.size();
  return number == 0 ? Status() : failed("writing ", number);
}

Status FileWriter::sync() {
  // Some file systems report a full disk only here.
  return ::fsync(fd_.get()) == 0 ? Status() : failed("bringing to the disk ", errno);
}

Status FileWriter::failed(const char* what, int number) const {
  const std::unexpected<Error> error =
      errno_error(what + path_ + " at byte " + std::to_string(bytes_), number);
  return std::unexpected(error.error().with_detail(FilePosition{path_, bytes_, false}));
}

Status sync_folder(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int number = fd && ::fsync(fd.get()) == 0 ? 0 : errno;
  // File systems without it (some network ones) say EINVAL.
  if (number == 0 || number == EINVAL) return {};
  return errno_error("bringing the names in " + path + " to the disk", number);
}

}  // namespace millrace::transfer
