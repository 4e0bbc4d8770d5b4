// NPY: NumPy's file of one array (versions 1.0 to 3.0). A magic string, a Python dictionary as
// text, then the elements. The header parser and writer are pure; read_npy_file and write_npy_file
// add the file. Format: numpy.lib.format in NumPy's documentation. Read next: byte_source.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "millrace/core/error.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/byte_source.h"

namespace millrace::transfer {

struct NpyHeader {
  devices::Shape shape;
  bool fortran_order = false;  // the first dimension varies fastest
  bool swapped = false;        // elements are in the other byte order than the machine's
  std::size_t header_bytes = 0;
};

// NumPy has no name for bf16 and the 8-bit floats: ml_dtypes writes them as raw bytes ("<V2",
// "|V1"), which are read only if the caller says what they are. Raw or not, the type in the file
// must fit `as` where it is given.
struct NpyOptions {
  std::optional<devices::DType> as;
  std::uint64_t max_bytes = std::uint64_t{16} << 30;
};

// Parses the header at the front of bytes, which hold all of it or more. kDataLoss for what is
// none, or a truncated one; kUnimplemented for element types that no DType stands for;
// kInvalidArgument if it is not `as`; kResourceExhausted beyond max_bytes. Errors name the byte of
// source.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes, const ByteSource& source,
                                   const NpyOptions& options = {});

// The header of an array in row-major order and the machine's byte order: version 1.0, padded to 64
// bytes. kUnimplemented for types that NumPy cannot be told of (sub-byte ones, tokens).
Result<std::string> make_npy_header(const devices::Shape& shape);

// An array in row-major order and the machine's byte order, whatever the file had. Thread-safety:
// external.
struct NpyArray {
  devices::Shape shape;
  std::unique_ptr<std::byte[]> data;
  std::span<const std::byte> bytes() const { return {data.get(), shape.size_bytes()}; }
};

// Reads all of source: it must hold exactly what its header says (kDataLoss else).
Result<NpyArray> read_npy(ByteSource& source, const NpyOptions& options = {});
Result<NpyArray> read_npy_file(const std::string& path, const NpyOptions& options = {});
// bytes: row-major, bytes.size() == shape.size_bytes(). The file appears whole or not at all.
Status write_npy_file(const std::string& path, const devices::Shape& shape,
                      std::span<const std::byte> bytes);

}  // namespace millrace::transfer
