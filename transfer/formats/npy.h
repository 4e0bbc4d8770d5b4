// NPY: NumPy's file of one array (versions 1.0 to 3.0). A magic string, a Python dictionary as
// text, then the elements. The header parser and writer are pure; read_npy_file and write_npy_file
// add the file. Format: numpy.lib.format in NumPy's documentation. Read next: byte_source.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/byte_source.h"

namespace millrace::transfer {

struct NpyHeader {
  devices::Shape shape = {};
  bool fortran_order = false;  // the first dimension varies fastest
  bool swapped = false;        // elements are in the other byte order than the machine's
  std::size_t header_bytes = 0;
  bool raw = false;  // bytes without a type of NumPy's
};

// NumPy has no name for bf16, the floats of 8 bits and less and the integers of less: ml_dtypes
// writes them as raw bytes ("<V2", "|V1"; float8_e5m2 as "<f1"), which are read only if the caller
// says what they are. Integers of 2 and 4 bits may be those of npy_stand_in, too. Raw or not, the
// type in the file must fit `as` where it is given.
struct NpyOptions {
  std::optional<devices::DType> as = {};
  std::uint64_t max_bytes = std::uint64_t{16} << 30;
};

// Parses the header at the front of bytes, which hold all of it or more. kDataLoss for what is
// none, or a truncated one; kUnimplemented for element types that no DType stands for;
// kInvalidArgument if it is not `as`; kResourceExhausted beyond max_bytes. Errors name the byte.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes, const ByteSource& source,
                                   const NpyOptions& options = {});

// The integers of NumPy that integers of 2 and 4 bits are written as, so that NumPy alone loads
// them: int8 or uint8. nullopt for every other type.
std::optional<devices::DType> npy_stand_in(devices::DType type);
// Whether a type is written as raw bytes: the floats that NumPy does not have.
bool is_raw_in_npy(devices::DType type);

// The header of an array in row-major order and the machine's byte order: version 1.0, padded to 64
// bytes. kUnimplemented for what no file can hold (tokens).
Result<std::string> make_npy_header(const devices::Shape& shape);

// Reads all of source, into row-major order and the machine's byte order: it must hold exactly what
// its header says (kDataLoss else), and numbers that `as` has (kInvalidArgument).
Result<devices::HostArray> read_npy(ByteSource& source, const NpyOptions& options = {});
Result<devices::HostArray> read_npy_file(const std::string& path, const NpyOptions& options = {});
// bytes: row-major, bytes.size() == shape.size_bytes(). The file appears whole or not at all.
Status write_npy_file(const std::string& path, const devices::Shape& shape,
                      std::span<const std::byte> bytes);

}  // namespace millrace::transfer
