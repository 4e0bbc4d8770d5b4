// DType and Shape: what every room says about the bytes of an array. Element types are those of
// StableHLO (and of PJRT_Buffer_Type); a Shape is a dense, row-major array unless a buffer's layout
// says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::devices {

enum class DType : std::uint8_t {
  kInvalid,
  kI1,
  kI2,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,
  kU2,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kTF32,
  kF8E5M2,
  kF8E4M3,
  kF8E4M3FN,
  kF8E4M3B11FNUZ,
  kF8E5M2FNUZ,
  kF8E4M3FNUZ,
  kF8E3M4,
  kF8E8M0FNU,
  kF4E2M1FN,
  kF6E2M3FN,
  kF6E3M2FN,
  kC64,
  kC128,
  kToken,
};

// StableHLO's spelling: "f32", "ui8", "i1", "complex<f32>"; "invalid" for kInvalid.
std::string_view to_string(DType type);
std::optional<DType> dtype_from_string(std::string_view text);
// Bits of one element as StableHLO counts them (i1: 1, complex<f32>: 64).
int bit_width(DType type);
// Bytes that one element takes in host and device memory: sub-byte types take one byte each.
std::size_t byte_width(DType type);
bool is_floating(DType type);
bool is_signed_integer(DType type);
bool is_unsigned_integer(DType type);  // ui2..ui64; not i1
bool is_complex(DType type);

// The most dimensions that a Shape of a buffer may have: shapes then live without allocation.
inline constexpr int kMaxRank = 12;

// Element type and dimensions. Value type, no allocation. Thread-safety: external.
class Shape {
 public:
  Shape() = default;
  Shape(DType type, std::initializer_list<std::int64_t> dims)
      : Shape(type, std::span<const std::int64_t>(dims.begin(), dims.size())) {}
  // CHECKs that there are at most kMaxRank dimensions, each >= 0 (or unknown: shape_pattern.h).
  Shape(DType type, std::span<const std::int64_t> dims);

  DType dtype() const { return dtype_; }
  int rank() const { return rank_; }
  std::int64_t dim(int i) const { return dims_[i]; }
  std::span<const std::int64_t> dims() const { return {dims_, static_cast<std::size_t>(rank_)}; }
  std::int64_t elements() const;   // product of the dimensions; 1 for a scalar; at most 2^63 - 1
  std::size_t size_bytes() const;  // elements() * byte_width(dtype()); at most 2^63 - 1
  bool operator==(const Shape& other) const;
  // "tensor<64x28x28xui8>" / "tensor<f32>", as StableHLO writes it.
  std::string to_string() const;

 private:
  DType dtype_ = DType::kInvalid;
  std::uint8_t rank_ = 0;
  std::int64_t dims_[kMaxRank] = {};
};

}  // namespace millrace::devices
