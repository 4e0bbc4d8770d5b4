// Files: File and MappedFile read regular ones, NewFile and FileWriter write; errors name the path
// and the offset. Blocking: called on an executor that may block. Parsers see a byte_source.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"
#include "millrace/transfer/formats/byte_source.h"

namespace millrace::transfer {

// An open regular file. Its size is that at opening. Thread-safety: thread-safe.
class File {
 public:
  // The errors of core/base/read_file.h, with a FilePosition.
  static Result<File> open(std::string path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // Bytes from offset on; fewer than out.size() only at the end of the file.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  friend class MappedFile;
  File(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Descriptor fd_;
  std::uint64_t size_ = 0;
};

// A File as a stream, which fails with kCancelled within a MiB once stop is requested.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(File file, std::stop_token stop = {})
      : file_(std::move(file)), stop_(std::move(stop)) {}

  Result<std::size_t> read(std::span<std::byte> out) override;
  FilePosition position(std::uint64_t offset) const override {
    return {file_.path(), offset, false};
  }
  std::optional<std::uint64_t> size_limit() const override { return file_.size(); }

 private:
  File file_;
  std::stop_token stop_;
  std::uint64_t next_ = 0;
};

// The bytes of a whole file, paged in as they are touched. A file that is shortened meanwhile ends
// the process (SIGBUS): replace data sets by rename. Thread-safety: immutable.
class MappedFile {
 public:
  static Result<MappedFile> map(const File& file);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// A file in the making, which its path shows whole or not at all, also after a crash of the
// machine: it is written beside a regular file, or where there is none, and renamed to its name
// when it has reached the disk. A link stays, and what it leads to is replaced. The new file has
// the owner and the mode of the old one, or what the umask leaves of 0666; where it may not be
// given to the old group, its group and all others may do what both might do with the old one. Some
// files are written as the bytes come, as by cp: a device, a pipe, an old file that cannot be
// replaced (its folder may not be written, or it is a mount of its own), and the file behind a
// standard stream of this process (/dev/stdout), which continues where the stream is. A folder is
// kInvalidArgument. Thread-safety: confined.
class NewFile {
 public:
  // What errno says: kNotFound, kPermissionDenied (for the old file, too), ...
  // kFailedPrecondition of a pipe that nothing reads.
  static Result<NewFile> create(const std::string& path);
  // What create() would give, as far as it can be known. Nothing of it stays, also after a kill.
  static Status check(const std::string& path);
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&& other) = delete;
  ~NewFile();  // not finished: nothing of it stays, and what was there does

  // kResourceExhausted: the disk is full.
  Status write(std::span<const std::byte> bytes);
  // Once, after the last write.
  Status finish();

 private:
  NewFile(std::string path, std::string written, int fd, bool replaces = false)
      : path_(std::move(path)), written_(std::move(written)), fd_(fd), replaces_(replaces) {}
  static Result<NewFile> create_in_place(const std::string& path, bool replaces, int why = 0);
  bool is_beside() const { return written_ != path_; }
  // What the file that is written in place held is gone when the first bytes come.
  Status empty_old();

  std::string path_;     // without links
  std::string written_;  // the neighbour, or the same
  Descriptor fd_;
  bool replaces_;  // there is an old file: beside it, or, not emptied yet, in its place
};

// A NewFile of these bytes.
Status write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces);
Status write_file(const std::string& path, std::string_view text);

// The CRC-32 of zlib, gzip and PNG (polynomial 0xEDB88320), of bytes that follow those of `before`.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

// A new file, written from front to back with a checksum, that is on the disk when sync() says so:
// for content that is larger than one call should write. Errors carry a FilePosition, except those
// of create. Thread-safety: confined.
class FileWriter {
 public:
  // kAlreadyExists if there is one of that name, and what errno says: kNotFound, kPermissionDenied,
  // kResourceExhausted (the disk is full), kDataLoss (an I/O error of the disk), kUnavailable.
  static Result<FileWriter> create(std::string path);

  Status write(std::span<const std::byte> bytes);
  // Completes when content and size have reached the disk.
  Status sync();

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t crc32() const { return crc32_; }

 private:
  FileWriter(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status failed(const char* what, int number) const;

  std::string path_;
  Descriptor fd_;
  std::uint64_t bytes_ = 0;
  std::uint32_t crc32_ = 0;
};

// The names in a folder (files made, renamed, removed) have reached the disk when it returns.
Status sync_folder(const std::string& path);

}  // namespace millrace::transfer
