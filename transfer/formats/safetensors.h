// Safetensors: a file of named arrays. Eight bytes (the length of the header, little-endian), a
// JSON header, then the bytes of the arrays without holes. Parser and layout are pure;
// SafetensorsFile and write_safetensors_file add the file. Format: the README of
// github.com/huggingface/safetensors, "Format". FileWriter (file.h) writes large ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/byte_source.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::transfer {

// Free text beside the arrays ("__metadata__").
using SafetensorsMetadata = std::map<std::string, std::string>;

struct SafetensorsArray {
  std::string name = {};
  devices::Shape shape = {};
  std::uint64_t offset = 0;  // of its first byte in the file
};

struct SafetensorsHeader {
  std::vector<SafetensorsArray> arrays = {};  // in the order of their bytes
  SafetensorsMetadata metadata = {};
  std::uint64_t data_offset = 0;  // of the first byte behind the header
};

struct SafetensorsLimits {
  std::uint64_t header_bytes = 100'000'000;  // as the package's own
};

// Reads the header of a whole file and checks every array against its bytes: each byte behind the
// header belongs to exactly one array. kDataLoss for what is no such file or a damaged one,
// kResourceExhausted for a header beyond the limit, kUnimplemented for an element type or a number
// of dimensions that Millrace has not. Errors have a FilePosition; name stands for the file.
Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file,
                                            const std::string& name,
                                            const SafetensorsLimits& limits = {});

// What is to be written. bytes: row-major, little-endian, bytes.size() == shape.size_bytes().
struct NamedArray {
  std::string name = {};
  devices::Shape shape = {};
  std::span<const std::byte> bytes = {};
};

// The front of a file, and the order in which the bytes of the arrays follow it: wide elements
// first, so that each array is aligned to its elements in a mapped file.
struct SafetensorsLayout {
  std::string front = {};
  std::vector<std::size_t> order = {};
  std::uint64_t file_bytes = 0;
};
// kInvalidArgument for a name that is there twice, reserved or no UTF-8; kUnimplemented for an
// element type that the format has not; kResourceExhausted for a header beyond the limit.
Result<SafetensorsLayout> lay_out_safetensors(std::span<const NamedArray> arrays,
                                              const SafetensorsMetadata& metadata = {},
                                              const SafetensorsLimits& limits = {});

// The file appears whole or not at all. Blocking.
Status write_safetensors_file(const std::string& path, std::span<const NamedArray> arrays,
                              const SafetensorsMetadata& metadata = {});

// A file, mapped (MappedFile). Blocking where it is touched first. Value type, shares the mapping.
// Thread-safety: immutable.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::string& path,
                                      const SafetensorsLimits& limits = {});

  const std::string& path() const { return parts_->path; }
  const SafetensorsHeader& header() const { return parts_->header; }
  // The whole file.
  std::span<const std::byte> bytes() const { return parts_->mapped.bytes(); }
  // The array, in the mapping; a copy where it is not aligned to its elements there, which the
  // format does not ask for. kNotFound if the file has none of that name.
  Result<devices::HostArray> array(std::string_view name) const;

 private:
  struct Parts {
    MappedFile mapped;
    SafetensorsHeader header;
    std::string path;
  };
  explicit SafetensorsFile(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace millrace::transfer
