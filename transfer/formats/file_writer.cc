#include "millrace/transfer/formats/file_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

#include "millrace/core/base/errno_code.h"
#include "millrace/transfer/formats/byte_source.h"

namespace millrace::transfer {
namespace {

// One write(2) moves at most this much (Linux stops at 2 GiB - 4 KiB); zlib counts in 32 bits.
constexpr std::size_t kMaxPiece = std::size_t{1} << 30;

std::unexpected<Error> writing_error(const std::string& path, std::uint64_t offset,
                                     const char* what, int number) {
  return std::unexpected(Error(errno_code(number), std::string(what) + path + " at byte " +
                                                       std::to_string(offset) + ": " +
                                                       errno_text(number))
                             .with_detail(FilePosition{path, offset, false}));
}

}  // namespace

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
  if (!fd) {
    const int number = errno;
    return fail(number == EEXIST ? ErrorCode::kAlreadyExists : errno_code(number),
                "making " + path + ": " + errno_text(number));
  }
  return FileWriter(std::move(path), std::move(fd));
}

Status FileWriter::write(std::span<const std::byte> bytes) {
  crc32_ = crc32_of(bytes, crc32_);
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), std::min(bytes.size(), kMaxPiece));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return writing_error(path_, bytes_, "writing ", errno);
    bytes_ += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status FileWriter::sync() {
  // Some file systems tell of a full disk only here.
  if (::fsync(fd_.get()) != 0) return writing_error(path_, bytes_, "bringing to the disk ", errno);
  return {};
}

Status sync_folder(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int number = fd && ::fsync(fd.get()) == 0 ? 0 : errno;
  // File systems without it (some network ones) say EINVAL.
  if (number != 0 && number != EINVAL) {
    return fail(errno_code(number),
                "bringing the names in " + path + " to the disk: " + errno_text(number));
  }
  return {};
}

}  // namespace millrace::transfer
