#include "millrace/tools/conformance_runner/checks.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "millrace/devices/cpu/custom_call.h"
#include "millrace/devices/cpu/kernels/scalar.h"

namespace millrace::conformance {
namespace {

using devices::DType;
using devices::cpu::ConstArray;
using devices::cpu::CustomCall;
using devices::cpu::definition::Form;
using devices::cpu::definition::Scalar;

enum class Rule { kEqual, kClose, kAlmostEqual };

constexpr std::int64_t kMostUlps = 3;
constexpr double kTolerance = 1e-3;

// Whether at most kMostUlps floats of the format lie between two values; the signs of zero are one
// place. In integers: a double has no room for the places of f64.
bool within_ulps(DType type, double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  const auto place = [type](double x) {
    std::byte bytes[8] = {};
    Scalar s;
    s.re = std::fabs(x);
    devices::cpu::definition::store(type, s, bytes);
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    const auto magnitude = static_cast<std::int64_t>(bits);
    return x < 0 ? -magnitude : magnitude;
  };
  const std::int64_t x = place(a), y = place(b);
  // Numbers of opposite signs are near only where both are small: no overflow.
  return x < y ? x >= y - kMostUlps : y >= x - kMostUlps;
}

bool agrees(Rule rule, DType type, double got, double want) {
  switch (rule) {
    case Rule::kEqual:
      return got == want;
    case Rule::kClose:
      return within_ulps(type, got, want);
    case Rule::kAlmostEqual:
      return got == want || (std::isnan(got) && std::isnan(want)) ||
             std::fabs(got - want) <= kTolerance;
  }
  return false;
}

std::string number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

std::string value(DType type, const Scalar& s) {
  switch (devices::cpu::definition::form_of(type)) {
    case Form::kBool:
      return s.u != 0 ? "true" : "false";
    case Form::kSigned:
      return std::to_string(s.i);
    case Form::kUnsigned:
      return std::to_string(s.u);
    case Form::kComplex:
    case Form::kComplex64:
      return "(" + number(s.re) + ", " + number(s.im) + ")";
    default:
      return number(s.re);
  }
}

bool element_agrees(Rule rule, DType type, const Scalar& got, const Scalar& want) {
  switch (devices::cpu::definition::form_of(type)) {
    case Form::kBool:
    case Form::kSigned:
    case Form::kUnsigned:
      return got.u == want.u;
    case Form::kComplex:
    case Form::kComplex64: {
      const DType part = type == DType::kC64 ? DType::kF32 : DType::kF64;
      return agrees(rule, part, got.re, want.re) && agrees(rule, part, got.im, want.im);
    }
    default:
      return agrees(rule, type, got.re, want.re);
  }
}

// "[1,2]" of a row-major place.
std::string index_text(const devices::Shape& shape, std::int64_t linear) {
  std::string text;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (!text.empty()) text.insert(0, ",");
    text.insert(0, std::to_string(linear % shape.dim(d)));
    linear /= shape.dim(d);
  }
  return "[" + text + "]";
}

Status compare(Rule rule, const CustomCall& call) {
  if (call.operands.size() != 2 || !(call.operands[0].shape == call.operands[1].shape)) {
    return fail(ErrorCode::kInvalidArgument,
                "a comparison of two arrays of one shape was expected");
  }
  const ConstArray &got = call.operands[0], &want = call.operands[1];
  const DType type = got.shape.dtype();
  const std::size_t width = devices::byte_width(type);
  std::int64_t wrong = 0;
  std::string first;
  for (std::int64_t i = 0; i < got.shape.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i) * width;
    const Scalar g = devices::cpu::definition::load(type, got.data + at);
    const Scalar w = devices::cpu::definition::load(type, want.data + at);
    if (element_agrees(rule, type, g, w)) continue;
    if (++wrong == 1) {
      first = "element " + index_text(got.shape, i) + " of " + got.shape.to_string() + ": got " +
              value(type, g) + ", expected " + value(type, w);
    }
  }
  if (wrong == 0) return {};
  return fail(ErrorCode::kDataLoss, first + " (" + std::to_string(wrong) + " of " +
                                        std::to_string(got.shape.elements()) +
                                        " elements are wrong)");
}

}  // namespace

Status register_checks() {
  static const struct {
    const char* target;
    Rule rule;
  } kChecks[] = {{"check.expect_eq", Rule::kEqual},
                 {"check.eq", Rule::kEqual},
                 {"check.expect_close", Rule::kClose},
                 {"check.expect_almost_eq", Rule::kAlmostEqual}};
  for (const auto& check : kChecks) {
    MILLRACE_TRY_STATUS(devices::cpu::register_custom_call(
        check.target, [rule = check.rule](const CustomCall& call) { return compare(rule, call); }));
  }
  return {};
}

}  // namespace millrace::conformance
