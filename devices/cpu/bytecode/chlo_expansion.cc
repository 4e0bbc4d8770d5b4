#include "millrace/devices/cpu/bytecode/chlo_expansion.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "millrace/devices/cpu/bytecode/chlo_functions.h"
#include "millrace/devices/cpu/ir/print.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using K = ir::OpKind;
using V = Lines::V;

// Each gives the values that the function returns; none if there is no expansion.
using Values = std::vector<V>;

// The part of a complex number, `name` = real or imag, as f64.
V part(Lines& t, const char* name, const V& z, DType dtype) {
  const std::string_view half = dtype == DType::kC64 ? "f32" : "f64";
  const V made = t.add("stablehlo." + std::string(name) + " " + z + " : (" +
                       t.type(to_string(dtype)) + ") -> " + t.type(half));
  return t.convert(made, half, "f64");
}
V complex(Lines& t, const V& re, const V& im, DType dtype) {
  const std::string_view half = dtype == DType::kC64 ? "f32" : "f64";
  const V a = t.convert(re, "f64", half), b = t.convert(im, "f64", half);
  return t.add("stablehlo.complex " + a + ", " + b + " : (" + t.type(half) + ", " + t.type(half) +
               ") -> " + t.type(to_string(dtype)));
}

Values special(const ir::Op& op, Lines& t, const Values& in) {
  const DType dtype = op.operand(0)->type().dtype();
  const std::string_view element = to_string(dtype);
  if (is_complex(dtype)) {
    const V re = part(t, "real", in[0], dtype);
    const auto made = complex_function(op.kind(), t, {re, part(t, "imag", in[0], dtype)});
    return made ? Values{complex(t, made->re, made->im, dtype)} : Values();
  }
  if (!is_floating(dtype)) return {};
  const auto made = real_function(op.kind(), t, t.convert(in[0], element, "f64"));
  return made ? Values{t.convert(*made, "f64", element)} : Values();
}

Values special_of_two(const ir::Op& op, Lines& t, const Values& in) {
  const DType dtype = op.operand(0)->type().dtype();
  const std::string_view element = to_string(dtype);
  if (!is_floating(dtype)) return {};
  const V a = t.convert(in[0], element, "f64"), b = t.convert(in[1], element, "f64");
  const bool is_zeta = op.kind() == K::kChloZeta || op.kind() == K::kChloBroadcastZeta;
  return {t.convert(is_zeta ? zeta(t, a, b) : polygamma(t, a, b), "f64", element)};
}

Values infinite(const ir::Op& op, Lines& t, const Values& in) {
  const DType dtype = op.operand(0)->type().dtype();
  if (!is_floating(dtype)) return {};
  V x = t.convert(in[0], to_string(dtype), "f64");
  if (op.kind() == K::kChloIsInf) x = t.one("abs", x);
  V limit = t.infinity();
  if (op.kind() == K::kChloIsNegInf) limit = t.one("negate", limit);
  return {t.compare("EQ", x, limit)};
}

Values conj(const ir::Op& op, Lines& t, const Values& in) {
  const DType dtype = op.operand(0)->type().dtype();
  if (!is_complex(dtype)) return {in[0]};
  const V re = part(t, "real", in[0], dtype);
  return {complex(t, re, t.one("negate", part(t, "imag", in[0], dtype)), dtype)};
}

// As many elements as there are, from the largest on, with their places.
Values top_k(const ir::Op& op, Lines& t, const Values& in) {
  const ir::Type from = op.operand(0)->type(), places = op.result(1)->type();
  const DType dtype = from.dtype();
  if (from.rank() == 0 || is_complex(dtype)) return {};
  const std::string whole = from.to_string(), element(to_string(dtype)),
                    index(to_string(places.dtype())), indices = tensor(from.dims(), index);
  const std::string last = std::to_string(from.rank() - 1);
  const V iota = t.add("stablehlo.iota dim = " + last + " : " + indices);
  const std::string kind = is_floating(dtype)         ? ", TOTALORDER"
                           : is_signed_integer(dtype) ? ", SIGNED"
                                                      : ", UNSIGNED";
  const std::string scalar = "tensor<" + element + ">", number = "tensor<" + index + ">";
  const V sorted =
      t.add("\"stablehlo.sort\"(" + in[0] + ", " + iota + ") <{dimension = " + last +
                " : i64, is_stable = true}> ({\n  ^bb0(%x: " + scalar + ", %y: " + scalar +
                ", %i: " + number + ", %j: " + number +
                "):\n    %p = stablehlo.compare GT, %x, %y" + kind + " : (" + scalar + ", " +
                scalar + ") -> tensor<i1>\n    \"stablehlo.return\"(%p) : (tensor<i1>) -> " +
                "()\n  }) : (" + whole + ", " + indices + ") -> (" + whole + ", " + indices + ")",
            2);
  const auto first = [&](int i, const std::string& type) {
    std::string ranges;
    for (const std::int64_t d : op.result(i)->type().dims())
      ranges += (ranges.empty() ? "0:" : ", 0:") + std::to_string(d);
    return t.add("stablehlo.slice " + sorted + "#" + std::to_string(i) + " [" + ranges + "] : (" +
                 type + ") -> " + op.result(i)->type().to_string());
  };
  const V values = first(0, whole), at = first(1, indices);
  return {values, at};
}

// The upper half of a product of 64 bits by way of the products of halves; of signed factors what
// their signs add to the product of their bits is taken away.
V mulhi_of_64(Lines& t, const V& a, const V& b, bool is_signed) {
  constexpr std::string_view kBits = "ui64";
  const auto integer = [&](const char* digits) {
    return t.add("stablehlo.constant dense<" + std::string(digits) + "> : " + t.type(kBits));
  };
  const V half = integer("32"), mask = integer("4294967295"), zero = integer("0");
  const auto both = [&](const char* op, const V& x, const V& y) { return t.two(op, x, y, kBits); };
  const auto high = [&](const V& x) { return both("shift_right_logical", x, half); };
  const auto low = [&](const V& x) { return both("and", x, mask); };
  const V x = is_signed ? t.bitcast(a, "i64", kBits) : a,
          y = is_signed ? t.bitcast(b, "i64", kBits) : b;
  const V low_low = both("multiply", low(x), low(y)), low_high = both("multiply", low(x), high(y)),
          high_low = both("multiply", high(x), low(y)),
          high_high = both("multiply", high(x), high(y));
  const V middle = both("add", high(low_low), both("add", low(low_high), low(high_low)));
  const V carried = both("add", high(middle), both("add", high(low_high), high(high_low)));
  V made = both("add", high_high, carried);
  if (!is_signed) return made;
  const V none = t.bitcast(zero, kBits, "i64");
  const auto if_negative = [&](const V& factor, const V& other) {
    return t.select(t.compare("LT", factor, none, "i64"), other, zero, kBits);
  };
  const V more = both("add", if_negative(a, y), if_negative(b, x));
  return t.bitcast(both("subtract", made, more), kBits, "i64");
}

// By way of integers of twice the width, where there are some.
Values mulhi(const ir::Op& op, Lines& t, const Values& in) {
  const DType dtype = op.operand(0)->type().dtype();
  const int bits = bit_width(dtype);
  if ((!is_signed_integer(dtype) && !is_unsigned_integer(dtype)) || bits > 64) return {};
  if (bits == 64) return {mulhi_of_64(t, in[0], in[1], is_signed_integer(dtype))};
  const std::string_view own = to_string(dtype), wide = is_signed_integer(dtype) ? "i64" : "ui64";
  const V product =
      t.two("multiply", t.convert(in[0], own, wide), t.convert(in[1], own, wide), wide);
  const V shift = t.add("stablehlo.constant dense<" + std::to_string(bits) + "> : " + t.type(wide));
  return {t.convert(t.two("shift_right_arithmetic", product, shift, wide), wide, own)};
}

// Of numbers of one sign, the order of their bits as integers is their own.
Values next_after(const ir::Op& op, Lines& t, const Values& in) {
  const DType dtype = op.operand(0)->type().dtype();
  const int bits = bit_width(dtype);
  if (!is_floating(dtype) || bits < 16) return {};
  const std::string element(to_string(dtype)), whole = "i" + std::to_string(bits);
  const auto integer = [&](std::int64_t x) {
    return t.add("stablehlo.constant dense<" + std::to_string(x) + "> : " + t.type(whole));
  };
  const V zero = t.number(0, element), one = integer(1);
  const V number = t.bitcast(in[0], element, whole);
  const V up = t.compare("GT", in[1], in[0], element),
          positive = t.compare("GT", in[0], zero, element);
  const V away = t.compare("EQ", up, positive, "i1");
  const V moved = t.select(away, t.two("add", number, one, whole),
                           t.two("subtract", number, one, whole), whole);
  const V least = integer((std::numeric_limits<std::int64_t>::min() >> (64 - bits)) + 1);
  const V from_zero = t.select(up, one, least, whole);
  const V is_zero = t.compare("EQ", in[0], zero, element);
  const V made = t.bitcast(t.select(is_zero, from_zero, moved, whole), whole, element);
  const V there = t.select(t.compare("EQ", in[0], in[1], element), in[1], made, element);
  const V sum = t.two("add", in[0], in[1], element);
  const V nan = t.two("or", t.compare("NE", in[0], in[0], element),
                      t.compare("NE", in[1], in[1], element), "i1");
  return {t.select(nan, sum, there, element)};
}

constexpr std::string_view kBroadcast = "chlo.broadcast_";

// The operands with the extents of the result; one of fewer dimensions is the last of them, unless
// broadcast_dimensions says otherwise.
Values spread(const ir::Op& op, Lines& t, const Values& in) {
  const ir::Type result = op.result()->type();
  const auto given = op.ints("broadcast_dimensions");
  Values operands;
  for (int i = 0; i < op.operand_count(); ++i) {
    const ir::Type from = op.operand(i)->type();
    std::vector<std::int64_t> dims(static_cast<std::size_t>(from.rank()));
    for (std::size_t d = 0; d < dims.size(); ++d)
      dims[d] = result.rank() - from.rank() + static_cast<std::int64_t>(d);
    if (given && from.rank() < result.rank() && given->size() == dims.size()) dims = *given;
    operands.push_back(t.add("stablehlo.broadcast_in_dim " + in[static_cast<std::size_t>(i)] +
                             ", dims = " + list(dims) + " : (" + from.to_string() + ") -> " +
                             tensor(result.dims(), from.element().to_string())));
  }
  return operands;
}

Values broadcast(const ir::Op& op, Lines& t, const Values& in) {
  const std::string name(op.name().substr(kBroadcast.size()));
  const ir::Type result = op.result()->type();
  const Values operands = spread(op, t, in);
  switch (op.kind()) {
    case K::kChloBroadcastNextAfter:
      return next_after(op, t, operands);
    case K::kChloBroadcastZeta:
    case K::kChloBroadcastPolygamma:
      return special_of_two(op, t, operands);
    default:
      break;
  }
  std::string head, types;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::Type element = op.operand(static_cast<int>(i))->type().element();
    head += (i == 0 ? "" : ", ") + operands[i];
    types += (i == 0 ? "" : ", ") + tensor(result.dims(), element.to_string());
  }
  head = "\"stablehlo." + name + "\"(" + head + ")";
  if (name == "compare") {
    std::string attributes;
    for (const ir::NamedAttribute& a : op.attributes()) {
      if (a.name == "comparison_direction" || a.name == "compare_type")
        attributes +=
            (attributes.empty() ? "" : ", ") + std::string(a.name) + " = " + ir::print(a.value);
    }
    head += " <{" + attributes + "}>";
  }
  return {t.add(head + " : (" + types + ") -> " + result.to_string())};
}

Values constant_like(const ir::Op& op, Lines& t) {
  const DType dtype = op.result()->type().dtype();
  std::string text;
  if (const auto* f = op.attr<ir::FloatAttr>("value"); f != nullptr && is_floating(dtype)) {
    if (!std::isfinite(f->value())) return {};
    text = literal(f->value());
  } else if (const auto* i = op.attr<ir::IntegerAttr>("value"); i != nullptr) {
    if (is_complex(dtype)) return {};
    text = is_floating(dtype) ? literal(static_cast<double>(i->value)) : std::to_string(i->value);
  } else {
    return {};
  }
  return {t.add("stablehlo.constant dense<" + text + "> : " + op.result()->type().to_string())};
}

Values expansion(const ir::Op& op, Lines& t, const Values& in) {
  switch (op.kind()) {
    case K::kChloTan:
      return {t.add("stablehlo.tan " + in[0] + " : " + op.result()->type().to_string())};
    case K::kChloSquare:
      return {t.two("multiply", in[0], in[0], op.result()->type().element().to_string())};
    case K::kChloConj:
      return conj(op, t, in);
    case K::kChloIsInf:
    case K::kChloIsPosInf:
    case K::kChloIsNegInf:
      return infinite(op, t, in);
    case K::kChloTopK:
      return top_k(op, t, in);
    case K::kChloMulhi:
      return mulhi(op, t, in);
    case K::kChloNextAfter:
      return next_after(op, t, in);
    case K::kChloZeta:
    case K::kChloPolygamma:
      return special_of_two(op, t, in);
    case K::kChloRaggedDot:
      if (const auto made = ragged_dot(op, t, in)) return {*made};
      return {};
    case K::kChloConstantLike:
      return constant_like(op, t);
    case K::kChloConstant:
      if (const auto* value = op.attr<ir::DenseAttr>("value"); value != nullptr)
        return {t.add("stablehlo.constant " + ir::print(op.attr("value")))};
      return {};
    default:
      break;
  }
  if (op.name().starts_with(kBroadcast)) return broadcast(op, t, in);
  return op.operand_count() == 1 ? special(op, t, in) : Values();
}

bool is_closed(ir::Type type) {
  return type.is_tensor() && type.has_static_shape() && type.element().quant() == nullptr;
}

}  // namespace

std::optional<std::string> expand_chlo(const ir::Op& op, std::string_view name) {
  if (!op.name().starts_with("chlo.") || !op.regions().empty()) return std::nullopt;
  std::string arguments, results, types;
  Values in;
  for (int i = 0; i < op.operand_count(); ++i) {
    const ir::Type type = op.operand(i)->type();
    if (!is_closed(type)) return std::nullopt;
    in.push_back("%a" + std::to_string(i));
    arguments += (i == 0 ? "" : ", ") + in.back() + ": " + type.to_string();
  }
  for (const ir::Value& v : op.results()) {
    if (!is_closed(v.type())) return std::nullopt;
    types += (types.empty() ? "" : ", ") + v.type().to_string();
  }
  Lines lines(op.result_count() == 0 ? std::span<const std::int64_t>()
                                     : op.result()->type().dims());
  const Values values = expansion(op, lines, in);
  if (values.empty()) return std::nullopt;
  for (const V& v : values) results += (results.empty() ? "" : ", ") + v;
  return "func.func private @\"" + std::string(name) + "\"(" + arguments + ") -> (" + types +
         ") {\n" + lines.text() + "  return " + results + " : " + types + "\n}\n";
}

}  // namespace millrace::devices::cpu::bytecode
