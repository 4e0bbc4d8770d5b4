// DType and Shape: what every room says about the bytes of an array. Element types are those of
// StableHLO (and of PJRT_Buffer_Type); a Shape is a dense, row-major array unless a buffer's layout
// says otherwise.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
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

template <class T>
consteval DType find_dtype() {
  if (std::same_as<T, bool>) return DType::kI1;
  if (std::same_as<T, std::int8_t>) return DType::kI8;
  if (std::same_as<T, std::int16_t>) return DType::kI16;
  if (std::same_as<T, std::int32_t>) return DType::kI32;
  if (std::same_as<T, std::int64_t>) return DType::kI64;
  if (std::same_as<T, std::uint8_t>) return DType::kU8;
  if (std::same_as<T, std::uint16_t>) return DType::kU16;
  if (std::same_as<T, std::uint32_t>) return DType::kU32;
  if (std::same_as<T, std::uint64_t>) return DType::kU64;
  if (std::same_as<T, float>) return DType::kF32;
  if (std::same_as<T, double>) return DType::kF64;
  if (std::same_as<T, std::complex<float>>) return DType::kC64;
  if (std::same_as<T, std::complex<double>>) return DType::kC128;
  return DType::kInvalid;
}
// The element type whose C++ type is T; kInvalid for any other T.
template <class T>
inline constexpr DType dtype_of = find_dtype<T>();

// The most dimensions that a Shape of a buffer may have: shapes then live without allocation.
inline constexpr int kMaxRank = 12;

// The dimensions of an array as a call takes them: {64, 28, 28}, or a range of std::int64_t. No
// allocation. CHECKs that there are at most kMaxRank.
class Dims {
 public:
  Dims() = default;
  template <std::integral... Ns>
    requires(sizeof...(Ns) > 0 && sizeof...(Ns) <= kMaxRank)
  Dims(Ns... dims) : rank_(sizeof...(Ns)) {  // NOLINT(google-explicit-constructor)
    int i = 0;
    ((dims_[i++] = static_cast<std::int64_t>(dims)), ...);
  }
  template <class Range>
    requires std::convertible_to<const Range&, std::span<const std::int64_t>>
  Dims(const Range& dims) {  // NOLINT(google-explicit-constructor)
    assign(std::span<const std::int64_t>(dims));
  }

  operator std::span<const std::int64_t>() const {  // NOLINT(google-explicit-constructor)
    return {dims_, static_cast<std::size_t>(rank_)};
  }

 private:
  void assign(std::span<const std::int64_t> dims);

  int rank_ = 0;
  std::int64_t dims_[kMaxRank] = {};
};

// A dimension that is not known yet, "?" in text (shape_pattern.h). A Shape that has one is that of
// no array: it has no elements() and no size_bytes().
inline constexpr std::int64_t kUnknownDimension = -1;

// Element type and dimensions. Value type, no allocation. Thread-safety: external.
class Shape {
 public:
  Shape() = default;
  // CHECKs that there are at most kMaxRank dimensions, each >= 0 or unknown.
  Shape(DType type, const Dims& dims);

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
