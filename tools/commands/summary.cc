#include "millrace/tools/commands/summary.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::commands {

namespace {

using devices::DType;
using devices::HostArray;

constexpr std::size_t kFewElements = 16;

std::string format(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}
std::string element_text(double value) { return format(value); }
std::string element_text(bool value) { return value ? "true" : "false"; }
std::string element_text(std::int64_t value) { return std::to_string(value); }
std::string element_text(std::uint64_t value) { return std::to_string(value); }
template <class T>
std::string element_text(const std::complex<T>& value) {
  return "(" + format(value.real()) + ", " + format(value.imag()) + ")";
}

std::string range_text(std::size_t count, const auto& value) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  double sum = 0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = static_cast<double>(value(i));
    if (!std::isfinite(element)) continue;
    ++finite;
    sum += element;
    least = std::fmin(least, element);
    most = std::fmax(most, element);
  }
  std::string text;
  if (finite > 0) {
    text = "min " + format(least) + ", max " + format(most) + ", mean " +
           format(sum / static_cast<double>(finite));
  }
  if (finite == count) return text;
  return text + (finite > 0 ? ", " : "") + std::to_string(count - finite) + " not finite";
}

// value(i): the i-th of count elements.
std::string list_text(std::size_t count, const auto& value) {
  if (count <= kFewElements) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + element_text(value(i));
    return text + "]";
  }
  if constexpr (requires { value(0).real(); }) {
    return std::to_string(count) + " elements, the first " + element_text(value(0));
  } else {
    return range_text(count, value);
  }
}

// The elements are those of T, a C++ type.
template <class T>
std::string elements_text(const HostArray& array) {
  const std::span<const T> elements = array.as<T>();
  return list_text(elements.size(), [elements](std::size_t i) { return elements[i]; });
}

std::optional<std::string> elements_text_of(const HostArray& array) {
  const DType type = array.shape().dtype();
  if (type == DType::kF32 || type == DType::kTF32) return elements_text<float>(array);
  if (type == DType::kF64) return elements_text<double>(array);
  if (type == DType::kC64) return elements_text<std::complex<float>>(array);
  if (type == DType::kC128) return elements_text<std::complex<double>>(array);
  // The others by their bits.
  const std::size_t width = devices::byte_width(type);
  if (width == 0) return std::nullopt;
  const std::size_t count = array.bytes().size() / width;
  const auto bits = [&array, width](std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, array.bytes().data() + i * width, width);
    return value;
  };
  if (type == DType::kI1) return list_text(count, [&](std::size_t i) { return bits(i) != 0; });
  if (devices::is_unsigned_integer(type)) return list_text(count, bits);
  if (devices::is_signed_integer(type)) {
    const int unused = 64 - static_cast<int>(8 * width);
    return list_text(count, [&](std::size_t i) {
      return static_cast<std::int64_t>(bits(i) << unused) >> unused;
    });
  }
  if (!devices::is_floating(type)) return std::nullopt;
  return list_text(
      count, [&](std::size_t i) { return devices::stablehlo::ir::decode_float(type, bits(i)); });
}

}  // namespace

std::string summarize(const HostArray& array) {
  const std::string shape = array.shape().to_string();
  const std::optional<std::string> elements = elements_text_of(array);
  return elements ? shape + " " + *elements : shape;
}

}  // namespace millrace::commands
