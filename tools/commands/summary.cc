#include "millrace/tools/commands/command.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "millrace/core/base/printed.h"
#include "millrace/devices/cpu/kernels/base/scalar.h"

namespace millrace::commands {

namespace {

namespace definition = devices::cpu::definition;
using definition::Form;
using definition::Scalar;
using devices::DType;
using devices::HostArray;

constexpr std::size_t kFewElements = 16;

std::string format(double value) { return printed("%.6g", value); }

std::string element_text(Form form, const Scalar& element) {
  switch (form) {
    case Form::kBool:
      return element.u != 0 ? "true" : "false";
    case Form::kSigned:
      return std::to_string(element.i);
    case Form::kUnsigned:
      return std::to_string(element.u);
    case Form::kComplex:
    case Form::kComplex64:
      return "(" + format(element.re) + ", " + format(element.im) + ")";
    default:
      return format(element.re);
  }
}

double number(Form form, const Scalar& element) {
  if (form == Form::kSigned) return static_cast<double>(element.i);
  if (form == Form::kUnsigned || form == Form::kBool) return static_cast<double>(element.u);
  return element.re;
}

std::string range_text(DType type, std::span<const std::byte> bytes) {
  const Form form = definition::form_of(type);
  const std::size_t width = devices::byte_width(type);
  const std::size_t count = bytes.size() / width;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  double sum = 0;
  std::size_t finite = 0;
  std::vector<Scalar> some(std::min<std::size_t>(count, 1024));
  for (std::size_t first = 0; first < count; first += some.size()) {
    some.resize(std::min(some.size(), count - first));
    definition::load(type, &bytes[first * width], static_cast<std::int64_t>(some.size()),
                     some.data());
    for (const Scalar& one : some) {
      const double element = number(form, one);
      if (!std::isfinite(element)) continue;
      ++finite;
      sum += element;
      least = std::fmin(least, element);
      most = std::fmax(most, element);
    }
  }
  std::string text;
  if (finite > 0) {
    text = "min " + format(least) + ", max " + format(most) + ", mean " +
           format(sum / static_cast<double>(finite));
  }
  if (finite == count) return text;
  return text + (finite > 0 ? ", " : "") + std::to_string(count - finite) + " not finite";
}

}  // namespace

std::string summarize(const HostArray& array) {
  std::string shape = array.shape().to_string();
  // An element of TF32 lies in memory as a float.
  const DType type = array.shape().dtype() == DType::kTF32 ? DType::kF32 : array.shape().dtype();
  const Form form = definition::form_of(type);
  if (form == Form::kNone) return shape;
  const std::size_t width = devices::byte_width(type);
  const std::size_t count = array.bytes().size() / width;
  const auto text_of = [&](std::size_t i) {
    return element_text(form, definition::load(type, &array.bytes()[i * width]));
  };
  if (count > kFewElements && devices::is_complex(type))
    return shape + " " + std::to_string(count) + " elements, the first " + text_of(0);
  if (count > kFewElements) return shape + " " + range_text(type, array.bytes());
  std::string text = shape + " [";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + text_of(i);
  return text + "]";
}

std::string time_text(double milliseconds) {
  return milliseconds < 0.9995 ? printed("%.3g us", milliseconds * 1e3)  // not "1e+03 us"
                               : printed("%.3f ms", milliseconds);
}

}  // namespace millrace::commands
