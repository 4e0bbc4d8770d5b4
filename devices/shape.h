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
#define MILLRACE_DTYPE(name, ...) name,
#include "millrace/devices/dtypes.inc"
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
// The type of the two parts of complex elements; any other type itself.
inline DType part_of(DType type) {
  return type == DType::kC64 ? DType::kF32 : type == DType::kC128 ? DType::kF64 : type;
}

template <class T>
consteval DType find_dtype() {
#define MILLRACE_DTYPE(name, text, bits, type) \
  if (std::same_as<T, type>) return DType::name;
#include "millrace/devices/dtypes.inc"
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

// A dimension that is known at a launch only, "?" in text. A Shape that has one is a pattern, for a
// parameter or a result of a program: it has no elements() and no size_bytes().
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

bool is_complete(const Shape& shape);
bool are_complete(std::span<const Shape> shapes);
// Whether an array of this shape fits the pattern: same element type, same rank, and same
// dimensions where the pattern knows them.
bool admits(const Shape& pattern, const Shape& shape);
// "should be tensor<?x4xf32>: dimension 1 is 5, not 4", for one that does not fit.
std::string misfit(const Shape& pattern, const Shape& shape);

}  // namespace millrace::devices
