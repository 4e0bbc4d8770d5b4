#include "millrace/transfer/formats/idx.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>

#include "millrace/transfer/formats/file.h"
#include "millrace/transfer/formats/gzip.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::HostArray;

DType dtype_of_code(unsigned code) {
  constexpr unsigned kFirst = 0x08;
  constexpr DType kTypes[] = {DType::kU8,  DType::kI8,  DType::kInvalid, DType::kI16,
                              DType::kI32, DType::kF32, DType::kF64};
  return code - kFirst < std::size(kTypes) ? kTypes[code - kFirst] : DType::kInvalid;
}

std::string hex(std::uint32_t value, int digits) {
  std::string text = "0x";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[(value >> shift) & 0xf];
  }
  return text;
}

std::uint32_t big_endian_32(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

// The checks of the first four bytes: the magic number.
Result<DType> parse_magic(std::span<const std::byte> prefix, const ByteSource& source) {
  if (prefix.size() < 4) {
    return fail_at(source, prefix.size(), ErrorCode::kDataLoss,
                   prefix.empty() ? "it is empty, where an IDX header is expected"
                                  : "truncated inside the magic number of its IDX header");
  }
  const std::uint32_t magic = big_endian_32(prefix);
  const DType type = dtype_of_code(magic >> 8 & 0xff);
  if (magic >> 16 != 0) {
    return fail_at(source, 0, ErrorCode::kDataLoss,
                   "wrong magic number " + hex(magic, 8) +
                       ": an IDX file starts with two zero bytes (0x00000803 for images)");
  }
  if (type == DType::kInvalid) {
    return fail_at(source, 2, ErrorCode::kDataLoss,
                   "wrong magic number " + hex(magic, 8) + ": " + hex(magic >> 8 & 0xff, 2) +
                       " is no element type of IDX");
  }
  return type;
}

}  // namespace

Result<IdxHeader> parse_idx_header(std::span<const std::byte> prefix, const ByteSource& source,
                                   const IdxLimits& limits) {
  MILLRACE_TRY(const DType type, parse_magic(prefix, source));
  const int rank = std::to_integer<int>(prefix[3]);
  if (rank > devices::kMaxRank) {
    return fail_at(source, 3, ErrorCode::kUnimplemented,
                   "it has " + std::to_string(rank) + " dimensions, more than the " +
                       std::to_string(devices::kMaxRank) + " that an array here may have");
  }
  if (rank < limits.min_rank || rank > limits.max_rank) {
    return fail_at(
        source, 3, ErrorCode::kInvalidArgument,
        "magic number " + hex(big_endian_32(prefix), 8) + " is for " + std::to_string(rank) +
            " dimensions, where " + std::to_string(limits.min_rank) +
            (limits.max_rank > limits.min_rank ? " or more" : "") + " dimensions are expected");
  }
  std::array<std::int64_t, devices::kMaxRank> dims = {};
  std::uint64_t total = devices::byte_width(type);
  for (int i = 0; i < rank; ++i) {
    const std::size_t at = 4 + 4 * static_cast<std::size_t>(i);
    if (prefix.size() < at + 4) {
      return fail_at(
          source, prefix.size(), ErrorCode::kDataLoss,
          "truncated inside its IDX header, which has " + std::to_string(rank) + " dimensions");
    }
    const std::uint64_t dim = big_endian_32(prefix.subspan(at));
    if (dim != 0 && total > limits.max_bytes / dim) {
      return fail_at(source, at, ErrorCode::kResourceExhausted,
                     "dimension " + std::to_string(i) + " is " + std::to_string(dim) +
                         ", which makes the array larger than the limit of " +
                         std::to_string(limits.max_bytes) + " bytes");
    }
    total *= dim;
    dims[i] = static_cast<std::int64_t>(dim);
  }
  return IdxHeader{devices::Shape(type, std::span(dims).first(rank)),
                   4 + 4 * static_cast<std::size_t>(rank)};
}

Result<HostArray> read_idx(ByteSource& source, const IdxLimits& limits) {
  std::array<std::byte, kMaxIdxHeaderBytes> prefix = {};
  MILLRACE_TRY(std::size_t have, source.read(std::span(prefix).first(4)));
  if (have == 4) {
    const std::size_t rest = 4 * std::to_integer<std::size_t>(prefix[3]);
    MILLRACE_TRY(const std::size_t more,
                 source.read(std::span(prefix).subspan(4, std::min(rest, prefix.size() - 4))));
    have += more;
  }
  MILLRACE_TRY(const IdxHeader header,
               parse_idx_header(std::span(prefix).first(have), source, limits));
  MILLRACE_TRY(HostArray array, read_elements(source, header.header_bytes, header.shape));
  const std::size_t width = devices::byte_width(header.shape.dtype());
  if (std::endian::native == std::endian::little && width > 1)
    swap_bytes(array.mutable_bytes(), width);
  return array;
}

Result<HostArray> read_idx_file(const std::string& path, const IdxLimits& limits) {
  MILLRACE_TRY(File file, File::open(path));
  std::array<std::byte, 2> prefix = {};
  MILLRACE_TRY(const std::size_t have, file.read_at(0, prefix));
  std::unique_ptr<ByteSource> source = std::make_unique<FileSource>(std::move(file), limits.stop);
  if (is_gzip(std::span(prefix).first(have))) {
    source = std::make_unique<GzipSource>(std::move(source));
  }
  return read_idx(*source, limits);
}

}  // namespace millrace::transfer
