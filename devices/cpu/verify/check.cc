#include "millrace/devices/cpu/verify/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "millrace/devices/cpu/ir/float_format.h"

namespace millrace::devices::cpu::verify {

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
  if (!is_signed_integer(q.storage) && !is_unsigned_integer(q.storage))
    return "its elements are stored as " + std::string(to_string(q.storage)) +
           ", expected an integer";
  if (!is_floating(q.expressed))
    return "its elements express " + std::string(to_string(q.expressed)) + ", expected a float";
  const int bits = bit_width(q.storage);
  const bool is_signed = is_signed_integer(q.storage);
  const std::int64_t least = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  const std::int64_t most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (bits > 32 || q.storage_min < least || q.storage_max > most || q.storage_min > q.storage_max)
    return "its storage from " + std::to_string(q.storage_min) + " to " +
           std::to_string(q.storage_max) + " does not fit in " + std::string(to_string(q.storage));
  if (q.scales.empty() || q.scales.size() != q.zero_points.size())
    return "found " + std::to_string(q.scales.size()) + " scales and " +
           std::to_string(q.zero_points.size()) + " zero points, expected as many of both";
  for (const double scale : q.scales) {
    if (!(scale > 0) || !std::isfinite(scale)) return "a scale is not positive and finite";
    if (!has_scale(q.expressed, scale))
      return "a scale is out of the range of " + std::string(to_string(q.expressed));
  }
  for (const std::int64_t zero : q.zero_points) {
    if (zero < q.storage_min || zero > q.storage_max)
      return "the zero point " + std::to_string(zero) + " is outside of the storage";
  }
  if (q.axis < 0)
    return q.scales.size() == 1 ? "" : "found several scales, expected one without an axis";
  if (!type.is_tensor()) return "";
  if (q.axis >= type.rank())
    return "its quantised axis is " + std::to_string(q.axis) + ", expected less than the rank " +
           std::to_string(type.rank());
  const std::int64_t extent = type.dims()[static_cast<std::size_t>(q.axis)];
  if (!agree(extent, static_cast<std::int64_t>(q.scales.size())))
    return "found " + std::to_string(q.scales.size()) + " scales, expected the " +
           std::to_string(extent) + " of its axis " + std::to_string(q.axis);
  return "";
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

std::string to_string(std::span<const std::int64_t> dims) {
  if (dims.empty()) return "scalar";
  std::string out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) out += 'x';
    out += dims[i] == ir::kDynamic ? "?" : std::to_string(dims[i]);
  }
  return out;
}

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

bool compatible(ir::Type a, ir::Type b) {
  if (a == b) return true;
  if (!a.is_tensor() || !b.is_tensor()) {
    return a.kind() == ir::TypeKind::kUnranked || b.kind() == ir::TypeKind::kUnranked;
  }
  return a.element() == b.element() && std::ranges::equal(a.dims(), b.dims(), agree);
}

bool Check::fail(const std::string& message) { return fail_at(op, message); }

bool Check::fail_at(const ir::Op& where, const std::string& message) {
  if (!error_) error_.emplace(ErrorCode::kInvalidArgument, where.where() + ": " + message);
  return false;
}

bool Check::operands(int count) {
  return op.operand_count() == count || fail("found " + std::to_string(op.operand_count()) +
                                             " operands, expected " + std::to_string(count));
}

bool Check::at_least_operands(int count) {
  return op.operand_count() >= count ||
         fail("found " + std::to_string(op.operand_count()) + " operands, expected at least " +
              std::to_string(count));
}

bool Check::results(int count) {
  return op.result_count() == count || fail("found " + std::to_string(op.result_count()) +
                                            " results, expected " + std::to_string(count));
}

bool Check::regions(int count) {
  if (op.regions().size() != static_cast<std::size_t>(count)) {
    return fail("found " + std::to_string(op.regions().size()) + " regions, expected " +
                std::to_string(count));
  }
  return true;
}

bool Check::required_ints(std::string_view name, Dims* out) {
  auto found = op.ints(name);
  if (!found)
    return fail("the attribute " + std::string(name) + " is missing or no list of integers");
  *out = std::move(*found);
  return true;
}

bool Check::ints(std::string_view name, std::size_t count, Dims* out,
                 std::optional<std::int64_t> otherwise) {
  if (!op.attr(name) && otherwise) {
    out->assign(count, *otherwise);
    return true;
  }
  if (!required_ints(name, out)) return false;
  return out->size() == count || fail("found " + std::to_string(out->size()) + " numbers in " +
                                      std::string(name) + ", expected " + std::to_string(count));
}

bool Check::padding(std::size_t rank, Dims* out) {
  return table_of_i64("padding") && ints("padding", rank * 2, out, 0);
}

bool Check::table_of_i64(std::string_view name) {
  const auto* dense = op.attr<ir::DenseAttr>(name);
  return dense == nullptr || dense->type.dtype() == DType::kI64 ||
         fail(std::string(name) + " is " + dense->type.to_string() + ", expected elements of i64");
}

bool Check::axes(std::span<const std::int64_t> list, int rank, std::string_view what) {
  std::vector<bool> seen(static_cast<std::size_t>(rank));
  for (std::int64_t axis : list) {
    if (axis < 0 || axis >= rank) {
      return fail("found " + std::to_string(axis) + " in " + std::string(what) +
                  ", expected 0 to " + std::to_string(rank - 1) + " (rank " + std::to_string(rank) +
                  ")");
    }
    const auto i = static_cast<std::size_t>(axis);
    if (seen[i]) return fail("found " + std::to_string(axis) + " twice in " + std::string(what));
    seen[i] = true;
  }
  return true;
}

bool Check::integer(std::string_view name, std::int64_t low, std::int64_t high, std::int64_t* out) {
  const auto* value = op.attr<ir::IntegerAttr>(name);
  if (value == nullptr)
    return fail("the attribute " + std::string(name) + " is missing or no integer");
  *out = value->value;
  if (*out >= low && *out <= high) return true;
  return fail("found " + std::string(name) + " = " + std::to_string(*out) + ", expected " +
              std::to_string(low) + " to " + std::to_string(high));
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
  return fail(std::string(what) + " is " + type.to_string() + ", expected elements of " + names);
}

bool Check::not_quantised(ir::Type type, std::string_view what) {
  return type.element().quant() == nullptr ||
         fail(std::string(what) + " is " + type.to_string() + ", expected no quantised elements");
}

bool Check::same_element(ir::Type found, ir::Type expected, std::string_view what) {
  return found.element() == expected.element() ||
         fail(std::string(what) + " has elements of " + found.element().to_string() +
              ", expected " + expected.element().to_string());
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
  if (to->axis != axis) {
    return fail("the result is quantised along dimension " + std::to_string(to->axis) +
                (axis < 0 ? ", expected one scale, for the operand's dimension " +
                                std::to_string(from->axis) + " is no dimension of it"
                          : ", expected " + std::to_string(axis) + ", where the operand's " +
                                std::to_string(from->axis) + " has gone"));
  }
  const auto same_or_repeated = [](const auto& few, const auto& many) {
    if (few.size() != 1) return std::ranges::equal(few, many);
    return std::ranges::all_of(many, [&](const auto& one) { return one == few[0]; });
  };
  return (from->storage == to->storage && from->expressed == to->expressed &&
          from->storage_min == to->storage_min && from->storage_max == to->storage_max &&
          same_or_repeated(from->scales, to->scales) &&
          same_or_repeated(from->zero_points, to->zero_points)) ||
         fail("the result has elements of " + result().element().to_string() +
              ", which is no other place of the operand's " + operand(0).element().to_string());
}

bool Check::per_tensor(int i) {
  const ir::QuantParameters* const q = operand(i).element().quant();
  return q == nullptr || q->axis < 0 ||
         fail("operand " + std::to_string(i) + " is " + operand(i).to_string() +
              ", expected one scale for all of it");
}

bool Check::same_dims(std::span<const std::int64_t> found, std::span<const std::int64_t> expected,
                      std::string_view what) {
  return std::ranges::equal(found, expected, agree) ||
         fail(std::string(what) + " has the shape " + to_string(found) + ", expected " +
              to_string(expected));
}

bool Check::same_shape_and_element(ir::Type found, ir::Type expected, std::string_view what) {
  return same_element(found, expected, what) && same_dims(found.dims(), expected.dims(), what);
}

bool Check::scalar(ir::Type type, std::string_view what) {
  return (type.is_tensor() && type.rank() == 0) ||
         fail(std::string(what) + " is " + type.to_string() + ", expected a scalar tensor");
}

bool Check::result_dims(int i, std::span<const std::int64_t> expected, std::string_view what) {
  if (!same_dims(result(i).dims(), expected, what.empty() ? "result " + std::to_string(i) : what))
    return false;
  if (inferred_ == nullptr) return true;
  Dims& dims = (*inferred_)[static_cast<std::size_t>(i)];
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (expected[d] != ir::kDynamic) dims[d] = expected[d];
  }
  return true;
}

bool Check::result_like(int i, ir::Type expected, std::string_view what) {
  return same_element(result(i), expected, what) && result_dims(i, expected.dims(), what);
}

bool Check::region_types(int i, std::span<const ir::Type> arguments,
                         std::span<const ir::Type> returned) {
  const std::string name = "region " + std::to_string(i);
  const ir::Block& block = op.region(i).block();
  if (static_cast<std::size_t>(block.argument_count()) != arguments.size()) {
    return fail(name + " has " + std::to_string(block.argument_count()) + " arguments, expected " +
                std::to_string(arguments.size()));
  }
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const ir::Type found = block.argument(static_cast<int>(k))->type();
    if (arguments[k] && !compatible(found, arguments[k])) {
      return fail("argument " + std::to_string(k) + " of " + name + " is " + found.to_string() +
                  ", expected " + arguments[k].to_string());
    }
  }
  const ir::Op& end = *block.terminator();
  if (static_cast<std::size_t>(end.operand_count()) != returned.size()) {
    return fail_at(end, "found " + std::to_string(end.operand_count()) + " values, expected " +
                            std::to_string(returned.size()) + " for " + name + " of " + op.where());
  }
  for (std::size_t k = 0; k < returned.size(); ++k) {
    const ir::Type found = end.operand(static_cast<int>(k))->type();
    if (returned[k] && !compatible(found, returned[k])) {
      return fail_at(end, "value " + std::to_string(k) + " is " + found.to_string() +
                              ", expected " + returned[k].to_string() + " for " + name + " of " +
                              op.where());
    }
  }
  return true;
}

bool Check::reducer(int region, std::span<const ir::Type> elements,
                    std::span<const ir::Type> arrays) {
  const std::size_t n = elements.size();
  const ir::Block& block = op.region(region).block();
  std::vector<ir::Type> arguments(n * 2);
  if (!region_types(region, arguments, std::vector<ir::Type>(n))) return false;
  for (std::size_t k = 0; k < n * 2; ++k) {
    if (!scalar(block.argument(static_cast<int>(k))->type(),
                "argument " + std::to_string(k) + " of the body"))
      return false;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const ir::Type found = block.terminator()->operand(static_cast<int>(k))->type();
    if (!scalar(found, "value " + std::to_string(k) + " of the body") ||
        !same_element(found, elements[k], "value " + std::to_string(k) + " of the body")) {
      return false;
    }
  }
  // What it gives it gets again.
  for (std::size_t k = 0; k < n * 2; ++k) {
    if (!same_element(block.argument(static_cast<int>(k))->type(), elements[k % n],
                      "argument " + std::to_string(k) + " of the body"))
      return false;
  }
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const ir::Type from = arrays[k].element(), to = elements[k % n].element();
    if (!is_promotable(from, to)) {
      return fail("an array has elements of " + from.to_string() + ", its body works on " +
                  to.to_string() + ": expected the same or a wider type of that kind");
    }
  }
  return true;
}

}  // namespace millrace::devices::cpu::verify
