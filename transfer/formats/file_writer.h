// FileWriter: a new file, written from front to back with a checksum, that is on the disk when
// sync() says so. For content that is larger than one call should write; write_file (file.h) is for
// the rest. Blocking: called on an executor that may block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"

namespace millrace::transfer {

// The CRC-32 of zlib, gzip and PNG (polynomial 0xEDB88320), of bytes that follow those of `before`.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

// Errors carry a FilePosition, except those of create. Thread-safety: confined.
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

  std::string path_;
  Descriptor fd_;
  std::uint64_t bytes_ = 0;
  std::uint32_t crc32_ = 0;
};

// The names in a folder (files made, renamed, removed) have reached the disk when it returns.
Status sync_folder(const std::string& path);

}  // namespace millrace::transfer
