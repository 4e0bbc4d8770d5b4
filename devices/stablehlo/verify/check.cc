#include "millrace/devices/stablehlo/verify/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::stablehlo::verify {

unsigned element_class(DType type) {
  if (type == DType::kI1) return kBool;
  if (is_signed_integer(type)) return kSigned;
  if (is_unsigned_integer(type)) return kUnsigned;
  if (is_floating(type)) return kFloat;
  if (is_complex(type)) return kComplex;
  return 0;
}

DType expressed_dtype(ir::Type type) {
  const ir::QuantParameters* q = type.element().quant();
  return q != nullptr ? q->expressed : type.dtype();
}

DType storage_dtype(ir::Type type) {
  const ir::QuantParameters* q = type.element().quant();
  return q != nullptr ? q->storage : type.dtype();
}

namespace {

// Whether a scale lies between the smallest and the largest number of the type that it expresses.
bool has_scale(DType type, double scale) {
  std::uint64_t largest = ir::encode_float(type, std::numeric_limits<double>::infinity());
  if (!std::isfinite(ir::decode_float(type, largest))) --largest;
  return scale >= ir::decode_float(type, 1) && scale <= ir::decode_float(type, largest);
}

std::string quantisation_fault(const ir::QuantParameters& q, ir::Type type) {
  const bool is_signed = is_signed_integer(q.storage);
  if (!is_signed && !is_unsigned_integer(q.storage))
    return ir::message("its elements are stored as ", q.storage, ", expected an integer");
  if (!is_floating(q.expressed))
    return ir::message("its elements express ", q.expressed, ", expected a float");
  const int bits = bit_width(q.storage);
  const std::int64_t least = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  const std::int64_t most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (bits > 32 || q.storage_min < least || q.storage_max > most || q.storage_min > q.storage_max)
    return ir::message("its storage from ", q.storage_min, " to ", q.storage_max,
                       " does not fit in ", q.storage);
  if (q.scales.empty() || q.scales.size() != q.zero_points.size())
    return ir::message("found ", q.scales.size(), " scales and ", q.zero_points.size(),
                       " zero points, expected as many of both");
  for (const double scale : q.scales) {
    if (!(scale > 0) || !std::isfinite(scale)) return "a scale is not positive and finite";
    if (!has_scale(q.expressed, scale))
      return ir::message("a scale is out of the range of ", q.expressed);
  }
  for (const std::int64_t zero : q.zero_points) {
    if (zero < q.storage_min || zero > q.storage_max)
      return ir::message("the zero point ", zero, " is outside of the storage");
  }
  if (q.axis < 0)
    return q.scales.size() == 1 ? "" : "found several scales, expected one without an axis";
  if (!type.is_tensor()) return "";
  if (q.axis >= type.rank())
    return ir::message("its quantised axis is ", q.axis, ", expected less than the rank ",
                       type.rank());
  const std::int64_t extent = type.dim(q.axis);
  if (agree(extent, static_cast<std::int64_t>(q.scales.size()))) return "";
  return ir::message("found ", q.scales.size(), " scales, expected the ", extent, " of its axis ",
                     q.axis);
}

// Whether a body on `to` may combine elements of `from`: of the same class, and no wider. Both are
// element types.
bool is_promotable(ir::Type from, ir::Type to) {
  if (from == to) return true;
  const ir::QuantParameters *p = from.quant(), *q = to.quant();
  if (p != nullptr || q != nullptr) {
    return p != nullptr && q != nullptr && p->expressed == q->expressed &&
           bit_width(p->storage) <= bit_width(q->storage);
  }
  const auto class_of = [](ir::Type type) {
    const unsigned c = element_class(type.dtype());
    return (c & kInteger) != 0 ? unsigned{kInteger} : c;
  };
  return class_of(from) != 0 && class_of(from) == class_of(to) &&
         bit_width(from.dtype()) <= bit_width(to.dtype());
}

}  // namespace

std::string type_fault(ir::Type type) {
  if (type.kind() == ir::TypeKind::kTuple || type.kind() == ir::TypeKind::kFuture) {
    for (const ir::Type member : type.members()) {
      if (std::string fault = type_fault(member); !fault.empty()) return fault;
    }
    return "";
  }
  if (!type.is_tensor() && type.kind() != ir::TypeKind::kUnranked) return "";
  if (type.dtype() == DType::kTF32)
    return "tf32 is a precision of dot_general's algorithms, not an element that memory holds: "
           "expected f32";
  const ir::QuantParameters* q = type.element().quant();
  return q != nullptr ? quantisation_fault(*q, type) : "";
}

bool compatible(ir::Type a, ir::Type b) {
  if (a == b) return true;
  if (!a.is_tensor() || !b.is_tensor()) {
    return a.kind() == ir::TypeKind::kUnranked || b.kind() == ir::TypeKind::kUnranked;
  }
  return a.element() == b.element() && std::ranges::equal(a.dims(), b.dims(), agree);
}

bool Check::counts(int operands, int count) {
  if (op.operand_count() == operands) return results(count);
  return fail("found ", op.operand_count(), " operands, expected ", operands);
}

bool Check::at_least_operands(int count) {
  return op.operand_count() >= count ||
         fail("found ", op.operand_count(), " operands, expected at least ", count);
}

bool Check::results(int count) {
  return op.result_count() == count ||
         fail("found ", op.result_count(), " results, expected ", count);
}

bool Check::regions(int count) {
  return op.regions().size() == static_cast<std::size_t>(count) ||
         fail("found ", op.regions().size(), " regions, expected ", count);
}

bool Check::required_ints(std::string_view name, Dims* out) {
  auto found = op.ints(name);
  if (!found) return fail("the attribute ", name, " is missing or no list of integers");
  *out = std::move(*found);
  return true;
}

bool Check::ints(std::string_view name, std::size_t count, Dims* out,
                 std::optional<std::int64_t> otherwise) {
  if (!op.attr(name) && otherwise) {
    out->assign(count, *otherwise);
    return true;
  }
  return required_ints(name, out) &&
         (out->size() == count ||
          fail("found ", out->size(), " numbers in ", name, ", expected ", count));
}

bool Check::padding(std::size_t rank, Dims* out) {
  return table_of_i64("padding") && ints("padding", rank * 2, out, 0);
}

bool Check::table_of_i64(std::string_view name) {
  const auto* dense = op.attr<ir::DenseAttr>(name);
  return dense == nullptr || dense->type.dtype() == DType::kI64 ||
         fail(name, " is ", dense->type, ", expected elements of i64");
}

bool Check::axes(Ints list, Ints more, int rank, std::string_view what) {
  std::vector<bool> seen(static_cast<std::size_t>(rank));
  for (const Ints part : {list, more}) {
    for (const std::int64_t axis : part) {
      if (axis < 0 || axis >= rank) {
        return fail("found ", axis, " in ", what, ", expected 0 to ", rank - 1, " (rank ", rank,
                    ")");
      }
      const auto i = static_cast<std::size_t>(axis);
      if (seen[i]) return fail("found ", axis, " twice in ", what);
      seen[i] = true;
    }
  }
  return true;
}

bool Check::integer(std::string_view name, std::int64_t low, std::int64_t high, std::int64_t* out) {
  const auto* value = op.attr<ir::IntegerAttr>(name);
  if (value == nullptr) return fail("the attribute ", name, " is missing or no integer");
  *out = value->value;
  return (*out >= low && *out <= high) ||
         fail("found ", name, " = ", *out, ", expected ", low, " to ", high);
}

bool Check::enumerated(std::string_view name, ir::EnumClass enum_class, std::string_view noun) {
  const auto* value = op.attr<ir::EnumAttr>(name);
  return (value != nullptr && value->enum_class == enum_class) ||
         fail("the attribute ", name, " is missing or no ", noun);
}

bool Check::element_in(ir::Type type, unsigned classes, std::string_view what) {
  if ((element_class(expressed_dtype(type)) & classes) != 0) return true;
  std::string names;
  const auto add = [&](unsigned c, std::string_view name) {
    if ((classes & c) == c) (names += names.empty() ? "" : ", ") += name;
  };
  add(kBool, "i1");
  add(kSigned, "signed integer");
  add(kUnsigned, "unsigned integer");
  add(kFloat, "float");
  add(kComplex, "complex");
  return fail(what, " is ", type, ", expected elements of ", names);
}

bool Check::not_quantised(ir::Type type, std::string_view what) {
  return type.element().quant() == nullptr ||
         fail(what, " is ", type, ", expected no quantised elements");
}

bool Check::same_element(ir::Type found, ir::Type expected, std::string_view what) {
  return found.element() == expected.element() ||
         fail(what, " has elements of ", found.element(), ", expected ", expected.element());
}

int Check::moved_axis() const {
  const ir::QuantParameters* const from = operand(0).element().quant();
  const ir::QuantParameters* const to = result().element().quant();
  const bool moved = from != nullptr && to != nullptr && from->axis >= 0 && to->axis >= 0 &&
                     from->axis < operand(0).rank();
  return moved ? from->axis : -1;
}

bool Check::moved_element(int axis) {
  if (moved_axis() < 0) return same_element(result(), operand(0), "the result");
  const ir::QuantParameters* const from = operand(0).element().quant();
  const ir::QuantParameters* const to = result().element().quant();
  if (to->axis != axis && axis < 0) {
    return fail("the result is quantised along dimension ", to->axis,
                ", expected one scale, for the operand's dimension ", from->axis,
                " is no dimension of it");
  }
  if (to->axis != axis) {
    return fail("the result is quantised along dimension ", to->axis, ", expected ", axis,
                ", where the operand's ", from->axis, " has gone");
  }
  const auto same_or_repeated = [](const auto& few, const auto& many) {
    if (few.size() != 1) return std::ranges::equal(few, many);
    return std::ranges::all_of(many, [&](const auto& one) { return one == few[0]; });
  };
  return (from->storage == to->storage && from->expressed == to->expressed &&
          from->storage_min == to->storage_min && from->storage_max == to->storage_max &&
          same_or_repeated(from->scales, to->scales) &&
          same_or_repeated(from->zero_points, to->zero_points)) ||
         fail("the result has elements of ", result().element(),
              ", which is no other place of the operand's ", operand(0).element());
}

bool Check::per_tensor(int i) {
  const ir::QuantParameters* const q = operand(i).element().quant();
  return q == nullptr || q->axis < 0 ||
         fail("operand ", i, " is ", operand(i), ", expected one scale for all of it");
}

bool Check::same_dims(Ints found, Ints expected, std::string_view what) {
  return std::ranges::equal(found, expected, agree) ||
         fail(what, " has the shape ", found, ", expected ", expected);
}

bool Check::same_shape_and_element(ir::Type found, ir::Type expected, std::string_view what) {
  return same_element(found, expected, what) && same_dims(found.dims(), expected.dims(), what);
}

bool Check::agree_at(Ints left, Ints right, std::string_view what, int other) {
  if (left.size() != right.size()) {
    return fail("found ", left.size(), " ", what, " dimensions on the left and ", right.size(),
                " on the right, expected the same number");
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::int64_t a = operand(0).dim(left[i]), b = operand(other).dim(right[i]);
    if (agree(a, b)) continue;
    return fail(what, " dimension ", left[i], " on the left is ", a, ", dimension ", right[i],
                " on the right ", b, ": expected the same");
  }
  return true;
}

bool Check::scalar(ir::Type type, std::string_view what) {
  return (type.is_tensor() && type.rank() == 0) ||
         fail(what, " is ", type, ", expected a scalar tensor");
}

bool Check::result_dims(int i, Ints expected) {
  if (!same_dims(result(i).dims(), expected, result_name(i))) return false;
  if (inferred_ == nullptr) return true;
  Dims& dims = (*inferred_)[static_cast<std::size_t>(i)];
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (expected[d] != ir::kDynamic) dims[d] = expected[d];
  }
  return true;
}

bool Check::result_like(int i, ir::Type expected) {
  return same_element(result(i), expected, result_name(i)) && result_dims(i, expected.dims());
}

bool Check::region_types(int i, std::span<const ir::Type> arguments,
                         std::span<const ir::Type> returned) {
  const ir::Block& block = op.region(i).block();
  const ir::Op& end = *block.terminator();
  const auto where = [&] { return ir::message(" for region ", i, " of ", op.where()); };
  if (block.arguments().size() != arguments.size()) {
    return fail("region ", i, " has ", block.argument_count(), " arguments, expected ",
                arguments.size());
  }
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const ir::Type found = block.arguments()[k].type();
    if (arguments[k] && !compatible(found, arguments[k]))
      return fail("argument ", k, " of region ", i, " is ", found, ", expected ", arguments[k]);
  }
  if (end.operands().size() != returned.size())
    return fail_at(end, "found ", end.operand_count(), " values, expected ", returned.size(),
                   where());
  for (std::size_t k = 0; k < returned.size(); ++k) {
    const ir::Type found = end.operands()[k]->type();
    if (returned[k] && !compatible(found, returned[k]))
      return fail_at(end, "value ", k, " is ", found, ", expected ", returned[k], where());
  }
  return true;
}

bool Check::takes_scalars(int i, std::span<const ir::Type> elements, std::size_t values,
                          std::string_view what) {
  if (!region_types(i, std::vector<ir::Type>(elements.size()), std::vector<ir::Type>(values)))
    return false;
  const ir::Block& block = op.region(i).block();
  return all(block.argument_count(), [&](int k) {
    return scalar_of(block.argument(k)->type(), elements[static_cast<std::size_t>(k)],
                     ir::message("argument ", k, " of ", what));
  });
}

bool Check::reducer(int region, std::span<const ir::Type> elements,
                    std::span<const ir::Type> arrays) {
  const std::size_t n = elements.size();
  const ir::Block& block = op.region(region).block();
  if (!region_types(region, std::vector<ir::Type>(n * 2), std::vector<ir::Type>(n))) return false;
  const auto element = [&](int k) { return elements[static_cast<std::size_t>(k) % n]; };
  const auto argument = [&](int k) { return block.argument(k)->type(); };
  const auto name = [](int k) { return ir::message("argument ", k, " of the body"); };
  // What it gives it gets again.
  const bool fits =
      all(block.argument_count(), [&](int k) { return scalar(argument(k), name(k)); }) &&
      all(static_cast<int>(n),
          [&](int k) {
            return scalar_of(block.terminator()->operand(k)->type(), element(k),
                             ir::message("value ", k, " of the body"));
          }) &&
      all(block.argument_count(),
          [&](int k) { return same_element(argument(k), element(k), name(k)); });
  for (std::size_t k = 0; fits && k < arrays.size() && n != 0; ++k) {
    const ir::Type from = arrays[k].element(), to = elements[k % n].element();
    if (!is_promotable(from, to)) {
      return fail("an array has elements of ", from, ", its body works on ", to,
                  ": expected the same or a wider type of that kind");
    }
  }
  return fits;
}

}  // namespace millrace::devices::stablehlo::verify
