#include "millrace/devices/cpu/kernels/functions/scalar_op.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace millrace::devices::cpu::definition {
namespace {

using ir::OpKind;

Scalar select(const Scalar* x, const ScalarInfo&) { return x[0].u != 0 ? x[1] : x[2]; }

ScalarFunction function_of(OpKind kind, Form form) {
  kind = ir::without_broadcast(kind);
  if (kind == OpKind::kSelect) return select;
  switch (form) {
    case Form::kBool:
    case Form::kSigned:
    case Form::kUnsigned:
      return integer_function(kind, form);
    case Form::kReal:
    case Form::kReal64:
      return real_function(kind, form == Form::kReal64);
    case Form::kComplex:
    case Form::kComplex64:
      return complex_function(kind, form == Form::kComplex64);
    case Form::kNone:
      break;
  }
  return nullptr;
}

template <Form F>
constexpr bool kIsInteger = F == Form::kSigned || F == Form::kUnsigned || F == Form::kBool;
template <Form F>
constexpr bool kIsComplex = F == Form::kComplex || F == Form::kComplex64;

template <Form F, Form T>
Scalar convert(const Scalar* x, const ScalarInfo& info) {
  if constexpr (kIsInteger<F>) {
    if constexpr (T == Form::kBool) return from_unsigned(x[0].u != 0);
    if constexpr (!kIsInteger<T>)
      return F == Form::kSigned ? from_integer(info.out, x[0].i) : from_integer(info.out, x[0].u);
    return from_unsigned(x[0].u);  // the bits wrap when they are stored
  } else {
    const double v = x[0].re;
    if constexpr (T == Form::kBool) return from_unsigned(v != 0 || x[0].im != 0);
    if constexpr (kIsComplex<T>) return from_complex(v, kIsComplex<F> ? x[0].im : 0.0);
    if constexpr (!kIsInteger<T>) return from_real(v);
    if (std::isnan(v)) return from_unsigned(0);
    const int bits = bit_width(info.out);
    if constexpr (T == Form::kSigned) {
      const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
      if (v >= static_cast<double>(most)) return from_signed(most);
      if (v <= -static_cast<double>(most) - 1) return from_signed(-most - 1);
      return from_signed(static_cast<std::int64_t>(v));
    } else {
      const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
      if (v >= static_cast<double>(most)) return from_unsigned(most);
      return from_unsigned(v <= 0 ? 0 : static_cast<std::uint64_t>(v));
    }
  }
}

template <std::size_t... i>
constexpr auto conversions(std::index_sequence<i...>) {
  constexpr std::size_t n = static_cast<std::size_t>(Form::kNone);
  return std::array<ScalarFunction, sizeof...(i)>{
      convert<static_cast<Form>(i / n), static_cast<Form>(i % n)>...};
}

// A constant of the expressed type, in which it is computed with.
double scale_of(const ir::QuantParameters& q, std::size_t channel) {
  const double scale = q.scales[std::min(channel, q.scales.size() - 1)];
  if (q.expressed == DType::kF32) return static_cast<float>(scale);  // almost always, and cheaper
  return rounded(q.expressed, from_real(scale)).re;
}
double zero_of(const ir::QuantParameters& q, std::size_t channel) {
  if (q.zero_points.empty()) return 0;
  return static_cast<double>(q.zero_points[std::min(channel, q.zero_points.size() - 1)]);
}

}  // namespace

ScalarFunction convert_function(Form from, Form to) {
  constexpr auto kForms = static_cast<std::size_t>(Form::kNone);
  static constexpr auto kTable = conversions(std::make_index_sequence<kForms * kForms>());
  if (from == Form::kNone || to == Form::kNone) return nullptr;
  return kTable[static_cast<std::size_t>(from) * kForms + static_cast<std::size_t>(to)];
}

int total_order(double a, double b) {
  const auto key = [](double x) {
    const auto bits = std::bit_cast<std::int64_t>(x);
    return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
  };
  return (key(a) > key(b)) - (key(a) < key(b));
}

bool compares(ir::ComparisonDirection direction, int order) {
  using D = ir::ComparisonDirection;
  switch (direction) {
    case D::kEq:
      return order == 0;
    case D::kNe:
      return order != 0;
    case D::kGe:
      return order >= 0;
    case D::kGt:
      return order > 0;
    case D::kLe:
      return order <= 0;
    case D::kLt:
      return order < 0;
  }
  return false;
}

int typical_operand(OpKind kind) {
  return ir::without_broadcast(kind) == OpKind::kSelect || kind == OpKind::kClamp ? 1 : 0;
}

std::optional<ScalarOp> find_scalar_op(const ir::Op& op, DType in, DType out) {
  ScalarOp found;
  found.info.in = in;
  found.info.out = out;
  found.info.direction = op.enum_or("comparison_direction", ir::ComparisonDirection::kEq);
  found.info.total_order =
      op.enum_or("compare_type", ir::ComparisonType::kNoType) == ir::ComparisonType::kTotalOrder;
  found.info.exponent_bits = static_cast<int>(op.int_or("exponent_bits", 0));
  found.info.mantissa_bits = static_cast<int>(op.int_or("mantissa_bits", 0));
  found.function = op.kind() == OpKind::kConvert ? convert_function(form_of(in), form_of(out))
                                                 : function_of(op.kind(), form_of(in));
  if (found.function == nullptr || form_of(out) == Form::kNone) return std::nullopt;
  return found;
}

std::optional<ScalarOp> find_scalar_op(const ir::Op& op) {
  if (op.operand_count() == 0 || op.result_count() != 1) return std::nullopt;
  const int typical = typical_operand(op.kind());
  if (op.operand_count() <= typical) return std::nullopt;
  return find_scalar_op(op, op.operand(typical)->type().dtype(), op.result()->type().dtype());
}

Scalar dequantised(const ir::QuantParameters& q, std::size_t channel, const Scalar& stored) {
  const double number =
      is_signed_integer(q.storage) ? static_cast<double>(stored.i) : static_cast<double>(stored.u);
  return from_real((number - zero_of(q, channel)) * scale_of(q, channel));
}

Scalar quantised(const ir::QuantParameters& q, std::size_t channel, const Scalar& value) {
  const double scaled = rounded(q.expressed, from_real(value.re / scale_of(q, channel))).re;
  const double stored = std::nearbyint(scaled) + zero_of(q, channel);
  const double bounded = std::isnan(stored) ? zero_of(q, channel)
                                            : std::clamp(stored, static_cast<double>(q.storage_min),
                                                         static_cast<double>(q.storage_max));
  return from_signed(static_cast<std::int64_t>(bounded));
}

}  // namespace millrace::devices::cpu::definition
