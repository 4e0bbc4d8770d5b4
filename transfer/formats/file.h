// File and MappedFile: reading regular files with errors that name the path and the offset.
// Blocking: called on an executor that may block. Read next: byte_source.h, the interface that
// parsers see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "millrace/core/error.h"
#include "millrace/transfer/formats/byte_source.h"

namespace millrace::transfer {

// An open regular file. Its size is that at opening. Thread-safety: thread-safe (reads carry their
// offset).
class File {
 public:
  // kNotFound, kPermissionDenied, kInvalidArgument (a folder or a pipe), kDataLoss (an I/O error of
  // the disk) or kUnavailable.
  static Result<File> open(std::string path);
  File(File&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}
  File& operator=(File&& other) noexcept;
  ~File();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // Bytes from offset on; fewer than out.size() only at the end of the file.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  friend class MappedFile;
  File(std::string path, int fd, std::uint64_t size)
      : path_(std::move(path)), fd_(fd), size_(size) {}

  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

// A File as a stream.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(File file) : file_(std::move(file)) {}

  Result<std::size_t> read(std::span<std::byte> out) override;
  FilePosition position(std::uint64_t offset) const override {
    return {file_.path(), offset, false};
  }
  std::optional<std::uint64_t> size_limit() const override { return file_.size(); }

 private:
  File file_;
  std::uint64_t next_ = 0;
};

// The bytes of a whole file, paged in as they are touched. Whoever shortens the file on disk
// meanwhile kills the process (SIGBUS), as with every mapping: data sets are replaced by rename,
// not rewritten in place. Thread-safety: immutable.
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

// Writes a file so that its path shows the old content or all of the new, never a part, also after
// a crash of the machine: into a neighbour that is renamed over it when it has reached the disk.
Status write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces);

}  // namespace millrace::transfer
