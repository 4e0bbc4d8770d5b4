// IDX: the format of MNIST and its relatives. Two zero bytes, a type, a number of dimensions, each
// dimension as 32 bits, then the elements; everything is big-endian. The header parser is pure;
// read_idx adds the file. Read next: idx_dataset.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/byte_source.h"

namespace millrace::transfer {

struct IdxLimits {
  // What a file may claim before it is refused: a guard against sizes made up by corruption.
  std::uint64_t max_bytes = std::uint64_t{16} << 30;  // of all elements
  // How many dimensions are expected: a file of labels in the place of images is refused by its
  // magic number, not by a size that makes no sense.
  int min_rank = 0;
  int max_rank = devices::kMaxRank;
  // Reading ends with kCancelled within a MiB of the file.
  std::stop_token stop = {};
};

struct IdxHeader {
  devices::Shape shape = {};
  std::size_t header_bytes = 0;  // where the elements start
};

// The most bytes that a header can have.
inline constexpr std::size_t kMaxIdxHeaderBytes = 4 + 4 * devices::kMaxRank;

// Parses the header at the front of prefix, which holds the start of the content
// (kMaxIdxHeaderBytes of it, or all there is). kDataLoss for what is no IDX header or a truncated
// one, kInvalidArgument for another number of dimensions than expected, kUnimplemented for more
// than kMaxRank, kResourceExhausted beyond limits. Errors name the byte of source that is wrong.
Result<IdxHeader> parse_idx_header(std::span<const std::byte> prefix, const ByteSource& source,
                                   const IdxLimits& limits = {});

// Reads all of source, into the machine's byte order. It must hold exactly what its header says:
// kDataLoss if it is truncated, corrupt or has bytes after the last element. Memory is taken for
// what the header says, and only if source can be that long.
Result<devices::HostArray> read_idx(ByteSource& source, const IdxLimits& limits = {});

// Reads the file at path, plain or gzip (by its content), into memory of its own: what becomes
// of the file later changes nothing here, where a mapping would end the process.
Result<devices::HostArray> read_idx_file(const std::string& path, const IdxLimits& limits = {});

}  // namespace millrace::transfer
