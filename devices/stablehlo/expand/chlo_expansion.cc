#include "millrace/devices/stablehlo/expand/chlo_expansion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "millrace/devices/stablehlo/ir/scan.h"

namespace millrace::devices::stablehlo::expand {
namespace {

using K = ir::OpKind;
using X = Expression;

// Each function gives the values that an expansion returns; none if there is no expansion.

ComplexExpression parts_of(const X& z) {
  Builder& t = z.builder();
  const ir::Type half =
      t.like(z.type(), z.type().dtype() == DType::kC64 ? DType::kF32 : DType::kF64);
  return {convert(t.make(K::kReal, {z}, half), DType::kF64),
          convert(t.make(K::kImag, {z}, half), DType::kF64)};
}
X complex(const ComplexExpression& parts, ir::Type type) {
  const DType half = type.dtype() == DType::kC64 ? DType::kF32 : DType::kF64;
  return parts.re.builder().make(K::kComplex, {convert(parts.re, half), convert(parts.im, half)},
                                 type);
}

Expressions special(const ir::Op& op, const X& x) {
  const DType dtype = x.type().dtype();
  if (is_complex(dtype)) {
    const auto made = complex_function(op.kind(), parts_of(x));
    return made ? Expressions{complex(*made, x.type())} : Expressions();
  }
  if (!is_floating(dtype)) return {};
  const auto made = real_function(op.kind(), convert(x, DType::kF64));
  return made ? Expressions{convert(*made, dtype)} : Expressions();
}

Expressions special_of_two(K kind, const Expressions& in) {
  const DType dtype = in[0].type().dtype();
  if (!is_floating(dtype)) return {};
  const X a = convert(in[0], DType::kF64), b = convert(in[1], DType::kF64);
  return {convert(kind == K::kChloZeta ? zeta(a, b) : polygamma(a, b), dtype)};
}

Expressions infinite(K kind, const X& given) {
  if (!is_floating(given.type().dtype())) return {};
  const X x = convert(given, DType::kF64);
  return {equals(kind == K::kChloIsInf ? abs(x) : x,
                 kind == K::kChloIsNegInf ? -kInfinity : kInfinity)};
}

Expressions conj(const X& z) {
  if (!is_complex(z.type().dtype())) return {z};
  const ComplexExpression parts = parts_of(z);
  return {complex({parts.re, -parts.im}, z.type())};
}

// As many elements as there are, from the largest on, with their places.
Expressions top_k(const ir::Op& op, const X& x) {
  Builder& t = x.builder();
  const ir::Type type = x.type();
  const DType dtype = type.dtype();
  if (type.rank() == 0 || is_complex(dtype)) return {};
  const ir::Type types[] = {type, t.like(type, op.result(1)->type().dtype())};
  const ir::NamedAttribute attributes[] = {
      {"dimension", t.module().integer(type.rank() - 1)},
      {"is_stable", t.module().attribute(ir::BoolAttr{{}, true})}};
  ir::Op* const sort =
      t.add(K::kSort, {x, t.iota(types[1], type.rank() - 1)}, types, attributes, 1);
  std::vector<ir::Type> scalars;
  for (const int i : {0, 0, 1, 1})
    scalars.push_back(t.module().types().tensor({}, types[i].element()));
  const auto order = is_floating(dtype)         ? ir::ComparisonType::kTotalOrder
                     : is_signed_integer(dtype) ? ir::ComparisonType::kSigned
                                                : ir::ComparisonType::kUnsigned;
  t.fill(sort->region(), scalars, [&](const Expressions& v) {
    return Expressions{compare(ir::ComparisonDirection::kGt, v[0], v[1], order)};
  });
  Expressions first;
  for (const X& sorted : t.results_of(*sort)) {
    const ir::Type part = op.result(static_cast<int>(first.size()))->type();
    const auto rank = static_cast<std::size_t>(part.rank());
    first.push_back(t.make(K::kSlice, {sorted}, part,
                           {{"start_indices", t.ints(Numbers(rank, 0))},
                            {"limit_indices", t.ints({part.dims().begin(), part.dims().end()})},
                            {"strides", t.ints(Numbers(rank, 1))}}));
  }
  return first;
}

// The upper half of a product of 64 bits by way of the products of halves; of signed factors what
// their signs add to the product of their bits is taken away.
X mulhi_of_64(const X& a, const X& b) {
  const DType dtype = a.type().dtype();
  const bool is_signed = is_signed_integer(dtype);
  const auto high = [](const X& v) { return binary(K::kShiftRightLogical, v, 32); };
  const auto low = [](const X& v) { return v & 4294967295.0; };
  const X x = is_signed ? bitcast(a, DType::kU64) : a, y = is_signed ? bitcast(b, DType::kU64) : b;
  const X low_low = low(x) * low(y), low_high = low(x) * high(y), high_low = high(x) * low(y),
          high_high = high(x) * high(y);
  const X middle = high(low_low) + (low(low_high) + low(high_low));
  const X made = high_high + (high(middle) + (high(low_high) + high(high_low)));
  if (!is_signed) return made;
  return bitcast(made - (select(a < 0, y, 0) + select(b < 0, x, 0)), dtype);
}

// By way of integers of twice the width, where there are some.
Expressions mulhi(const Expressions& in) {
  const DType dtype = in[0].type().dtype();
  const int bits = bit_width(dtype);
  if ((!is_signed_integer(dtype) && !is_unsigned_integer(dtype)) || bits > 64) return {};
  if (bits == 64) return {mulhi_of_64(in[0], in[1])};
  const DType wide = is_signed_integer(dtype) ? DType::kI64 : DType::kU64;
  const X product = convert(in[0], wide) * convert(in[1], wide);
  return {convert(binary(K::kShiftRightArithmetic, product, bits), dtype)};
}

// Numbers of one sign have the order of their bits as integers.
Expressions next_after(const Expressions& in) {
  const X &x = in[0], &to = in[1];
  const DType dtype = x.type().dtype();
  const int bits = bit_width(dtype);
  if (!is_floating(dtype) || bits < 16) return {};
  const DType whole = bits == 16 ? DType::kI16 : bits == 32 ? DType::kI32 : DType::kI64;
  Builder& t = x.builder();
  const X number = bitcast(x, whole), up = to > x;
  const X away = equals(up, x > 0);
  const X moved = select(away, number + 1, number - 1);
  const std::int64_t least = (std::numeric_limits<std::int64_t>::min() >> (64 - bits)) + 1;
  const X from_zero = select(up, 1, t.constant(number.type(), static_cast<std::uint64_t>(least)));
  const X made = bitcast(select(equals(x, 0), from_zero, moved), dtype);
  const X there = select(equals(x, to), to, made);
  return {select(differs(x, x) | differs(to, to), x + to, there)};
}

// The operands with the extents of the result; one of fewer dimensions is the last of them, unless
// broadcast_dimensions says otherwise.
Expressions spread(const ir::Op& op, const Expressions& in) {
  const ir::Type result = op.result()->type();
  const auto given = op.ints("broadcast_dimensions");
  Expressions operands;
  for (const X& x : in) {
    Numbers dims(static_cast<std::size_t>(x.type().rank()));
    std::iota(dims.begin(), dims.end(), result.rank() - x.type().rank());
    if (given && x.type().rank() < result.rank() && given->size() == dims.size()) dims = *given;
    Builder& t = x.builder();
    operands.push_back(
        t.broadcast(x, dims, t.module().types().tensor(result.dims(), x.type().element())));
  }
  return operands;
}

Expressions constant_like(const ir::Op& op, Builder& t) {
  const ir::Type type = op.result()->type();
  const auto* f = op.attr<ir::FloatAttr>("value");
  const auto* i = op.attr<ir::IntegerAttr>("value");
  if (f != nullptr && is_floating(type.dtype()) && std::isfinite(f->value()))
    return {t.number(type, f->value())};
  if (i == nullptr || is_complex(type.dtype())) return {};
  return {is_floating(type.dtype()) ? t.number(type, static_cast<double>(i->value))
                                    : t.constant(type, static_cast<std::uint64_t>(i->value))};
}

Expressions expansion(const ir::Op& op, K kind, Builder& t, const Expressions& in) {
  const auto with = [&](std::initializer_list<std::string_view> names) {
    std::vector<ir::NamedAttribute> attributes;
    for (const std::string_view name : names) {
      if (op.attr(name)) attributes.push_back({name, op.attr(name)});
    }
    const ir::Type type = op.result()->type();
    return t.results_of(*t.add(kind, in, {&type, 1}, attributes));
  };
  switch (kind) {
    case K::kChloTan:
      return {unary(K::kTan, in[0])};
    case K::kChloSquare:
      return {in[0] * in[0]};
    case K::kChloConj:
      return conj(in[0]);
    case K::kChloIsInf:
    case K::kChloIsPosInf:
    case K::kChloIsNegInf:
      return infinite(kind, in[0]);
    case K::kChloTopK:
      return top_k(op, in[0]);
    case K::kChloMulhi:
      return mulhi(in);
    case K::kChloNextAfter:
      return next_after(in);
    case K::kChloZeta:
    case K::kChloPolygamma:
      return special_of_two(kind, in);
    case K::kChloRaggedDot:
      if (const auto made = ragged_dot(op, in)) return {*made};
      return {};
    case K::kChloConstantLike:
      return constant_like(op, t);
    case K::kChloConstant:
      kind = K::kConstant;
      return op.attr<ir::DenseAttr>("value") != nullptr ? with({"value"}) : Expressions();
    default:
      break;
  }
  // An operation of StableHLO is one that was broadcast.
  if (ir::to_string(kind).starts_with("stablehlo."))
    return with({"comparison_direction", "compare_type"});
  return in.size() == 1 ? special(op, in[0]) : Expressions();
}

// chlo.scan as a while that counts, with the outputs and the carried values; compile/lower.cc makes
// the same of it. Its results of the operands and what stands for `outer`.
Expressions expand_scan(const ir::Op& op, Builder& t, const Expressions& in,
                        std::span<ir::Value* const> outer) {
  const auto parts = ir::scan_parts_of(op);
  if (!parts || op.result_count() == 0) return {};
  const auto dimension = static_cast<std::size_t>(parts->dimension);
  const auto inputs = static_cast<std::size_t>(parts->inputs),
             outputs = static_cast<std::size_t>(parts->outputs), operands = op.operands().size(),
             results = op.results().size();
  const X zero = t.number(t.module().types().tensor({}, DType::kI32), 0);
  const X extent = X(static_cast<double>(parts->extent)).like(zero);
  Expressions carried = {zero};
  for (std::size_t i = 0; i < outputs; ++i) carried.push_back(t.number(op.results()[i].type(), 0));
  carried.insert(carried.end(), in.begin() + parts->inputs,
                 in.begin() + static_cast<std::ptrdiff_t>(operands));
  // The type of one place of an array: that dimension has one element.
  const auto thin = [&](ir::Type type) {
    Numbers dims(type.dims().begin(), type.dims().end());
    dims[dimension] = 1;
    return t.module().types().tensor(dims, type.element());
  };
  // These operands and where the place begins.
  const auto with_place = [&](Expressions values, const X& at) {
    const auto rank = static_cast<std::size_t>(values[0].type().rank());
    for (std::size_t d = 0; d < rank; ++d) values.push_back(d == dimension ? at : zero);
    return values;
  };
  const auto going = [&](const Expressions& c) {
    return compare(ir::ComparisonDirection::kLt, c[0], extent, ir::ComparisonType::kSigned);
  };
  const auto round = [&](const Expressions& c) {
    const X at = parts->reverse ? extent - 1 - c[0] : c[0];
    Builder::Copies copies;
    const auto arguments = op.region().block().arguments();
    for (std::size_t i = 0; i < operands; ++i) {
      if (i >= inputs) {
        copies[&arguments[i]] = c[1 + outputs + i - inputs].value();
        continue;
      }
      const ir::Type part = thin(in[i].type());
      const X slice = t.make(K::kDynamicSlice, with_place({in[i]}, at), part,
                             {{"slice_sizes", t.ints({part.dims().begin(), part.dims().end()})}});
      copies[&arguments[i]] = t.make(K::kReshape, {slice}, arguments[i].type()).value();
    }
    for (std::size_t i = 0; i < outer.size(); ++i) copies[outer[i]] = in[operands + i].value();
    Expressions next = {c[0] + 1};
    const Expressions given = t.copy(op.region().block(), copies);
    for (std::size_t i = 0; i < results; ++i) {
      if (i >= outputs) {
        next.push_back(given[i]);
        continue;
      }
      const X& whole = c[1 + i];
      const X part = t.make(K::kReshape, {given[i]}, thin(whole.type()));
      next.push_back(t.make(K::kDynamicUpdateSlice, with_place({whole, part}, at), whole.type()));
    }
    return next;
  };
  Expressions made = t.loop(carried, going, round);
  made.erase(made.begin());
  return made;
}

// Adds what the block, and all inside of it, reads of its surroundings.
void add_outer(const ir::Block& block, std::unordered_set<const ir::Value*>& known,
               std::vector<ir::Value*>& outer) {
  for (const ir::Value& argument : block.arguments()) known.insert(&argument);
  for (const ir::Op& op : block) {
    for (ir::Value* v : op.operands()) {
      if (known.insert(v).second) outer.push_back(v);
    }
    for (const ir::Region& region : op.regions()) {
      for (const ir::Block* inner : region.blocks()) add_outer(*inner, known, outer);
    }
    for (const ir::Value& v : op.results()) known.insert(&v);
  }
}

bool is_closed(ir::Type type) {
  return type.is_tensor() && type.has_static_shape() && type.element().quant() == nullptr;
}

}  // namespace

std::vector<ir::Value*> values_from_outside(const ir::Region& region) {
  std::unordered_set<const ir::Value*> known;
  std::vector<ir::Value*> outer;
  for (const ir::Block* block : region.blocks()) add_outer(*block, known, outer);
  return outer;
}

ir::Block* expand_chlo(ir::Module& module, const ir::Op& op, std::span<ir::Value* const> outer) {
  const bool is_scan = op.kind() == K::kChloScan;
  if (!op.name().starts_with("chlo.") || op.regions().empty() == is_scan) return nullptr;
  std::vector<ir::Type> types = ir::types_of(op.operands());
  for (const ir::Value* v : outer) types.push_back(v->type());
  if (!std::ranges::all_of(types, is_closed) ||
      !std::ranges::all_of(op.results(), is_closed, &ir::Value::type)) {
    return nullptr;
  }
  Builder t(module, types);
  Expressions in = t.arguments();
  const K kind = ir::without_broadcast(op.kind());
  if (kind != op.kind()) in = spread(op, in);
  const Expressions values = is_scan ? expand_scan(op, t, in, outer) : expansion(op, kind, t, in);
  if (values.empty()) return nullptr;
  t.add(K::kFuncReturn, values, {});
  return t.block();
}

}  // namespace millrace::devices::stablehlo::expand
