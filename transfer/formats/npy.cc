#include "millrace/transfer/formats/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "millrace/core/check.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::transfer {
namespace {

// NumPy's own limit for headers that nobody vouches for is 10,000 characters.
constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 10;

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  for (std::byte* p = bytes.data(); p != bytes.data() + bytes.size(); p += width) {
    std::reverse(p, p + width);
  }
}

// The bytes that must be swapped together: halves of a complex number are numbers of their own.
std::size_t swap_width(devices::DType type) {
  return devices::byte_width(type) / (devices::is_complex(type) ? 2 : 1);
}

// Copies elements that lie with the first dimension fastest into row-major order.
void from_fortran_order(const devices::Shape& shape, const std::byte* in, std::byte* out) {
  const std::size_t width = devices::byte_width(shape.dtype());
  const auto rank = static_cast<std::size_t>(shape.rank());
  std::array<std::size_t, devices::kMaxRank> stride = {}, index = {};
  std::size_t step = width;
  for (std::size_t d = 0; d < rank; ++d) {
    stride[d] = step;
    step *= static_cast<std::size_t>(shape.dim(static_cast<int>(d)));
  }
  for (std::int64_t n = shape.elements(); n > 0; --n, out += width) {
    std::size_t from = 0;
    for (std::size_t d = 0; d < rank; ++d) from += index[d] * stride[d];
    std::memcpy(out, in + from, width);
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < static_cast<std::size_t>(shape.dim(static_cast<int>(d)))) break;
      index[d] = 0;
    }
  }
}

// The number of 2 or 4 bits in the low bits of a byte, as a byte.
std::byte narrowed(std::byte value, devices::DType type) {
  const unsigned unused = 8 - static_cast<unsigned>(devices::bit_width(type));
  const auto high = static_cast<std::uint8_t>(std::to_integer<unsigned>(value) << unused);
  return devices::is_signed_integer(type)
             ? static_cast<std::byte>(static_cast<std::int8_t>(high) >> unused)
             : static_cast<std::byte>(high >> unused);
}

// Brings integers of 2 and 4 bits to bytes of their value: raw ones have it in their low bits,
// bytes must have it. The index of the first that is too large, or the number of them.
std::size_t narrow(std::span<std::byte> bytes, devices::DType type, bool raw) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::byte value = narrowed(bytes[i], type);
    if (!raw && value != bytes[i]) return i;
    bytes[i] = value;
  }
  return bytes.size();
}

// The whole header of source and no byte more.
Result<std::vector<std::byte>> read_header(ByteSource& source) {
  std::vector<std::byte> header(10);
  MILLRACE_TRY(std::size_t have, source.read(header));
  header.resize(have);
  if (have < 10) return header;
  const bool wide = std::to_integer<int>(header[6]) >= 2;
  std::size_t length =
      std::to_integer<std::size_t>(header[8]) | std::to_integer<std::size_t>(header[9]) << 8;
  std::size_t rest = length;
  if (wide) {
    header.resize(12);
    MILLRACE_TRY(have, source.read(std::span(header).last(2)));
    header.resize(10 + have);
    if (have < 2) return header;
    length |= std::to_integer<std::size_t>(header[10]) << 16 |
              std::to_integer<std::size_t>(header[11]) << 24;
    rest = length;
  }
  if (rest > kMaxHeaderBytes) {
    return std::unexpected(file_error(ErrorCode::kResourceExhausted, source.position(8),
                                      "its NPY header claims " + std::to_string(rest) +
                                          " bytes; the limit is " +
                                          std::to_string(kMaxHeaderBytes)));
  }
  const std::size_t start = header.size();
  header.resize(start + rest);
  MILLRACE_TRY(have, source.read(std::span(header).last(rest)));
  header.resize(start + have);
  return header;
}

}  // namespace

Result<NpyArray> read_npy(ByteSource& source, const NpyOptions& options) {
  MILLRACE_TRY(const std::vector<std::byte> bytes, read_header(source));
  MILLRACE_TRY(const NpyHeader header, parse_npy_header(bytes, source, options));
  const std::size_t size = header.shape.size_bytes();
  const std::uint64_t want = header.header_bytes + size;
  const auto truncated = [&](std::uint64_t at) {
    return std::unexpected(
        file_error(ErrorCode::kDataLoss, source.position(at),
                   "truncated: its header asks for " + std::to_string(want) + " bytes"));
  };
  if (const auto limit = source.size_limit(); limit && *limit < want) return truncated(*limit);
  auto data = std::make_unique_for_overwrite<std::byte[]>(size);
  MILLRACE_TRY(const std::size_t count, source.read(std::span(data.get(), size)));
  if (count < size) return truncated(header.header_bytes + count);
  std::byte beyond = {};
  MILLRACE_TRY(const std::size_t extra, source.read(std::span(&beyond, 1)));
  if (extra > 0) {
    return std::unexpected(file_error(ErrorCode::kDataLoss, source.position(want),
                                      "oversized: bytes follow the last element"));
  }
  if (npy_stand_in(header.shape.dtype())) {
    const std::size_t wrong = narrow(std::span(data.get(), size), header.shape.dtype(), header.raw);
    if (wrong != size) {
      return std::unexpected(file_error(
          ErrorCode::kInvalidArgument, source.position(header.header_bytes + wrong),
          "this number does not fit " + std::string(devices::to_string(header.shape.dtype()))));
    }
  }
  if (header.swapped) swap_bytes(std::span(data.get(), size), swap_width(header.shape.dtype()));
  if (header.fortran_order && header.shape.rank() > 1) {
    auto ordered = std::make_unique_for_overwrite<std::byte[]>(size);
    from_fortran_order(header.shape, data.get(), ordered.get());
    data = std::move(ordered);
  }
  return NpyArray{header.shape, std::move(data)};
}

Result<NpyArray> read_npy_file(const std::string& path, const NpyOptions& options) {
  MILLRACE_TRY(File file, File::open(path));
  FileSource source(std::move(file));
  return read_npy(source, options);
}

Status write_npy_file(const std::string& path, const devices::Shape& shape,
                      std::span<const std::byte> bytes) {
  MILLRACE_CHECK(bytes.size() == shape.size_bytes(), "an array has the bytes of its shape");
  MILLRACE_TRY(const std::string header, make_npy_header(shape));
  std::vector<std::byte> narrowed_bytes;
  if (npy_stand_in(shape.dtype())) {
    narrowed_bytes.assign(bytes.begin(), bytes.end());
    narrow(narrowed_bytes, shape.dtype(), true);  // a device may leave the high bits as they come
    bytes = narrowed_bytes;
  }
  const std::array<std::span<const std::byte>, 2> pieces = {std::as_bytes(std::span(header)),
                                                            bytes};
  return write_file(path, pieces);
}

}  // namespace millrace::transfer
