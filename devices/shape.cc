#include "millrace/devices/shape.h"

#include <algorithm>
#include <iterator>

#include "millrace/core/base/check.h"

namespace millrace::devices {
namespace {

struct Info {
  std::string_view name;
  int bits;
};

constexpr Info kInfo[] = {
#define MILLRACE_DTYPE(name, text, bits, type) {text, bits},
#include "millrace/devices/dtypes.inc"
};

const Info& info(DType type) { return kInfo[static_cast<std::size_t>(type)]; }

// What stands for products that 64 bits do not hold: more than can be allocated.
constexpr std::int64_t kMost = std::int64_t{1} << 62;

}  // namespace

std::string_view to_string(DType type) { return info(type).name; }

std::optional<DType> dtype_from_string(std::string_view text) {
  const auto* const found = std::ranges::find(kInfo, text, &Info::name);
  if (found == kInfo || found == std::end(kInfo)) return std::nullopt;
  return static_cast<DType>(found - kInfo);
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

bool is_complete(const Shape& shape) {
  return std::ranges::find(shape.dims(), kUnknownDimension) == shape.dims().end();
}

bool are_complete(std::span<const Shape> shapes) {
  return std::ranges::all_of(shapes, is_complete);
}

bool admits(const Shape& pattern, const Shape& shape) {
  return pattern.dtype() == shape.dtype() &&
         std::ranges::equal(pattern.dims(), shape.dims(), [](std::int64_t p, std::int64_t d) {
           return p == d || p == kUnknownDimension;
         });
}

std::string misfit(const Shape& pattern, const Shape& shape) {
  std::string text = "should be " + pattern.to_string();
  if (pattern.dtype() != shape.dtype() || is_complete(pattern)) return text;
  if (pattern.rank() != shape.rank()) {
    return text + ": it has " + std::to_string(shape.rank()) +
           (shape.rank() == 1 ? " dimension, not " : " dimensions, not ") +
           std::to_string(pattern.rank());
  }
  for (int d = 0; d < pattern.rank(); ++d) {
    if (pattern.dim(d) == kUnknownDimension || pattern.dim(d) == shape.dim(d)) continue;
    return text + ": dimension " + std::to_string(d) + " is " + std::to_string(shape.dim(d)) +
           ", not " + std::to_string(pattern.dim(d));
  }
  return text;
}

}  // namespace millrace::devices
