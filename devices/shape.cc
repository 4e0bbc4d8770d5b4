#include "millrace/devices/shape.h"

#include <algorithm>
#include <array>

#include "millrace/core/base/check.h"

namespace millrace::devices {
namespace {

struct Info {
  DType type;
  std::string_view name;
  int bits;
};

constexpr std::array<Info, 33> kInfo = {{
    {DType::kInvalid, "invalid", 0},
    {DType::kI1, "i1", 1},
    {DType::kI2, "i2", 2},
    {DType::kI4, "i4", 4},
    {DType::kI8, "i8", 8},
    {DType::kI16, "i16", 16},
    {DType::kI32, "i32", 32},
    {DType::kI64, "i64", 64},
    {DType::kU2, "ui2", 2},
    {DType::kU4, "ui4", 4},
    {DType::kU8, "ui8", 8},
    {DType::kU16, "ui16", 16},
    {DType::kU32, "ui32", 32},
    {DType::kU64, "ui64", 64},
    {DType::kF16, "f16", 16},
    {DType::kBF16, "bf16", 16},
    {DType::kF32, "f32", 32},
    {DType::kF64, "f64", 64},
    {DType::kTF32, "tf32", 32},
    {DType::kF8E5M2, "f8E5M2", 8},
    {DType::kF8E4M3, "f8E4M3", 8},
    {DType::kF8E4M3FN, "f8E4M3FN", 8},
    {DType::kF8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8},
    {DType::kF8E5M2FNUZ, "f8E5M2FNUZ", 8},
    {DType::kF8E4M3FNUZ, "f8E4M3FNUZ", 8},
    {DType::kF8E3M4, "f8E3M4", 8},
    {DType::kF8E8M0FNU, "f8E8M0FNU", 8},
    {DType::kF4E2M1FN, "f4E2M1FN", 4},
    {DType::kF6E2M3FN, "f6E2M3FN", 6},
    {DType::kF6E3M2FN, "f6E3M2FN", 6},
    {DType::kC64, "complex<f32>", 64},
    {DType::kC128, "complex<f64>", 128},
    {DType::kToken, "!stablehlo.token", 0},
}};

const Info& info(DType type) { return kInfo[static_cast<std::size_t>(type)]; }

// What stands for products that 64 bits do not hold: more than can be allocated.
constexpr std::int64_t kMost = std::int64_t{1} << 62;

}  // namespace

std::string_view to_string(DType type) { return info(type).name; }

std::optional<DType> dtype_from_string(std::string_view text) {
  for (const Info& i : kInfo) {
    if (i.type != DType::kInvalid && i.name == text) return i.type;
  }
  return std::nullopt;
}

int bit_width(DType type) { return info(type).bits; }

std::size_t byte_width(DType type) { return static_cast<std::size_t>((info(type).bits + 7) / 8); }

bool is_floating(DType type) { return type >= DType::kF16 && type <= DType::kF6E3M2FN; }
bool is_signed_integer(DType type) { return type >= DType::kI2 && type <= DType::kI64; }
bool is_unsigned_integer(DType type) { return type >= DType::kU2 && type <= DType::kU64; }
bool is_complex(DType type) { return type == DType::kC64 || type == DType::kC128; }

void Dims::assign(std::span<const std::int64_t> dims) {
  MILLRACE_CHECK(dims.size() <= kMaxRank, "a Shape has at most kMaxRank dimensions");
  rank_ = static_cast<int>(dims.size());
  std::ranges::copy(dims, dims_);
}

Shape::Shape(DType type, const Dims& given) : dtype_(type) {
  const std::span<const std::int64_t> dims(given);
  rank_ = static_cast<std::uint8_t>(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    MILLRACE_CHECK(dims[i] >= kUnknownDimension, "a Shape has no negative dimensions");
    dims_[i] = dims[i];
  }
}

std::int64_t Shape::elements() const {
  std::int64_t n = 1;
  bool overflows = false;
  for (std::int64_t d : dims()) {
    MILLRACE_CHECK(d >= 0, "only a complete Shape has elements");
    if (d == 0) return 0;
    overflows |= __builtin_mul_overflow(n, d, &n);
  }
  return overflows ? kMost : n;
}

std::size_t Shape::size_bytes() const {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements(), static_cast<std::int64_t>(byte_width(dtype_)), &bytes))
    return static_cast<std::size_t>(kMost);
  return static_cast<std::size_t>(bytes);
}

bool Shape::operator==(const Shape& other) const {
  return dtype_ == other.dtype_ && std::ranges::equal(dims(), other.dims());
}

std::string Shape::to_string() const {
  std::string text = "tensor<";
  for (std::int64_t d : dims()) {
    text += d == kUnknownDimension ? "?" : std::to_string(d);
    text += 'x';
  }
  text += millrace::devices::to_string(dtype_);
  text += '>';
  return text;
}

}  // namespace millrace::devices
