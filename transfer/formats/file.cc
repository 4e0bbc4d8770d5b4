#include "millrace/transfer/formats/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "millrace/transfer/formats/errno_code.h"

namespace millrace::transfer {
namespace {

// One read(2) or write(2) moves at most this much (Linux stops at 2 GiB - 4 KiB).
constexpr std::size_t kMaxPiece = std::size_t{1} << 30;

Error open_error(const std::string& path, int number) {
  return Error(errno_code(number), "opening " + path + ": " + errno_text(number))
      .with_detail(FilePosition{path, 0, false});
}

// Writes all pieces to fd; 0 or errno.
int write_all(int fd, std::span<const std::span<const std::byte>> pieces) {
  for (std::span<const std::byte> rest : pieces) {
    while (!rest.empty()) {
      const ssize_t n = ::write(fd, rest.data(), std::min(rest.size(), kMaxPiece));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      rest = rest.subspan(static_cast<std::size_t>(n));
    }
  }
  return 0;
}

}  // namespace

std::string errno_text(int number) { return std::generic_category().message(number); }

ErrorCode errno_code(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:  // the limit of a file system or of the process
      return ErrorCode::kResourceExhausted;
    case EIO:  // asking again would give it again
      return ErrorCode::kDataLoss;
    default:
      return ErrorCode::kUnavailable;
  }
}

Result<File> File::open(std::string path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::unexpected(open_error(path, errno));
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    const int number = errno;
    ::close(fd);
    return std::unexpected(open_error(path, number));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(fd);
    return fail(ErrorCode::kInvalidArgument,
                "opening " + path + ": it is " +
                    (S_ISDIR(status.st_mode) ? "a folder" : "no regular file") +
                    ", where a file of data is expected");
  }
  return File(std::move(path), fd, static_cast<std::uint64_t>(status.st_size));
}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::size_t> File::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t piece = std::min(out.size() - done, kMaxPiece);
    const ssize_t n = ::pread(fd_, out.data() + done, piece, static_cast<off_t>(offset + done));
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
  MILLRACE_TRY(const std::size_t count, file_.read_at(next_, out));
  next_ += count;
  return count;
}

Result<MappedFile> MappedFile::map(const File& file) {
  if (file.size() == 0) return MappedFile(std::span<const std::byte>());
  void* address = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.fd_, 0);
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

Status write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  std::string neighbour = path + ".XXXXXX";
  const int fd = ::mkostemp(neighbour.data(), O_CLOEXEC);
  int number = fd < 0 ? errno : 0;
  if (fd >= 0) {
    number = write_all(fd, pieces);
    if (number == 0 && ::fchmod(fd, 0644) != 0) number = errno;
    // Else the name may reach the disk before the content, and a crash leave a part of it.
    if (number == 0 && ::fsync(fd) != 0) number = errno;
    if (::close(fd) != 0 && number == 0) number = errno;
    if (number == 0 && std::rename(neighbour.c_str(), path.c_str()) != 0) number = errno;
    if (number != 0) ::unlink(neighbour.c_str());
  }
  if (number != 0) {
    return fail(errno_code(number), "writing " + path + ": " + errno_text(number));
  }
  return {};
}

}  // namespace millrace::transfer
