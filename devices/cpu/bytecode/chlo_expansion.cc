#include "millrace/devices/cpu/bytecode/chlo_expansion.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "millrace/devices/cpu/ir/print.h"
#include "millrace/devices/cpu/kernels/error_function.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using K = ir::OpKind;

std::string tensor(std::span<const std::int64_t> dims, std::string_view element) {
  std::string text = "tensor<";
  for (const std::int64_t d : dims) text += std::to_string(d) + "x";
  return text + std::string(element) + ">";
}
std::string list(std::span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}
std::string literal(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17e", x);
  return text;
}

// Lines of a function, whose values are named by numbers.
class Lines {
 public:
  explicit Lines(std::span<const std::int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  std::string type(std::string_view element) const { return tensor(dims_, element); }
  // The name of what the line makes; of several results name#0, name#1, ...
  std::string add(const std::string& line, int results = 1) {
    const std::string name = "%" + std::to_string(next_++);
    text_ += "  " + name + (results > 1 ? ":" + std::to_string(results) : "") + " = " + line + "\n";
    return name;
  }
  const std::string& text() const { return text_; }

  // Of f64, unless said otherwise.
  using V = std::string;
  V number(double x, std::string_view element = "f64") {
    return add("stablehlo.constant dense<" + literal(x) + "> : " + type(element));
  }
  V infinity() { return add("stablehlo.constant dense<0x7FF0000000000000> : " + type("f64")); }
  V one(const char* op, const V& a) {
    return add("stablehlo." + std::string(op) + " " + a + " : " + type("f64"));
  }
  V two(const char* op, const V& a, const V& b, std::string_view element = "f64") {
    return add("stablehlo." + std::string(op) + " " + a + ", " + b + " : " + type(element));
  }
  V compare(const char* direction, const V& a, const V& b, std::string_view element = "f64") {
    return add("stablehlo.compare " + std::string(direction) + ", " + a + ", " + b + " : (" +
               type(element) + ", " + type(element) + ") -> " + type("i1"));
  }
  V select(const V& p, const V& a, const V& b, std::string_view element = "f64") {
    return add("stablehlo.select " + p + ", " + a + ", " + b + " : " + type("i1") + ", " +
               type(element));
  }
  V convert(const V& a, std::string_view from, std::string_view to) {
    if (from == to) return a;
    return add("stablehlo.convert " + a + " : (" + type(from) + ") -> " + type(to));
  }
  V sum(const V& a, const V& b) { return two("add", a, b); }
  V difference(const V& a, const V& b) { return two("subtract", a, b); }
  V product(const V& a, const V& b) { return two("multiply", a, b); }
  V quotient(const V& a, const V& b) { return two("divide", a, b); }
  // The highest power first.
  V polynomial(std::span<const double> coefficients, const V& x) {
    V value = number(coefficients.front());
    for (const double c : coefficients.subspan(1)) value = sum(product(value, x), number(c));
    return value;
  }

 private:
  const std::vector<std::int64_t> dims_;
  std::string text_;
  int next_ = 0;
};
using V = Lines::V;

// exp(x) / 2 without the overflow of exp(x).
V half_exp(Lines& t, const V& x) {
  return t.one("exponential", t.sum(x, t.number(-0.69314718055994530942)));
}
V sinh(Lines& t, const V& x) {
  const V e = t.one("exponential_minus_one", x);
  const V small = t.product(t.number(0.5), t.sum(e, t.quotient(e, t.sum(e, t.number(1)))));
  const V large = t.difference(half_exp(t, x), half_exp(t, t.one("negate", x)));
  return t.select(t.compare("LT", t.one("abs", x), t.number(1)), small, large);
}
V cosh(Lines& t, const V& x) { return t.sum(half_exp(t, x), half_exp(t, t.one("negate", x))); }
V acos(Lines& t, const V& x) {
  const V one = t.number(1);
  const V root = t.one("sqrt", t.product(t.difference(one, x), t.sum(one, x)));
  const V twice = t.product(t.number(2), t.two("atan2", root, t.sum(one, x)));
  return t.select(t.compare("EQ", x, t.number(-1)), t.number(3.14159265358979323846), twice);
}
V asin(Lines& t, const V& x) {
  const V one = t.number(1);
  const V root = t.one("sqrt", t.product(t.difference(one, x), t.sum(one, x)));
  return t.product(t.number(2), t.two("atan2", x, t.sum(one, root)));
}
V atan(Lines& t, const V& x) { return t.two("atan2", x, t.number(1)); }
// log(2 x), for x whose square overflows.
V log_twice(Lines& t, const V& x) {
  return t.sum(t.one("log", x), t.number(0.69314718055994530942));
}
V acosh(Lines& t, const V& x) {
  const V one = t.number(1);
  const V root = t.one("sqrt", t.product(t.sum(x, one), t.difference(x, one)));
  return t.select(t.compare("GE", x, t.number(1e150)), log_twice(t, x),
                  t.one("log", t.sum(x, root)));
}
V asinh(Lines& t, const V& x) {
  const V size = t.one("abs", x), square = t.product(x, x), one = t.number(1);
  const V root = t.one("sqrt", t.sum(square, one));
  const V small = t.one("log_plus_one", t.sum(size, t.quotient(square, t.sum(one, root))));
  const V value = t.select(t.compare("GE", size, t.number(1e150)), log_twice(t, size), small);
  return t.product(t.one("sign", x), value);
}
V atanh(Lines& t, const V& x) {
  return t.product(t.number(0.5), t.difference(t.one("log_plus_one", x),
                                               t.one("log_plus_one", t.one("negate", x))));
}
V small_erf(Lines& t, const V& x) {
  const V z = t.product(x, x);
  return t.quotient(t.product(x, t.polynomial(error_function::kErfTop, z)),
                    t.polynomial(error_function::kErfBottom, z));
}
V erfc(Lines& t, const V& x) {
  using namespace error_function;
  const V size = t.one("abs", x), zero = t.number(0);
  const V z = t.product(t.one("negate", x), x);
  const V e = t.one("exponential", z);
  const auto part = [&](std::span<const double> top, std::span<const double> bottom) {
    return t.quotient(t.product(e, t.polynomial(top, size)), t.polynomial(bottom, size));
  };
  const V parts = t.select(t.compare("LT", size, t.number(8)), part(kMiddleTop, kMiddleBottom),
                           part(kTailTop, kTailBottom));
  const V ended = t.select(t.compare("LT", z, t.number(-kLargestExponent)), zero, parts);
  const V tail = t.select(t.compare("LT", x, zero), t.difference(t.number(2), ended), ended);
  return t.select(t.compare("LT", size, t.number(1)), t.difference(t.number(1), small_erf(t, x)),
                  tail);
}
V erf(Lines& t, const V& x) {
  const V size = t.one("abs", x);
  const V tail = t.product(t.one("sign", x), t.difference(t.number(1), erfc(t, size)));
  return t.select(t.compare("LT", size, t.number(1)), small_erf(t, x), tail);
}
V erf_inv(Lines& t, const V& x) {
  using namespace error_function;
  const V w = t.one("negate", t.one("log_plus_one", t.product(x, t.one("negate", x))));
  const V root = t.one("sqrt", w);
  const V near = t.polynomial(kNear64, t.difference(w, t.number(3.125))),
          middle = t.polynomial(kMiddle64, t.difference(root, t.number(3.25))),
          far = t.polynomial(kFar64, t.difference(root, t.number(5)));
  const V factor = t.select(t.compare("LT", w, t.number(6.25)), near,
                            t.select(t.compare("LT", w, t.number(16)), middle, far));
  const V end = t.compare("EQ", t.one("abs", x), t.number(1));
  return t.product(x, t.select(end, t.infinity(), factor));
}

// Lanczos' approximation with g = 7 and nine coefficients (as Godfrey computed them): gamma(z + 1)
// is sqrt(2 pi) (z + 7.5)^(z + 0.5) exp(-z - 7.5) times a sum.
constexpr double kLanczos[] = {0.99999999999980993227684700473478,
                               676.520368121885098567009190444019,
                               -1259.13921672240287047156078755283,
                               771.3234287776530788486528258894,
                               -176.61502916214059906584551354,
                               12.507343278686904814458936853,
                               -0.13857109526572011689554707,
                               9.984369578019570859563e-6,
                               1.50563273514931155834e-7};
struct Lanczos {
  V reflects, z, shifted, sum, slope;  // slope: of the sum
};
// By x itself from a half on; below that of 1 - x, to be reflected.
Lanczos lanczos(Lines& t, const V& x) {
  Lanczos made;
  made.reflects = t.compare("LT", x, t.number(0.5));
  made.z = t.select(made.reflects, t.one("negate", x), t.difference(x, t.number(1)));
  made.shifted = t.sum(made.z, t.number(7.5));
  made.sum = t.number(kLanczos[0]);
  made.slope = t.number(0);
  for (int k = 1; k < static_cast<int>(std::size(kLanczos)); ++k) {
    const V under = t.sum(made.z, t.number(k)), term = t.quotient(t.number(kLanczos[k]), under);
    made.sum = t.sum(made.sum, term);
    made.slope = t.difference(made.slope, t.quotient(term, under));
  }
  return made;
}
constexpr double kPi = 3.14159265358979323846;

// log |gamma(x)| = log(pi / |sin(pi x)|) - log gamma(1 - x).
V lgamma(Lines& t, const V& x) {
  const Lanczos l = lanczos(t, x);
  const V scale = t.product(t.sum(l.z, t.number(0.5)), t.one("log", l.shifted));
  const V value = t.sum(t.sum(t.number(0.91893853320467274178), t.difference(scale, l.shifted)),
                        t.one("log", l.sum));
  const V size = t.one("abs", x), part = t.difference(size, t.one("floor", size));
  const V near = t.two("minimum", part, t.difference(t.number(1), part));
  const V sine = t.one("log", t.one("sine", t.product(t.number(kPi), near)));
  const V other = t.difference(t.difference(t.number(1.14472988584940017414), sine), value);
  const V infinite = t.compare("EQ", size, t.infinity());
  return t.select(infinite, t.infinity(), t.select(l.reflects, other, value));
}

// digamma(x) = digamma(1 - x) - pi / tan(pi x).
V digamma(Lines& t, const V& x) {
  const Lanczos l = lanczos(t, x);
  const V value = t.difference(t.sum(t.one("log", l.shifted), t.quotient(l.slope, l.sum)),
                               t.quotient(t.number(7), l.shifted));
  // From -1/2 to 1/2: the tangent repeats.
  const V near = t.difference(x, t.one("floor", t.sum(x, t.number(0.5))));
  const V angle = t.product(t.number(kPi), near);
  const V other = t.difference(
      value, t.quotient(t.product(t.number(kPi), t.one("cosine", angle)), t.one("sine", angle)));
  const V pole =
      t.two("and", t.compare("LE", x, t.number(0)), t.compare("EQ", x, t.one("floor", x)), "i1");
  const V nan = t.add("stablehlo.constant dense<0x7FF8000000000000> : " + t.type("f64"));
  return t.select(pole, nan, t.select(l.reflects, other, value));
}

struct Special {
  K kind;
  V (*make)(Lines&, const V&);
};
constexpr Special kSpecials[] = {
    {K::kChloSinh, sinh},      {K::kChloCosh, cosh},      {K::kChloAcos, acos},
    {K::kChloAsin, asin},      {K::kChloAtan, atan},      {K::kChloAcosh, acosh},
    {K::kChloAsinh, asinh},    {K::kChloAtanh, atanh},    {K::kChloErf, erf},
    {K::kChloErfc, erfc},      {K::kChloErfInv, erf_inv}, {K::kChloLgamma, lgamma},
    {K::kChloDigamma, digamma}};

// Each gives the values that the function returns; none if there is no expansion.
using Values = std::vector<V>;

Values special(const ir::Op& op, Lines& t) {
  const auto* found = std::ranges::find(kSpecials, op.kind(), &Special::kind);
  const DType dtype = op.operand(0)->type().dtype();
  if (found == std::end(kSpecials) || !is_floating(dtype)) return {};
  const std::string_view element = to_string(dtype);
  return {t.convert(found->make(t, t.convert("%a0", element, "f64")), "f64", element)};
}

Values infinite(const ir::Op& op, Lines& t) {
  const DType dtype = op.operand(0)->type().dtype();
  if (!is_floating(dtype)) return {};
  V x = t.convert("%a0", to_string(dtype), "f64");
  if (op.kind() == K::kChloIsInf) x = t.one("abs", x);
  V limit = t.infinity();
  if (op.kind() == K::kChloIsNegInf) limit = t.one("negate", limit);
  return {t.compare("EQ", x, limit)};
}

Values conj(const ir::Op& op, Lines& t) {
  const DType dtype = op.operand(0)->type().dtype();
  if (!is_complex(dtype)) return {"%a0"};
  const std::string whole = op.operand(0)->type().to_string(),
                    part = t.type(dtype == DType::kC64 ? "f32" : "f64");
  const auto half = [&](const char* name) {
    return t.add("stablehlo." + std::string(name) + " %a0 : (" + whole + ") -> " + part);
  };
  const V real = half("real"), imaginary = half("imag");
  const V turned = t.add("stablehlo.negate " + imaginary + " : " + part);
  return {t.add("stablehlo.complex " + real + ", " + turned + " : (" + part + ", " + part +
                ") -> " + whole)};
}

// As many elements as there are, from the largest on, with their places.
Values top_k(const ir::Op& op, Lines& t) {
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
      t.add("\"stablehlo.sort\"(%a0, " + iota + ") <{dimension = " + last +
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

// By way of integers of twice the width.
Values mulhi(const ir::Op& op, Lines& t) {
  const DType dtype = op.operand(0)->type().dtype();
  const int bits = bit_width(dtype);
  if ((!is_signed_integer(dtype) && !is_unsigned_integer(dtype)) || bits > 32) return {};
  const std::string_view own = to_string(dtype), wide = is_signed_integer(dtype) ? "i64" : "ui64";
  const V product =
      t.two("multiply", t.convert("%a0", own, wide), t.convert("%a1", own, wide), wide);
  const V shift = t.add("stablehlo.constant dense<" + std::to_string(bits) + "> : " + t.type(wide));
  return {t.convert(t.two("shift_right_arithmetic", product, shift, wide), wide, own)};
}

// Of numbers of one sign, the order of their bits as integers is their own.
Values next_after(const ir::Op& op, Lines& t) {
  const DType dtype = op.operand(0)->type().dtype();
  const int bits = bit_width(dtype);
  if (!is_floating(dtype) || bits < 16) return {};
  const std::string element(to_string(dtype)), whole = "i" + std::to_string(bits);
  const auto cast = [&](const V& a, const std::string& from, const std::string& to) {
    return t.add("stablehlo.bitcast_convert " + a + " : (" + t.type(from) + ") -> " + t.type(to));
  };
  const auto integer = [&](std::int64_t x) {
    return t.add("stablehlo.constant dense<" + std::to_string(x) + "> : " + t.type(whole));
  };
  const V zero = t.number(0, element), one = integer(1);
  const V number = cast("%a0", element, whole);
  const V up = t.compare("GT", "%a1", "%a0", element),
          positive = t.compare("GT", "%a0", zero, element);
  const V away = t.compare("EQ", up, positive, "i1");
  const V moved = t.select(away, t.two("add", number, one, whole),
                           t.two("subtract", number, one, whole), whole);
  const V least = integer((std::numeric_limits<std::int64_t>::min() >> (64 - bits)) + 1);
  const V from_zero = t.select(up, one, least, whole);
  const V is_zero = t.compare("EQ", "%a0", zero, element);
  const V made = cast(t.select(is_zero, from_zero, moved, whole), whole, element);
  const V there = t.select(t.compare("EQ", "%a0", "%a1", element), "%a1", made, element);
  const V sum = t.two("add", "%a0", "%a1", element);
  const V nan = t.two("or", t.compare("NE", "%a0", "%a0", element),
                      t.compare("NE", "%a1", "%a1", element), "i1");
  return {t.select(nan, sum, there, element)};
}

constexpr std::string_view kBroadcast = "chlo.broadcast_";

// Both operands get the extents of the result; one of fewer dimensions is the last of them, unless
// broadcast_dimensions says otherwise.
Values broadcast(const ir::Op& op, Lines& t) {
  const std::string name(op.name().substr(kBroadcast.size()));
  if (name == "next_after" || name == "polygamma" || name == "zeta" || name == "select" ||
      op.operand_count() != 2)
    return {};
  const ir::Type result = op.result()->type();
  const auto given = op.ints("broadcast_dimensions");
  std::vector<std::string> operands, types;
  for (int i = 0; i < 2; ++i) {
    const ir::Type from = op.operand(i)->type();
    std::vector<std::int64_t> dims(static_cast<std::size_t>(from.rank()));
    for (std::size_t d = 0; d < dims.size(); ++d)
      dims[d] = result.rank() - from.rank() + static_cast<std::int64_t>(d);
    if (given && from.rank() < result.rank() && given->size() == dims.size()) dims = *given;
    const std::string own = "%a" + std::to_string(i);
    types.push_back(tensor(result.dims(), from.element().to_string()));
    operands.push_back(t.add("stablehlo.broadcast_in_dim " + own + ", dims = " + list(dims) +
                             " : (" + from.to_string() + ") -> " + types.back()));
  }
  std::string head = "\"stablehlo." + name + "\"(" + operands[0] + ", " + operands[1] + ")";
  if (name == "compare") {
    std::string attributes;
    for (const ir::NamedAttribute& a : op.attributes()) {
      if (a.name == "comparison_direction" || a.name == "compare_type")
        attributes +=
            (attributes.empty() ? "" : ", ") + std::string(a.name) + " = " + ir::print(a.value);
    }
    head += " <{" + attributes + "}>";
  }
  return {t.add(head + " : (" + types[0] + ", " + types[1] + ") -> " + result.to_string())};
}

Values expansion(const ir::Op& op, Lines& t) {
  switch (op.kind()) {
    case K::kChloTan:
      return {t.add("stablehlo.tan %a0 : " + op.result()->type().to_string())};
    case K::kChloSquare:
      return {t.add("stablehlo.multiply %a0, %a0 : " + op.result()->type().to_string())};
    case K::kChloConj:
      return conj(op, t);
    case K::kChloIsInf:
    case K::kChloIsPosInf:
    case K::kChloIsNegInf:
      return infinite(op, t);
    case K::kChloTopK:
      return top_k(op, t);
    case K::kChloMulhi:
      return mulhi(op, t);
    case K::kChloNextAfter:
      return next_after(op, t);
    case K::kChloConstant:
      if (const auto* value = op.attr<ir::DenseAttr>("value"); value != nullptr)
        return {t.add("stablehlo.constant " + ir::print(op.attr("value")))};
      return {};
    default:
      break;
  }
  if (op.name().starts_with(kBroadcast)) return broadcast(op, t);
  return op.operand_count() == 1 ? special(op, t) : Values();
}

bool is_closed(ir::Type type) {
  return type.is_tensor() && type.has_static_shape() && type.element().quant() == nullptr;
}

}  // namespace

std::optional<std::string> expand_chlo(const ir::Op& op, std::string_view name) {
  if (!op.name().starts_with("chlo.") || !op.regions().empty()) return std::nullopt;
  std::string arguments, results, types;
  for (int i = 0; i < op.operand_count(); ++i) {
    const ir::Type type = op.operand(i)->type();
    if (!is_closed(type)) return std::nullopt;
    arguments += (i == 0 ? "%a" : ", %a") + std::to_string(i) + ": " + type.to_string();
  }
  for (const ir::Value& v : op.results()) {
    if (!is_closed(v.type())) return std::nullopt;
    types += (types.empty() ? "" : ", ") + v.type().to_string();
  }
  Lines lines(op.result_count() == 0 ? std::span<const std::int64_t>()
                                     : op.result()->type().dims());
  const Values values = expansion(op, lines);
  if (values.empty()) return std::nullopt;
  for (const V& v : values) results += (results.empty() ? "" : ", ") + v;
  return "func.func private @\"" + std::string(name) + "\"(" + arguments + ") -> (" + types +
         ") {\n" + lines.text() + "  return " + results + " : " + types + "\n}\n";
}

}  // namespace millrace::devices::cpu::bytecode
