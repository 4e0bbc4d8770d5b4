// File and MappedFile: reading regular files with errors that name the path and the offset.
// Blocking: called on an executor that may block. Read next: byte_source.h, the interface that
// parsers see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"
#include "millrace/transfer/formats/byte_source.h"

namespace millrace::transfer {

// An open regular file. Its size is that at opening. Thread-safety: thread-safe (reads carry their
// offset).
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
// standard stream of this process (/dev/stdout), which goes on where the stream is. A folder is
// kInvalidArgument. Thread-safety: confined.
class NewFile {
 public:
  // What errno says: kNotFound, kPermissionDenied (for the old file, too), ... Opening a pipe waits
  // for its reader.
  static Result<NewFile> create(const std::string& path);
  // What create() would give, as far as it can be known by now. Nothing of it stays, also when the
  // process is killed later.
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
  static Result<NewFile> create_in_place(const std::string& path, int why);
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

}  // namespace millrace::transfer
