#include "millrace/transfer/formats/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::transfer {
namespace {

using devices::HostArray;

// NumPy's own limit for headers of unknown origin is 10,000 characters.
constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 10;

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
  std::vector<std::byte> header(12);  // the longest front; every dictionary has more than 2 bytes
  MILLRACE_TRY(std::size_t have, source.read(header));
  header.resize(have);
  if (have < 12) return header;
  const int version = std::to_integer<int>(header[6]);
  if (version < 1 || version > 3) return header;  // parse_npy_header refuses it
  std::size_t end = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t i = end; i-- > 8;)
    length = length << 8 | std::to_integer<std::size_t>(header[i]);
  if (length > kMaxHeaderBytes) {
    return fail_at(source, 8, ErrorCode::kResourceExhausted,
                   "its NPY header claims " + std::to_string(length) + " bytes; the limit is " +
                       std::to_string(kMaxHeaderBytes));
  }
  end += length;
  if (end <= header.size()) return header;
  header.resize(end);
  MILLRACE_TRY(have, source.read(std::span(header).subspan(12)));
  header.resize(12 + have);
  return header;
}

}  // namespace

Result<HostArray> read_npy(ByteSource& source, const NpyOptions& options) {
  MILLRACE_TRY(const std::vector<std::byte> bytes, read_header(source));
  MILLRACE_TRY(const NpyHeader header, parse_npy_header(bytes, source, options));
  MILLRACE_TRY(HostArray array, read_elements(source, header.header_bytes, header.shape));
  const std::span<std::byte> data = array.mutable_bytes();
  if (npy_stand_in(header.shape.dtype())) {
    const std::size_t wrong = narrow(data, header.shape.dtype(), header.raw);
    if (wrong != data.size()) {
      return fail_at(
          source, header.header_bytes + wrong, ErrorCode::kInvalidArgument,
          "this number does not fit " + std::string(devices::to_string(header.shape.dtype())));
    }
  }
  if (header.swapped) swap_bytes(data, swap_width(header.shape.dtype()));
  if (!header.fortran_order || header.shape.rank() < 2) return array;
  HostArray ordered = HostArray::make_unwritten(header.shape);
  from_fortran_order(header.shape, data.data(), ordered.mutable_bytes().data());
  return ordered;
}

Result<HostArray> read_npy_file(const std::string& path, const NpyOptions& options) {
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
