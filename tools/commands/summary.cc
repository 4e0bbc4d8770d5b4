#include "millrace/tools/commands/summary.h"

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <type_traits>

#include "millrace/devices/cpu/ir/float_format.h"

namespace millrace::commands {

namespace {

using devices::DType;
using devices::HostArray;

constexpr std::size_t kFewElements = 16;

struct BFloat16 {
  std::uint16_t bits;
  explicit operator double() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};
struct Float16 {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = (bits >> 10) & 31;
    const double fraction = (bits & 1023) / 1024.0;
    double value =
        exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
    if (exponent == 31) {
      value = fraction == 0 ? std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
    }
    return (bits & 0x8000) != 0 ? -value : value;
  }
};

// Of 8 bits and less.
template <DType kType>
struct SmallFloat {
  std::uint8_t bits;
  explicit operator double() const {
    return devices::cpu::ir::decode_float(kType, bits & ((1U << devices::bit_width(kType)) - 1));
  }
};

std::string format(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}
template <class T>
std::string element_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return "(" + format(value.real()) + ", " + format(value.imag()) + ")";
  } else {
    return format(static_cast<double>(value));
  }
}

template <class T>
std::string elements_text(const HostArray& array) {
  const std::span<const T> elements = array.as<T>();
  if (elements.size() <= kFewElements) {
    std::string text = "[";
    for (std::size_t i = 0; i < elements.size(); ++i)
      text += (i == 0 ? "" : ", ") + element_text(elements[i]);
    return text + "]";
  }
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return std::to_string(elements.size()) + " elements, the first " + element_text(elements[0]);
  } else {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    double sum = 0;
    std::size_t finite = 0;
    for (const T& element : elements) {
      const auto value = static_cast<double>(element);
      if (!std::isfinite(value)) continue;
      ++finite;
      sum += value;
      least = std::fmin(least, value);
      most = std::fmax(most, value);
    }
    std::string text;
    if (finite > 0) {
      text = "min " + format(least) + ", max " + format(most) + ", mean " +
             format(sum / static_cast<double>(finite));
    }
    if (finite == elements.size()) return text;
    return text + (finite > 0 ? ", " : "") + std::to_string(elements.size() - finite) +
           " not finite";
  }
}

std::optional<std::string> elements_text_of(const HostArray& array) {
  switch (array.shape().dtype()) {
    case DType::kI1:
      return elements_text<bool>(array);
    case DType::kI2:
    case DType::kI4:
    case DType::kI8:
      return elements_text<std::int8_t>(array);
    case DType::kI16:
      return elements_text<std::int16_t>(array);
    case DType::kI32:
      return elements_text<std::int32_t>(array);
    case DType::kI64:
      return elements_text<std::int64_t>(array);
    case DType::kU2:
    case DType::kU4:
    case DType::kU8:
      return elements_text<std::uint8_t>(array);
    case DType::kU16:
      return elements_text<std::uint16_t>(array);
    case DType::kU32:
      return elements_text<std::uint32_t>(array);
    case DType::kU64:
      return elements_text<std::uint64_t>(array);
    case DType::kF16:
      return elements_text<Float16>(array);
    case DType::kBF16:
      return elements_text<BFloat16>(array);
    case DType::kF8E5M2:
      return elements_text<SmallFloat<DType::kF8E5M2>>(array);
    case DType::kF8E4M3:
      return elements_text<SmallFloat<DType::kF8E4M3>>(array);
    case DType::kF8E4M3FN:
      return elements_text<SmallFloat<DType::kF8E4M3FN>>(array);
    case DType::kF8E4M3B11FNUZ:
      return elements_text<SmallFloat<DType::kF8E4M3B11FNUZ>>(array);
    case DType::kF8E5M2FNUZ:
      return elements_text<SmallFloat<DType::kF8E5M2FNUZ>>(array);
    case DType::kF8E4M3FNUZ:
      return elements_text<SmallFloat<DType::kF8E4M3FNUZ>>(array);
    case DType::kF8E3M4:
      return elements_text<SmallFloat<DType::kF8E3M4>>(array);
    case DType::kF8E8M0FNU:
      return elements_text<SmallFloat<DType::kF8E8M0FNU>>(array);
    case DType::kF4E2M1FN:
      return elements_text<SmallFloat<DType::kF4E2M1FN>>(array);
    case DType::kF6E2M3FN:
      return elements_text<SmallFloat<DType::kF6E2M3FN>>(array);
    case DType::kF6E3M2FN:
      return elements_text<SmallFloat<DType::kF6E3M2FN>>(array);
    case DType::kTF32:
    case DType::kF32:
      return elements_text<float>(array);
    case DType::kF64:
      return elements_text<double>(array);
    case DType::kC64:
      return elements_text<std::complex<float>>(array);
    case DType::kC128:
      return elements_text<std::complex<double>>(array);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string summarize(const HostArray& array) {
  const std::string shape = array.shape().to_string();
  const std::optional<std::string> elements = elements_text_of(array);
  return elements ? shape + " " + *elements : shape;
}

}  // namespace millrace::commands
