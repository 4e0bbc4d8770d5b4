#include "millrace/devices/stablehlo/ir/type.h"

#include <algorithm>
#include <bit>

#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::stablehlo::ir {
namespace {

// The largest nesting that the writer follows; the reader's limit is lower.
constexpr int kMaxDepth = 512;

// 8 TiB: no machine has it, and all values of the largest program together do not overflow.
constexpr std::size_t kMostBytes = std::size_t{1} << 43;

void append_quant(std::string& out, const QuantParameters& q) {
  out += "!quant.uniform<";
  // A signless storage type is written i8, with ui8 as u8: MLIR's own spelling of this type.
  std::string_view storage = to_string(q.storage);
  out += is_unsigned_integer(q.storage) ? storage.substr(1) : storage;
  out += '<' + std::to_string(q.storage_min) + ':' + std::to_string(q.storage_max) + ">:";
  out += to_string(q.expressed);
  if (q.axis >= 0) out += ':' + std::to_string(q.axis);
  out += q.axis >= 0 ? ", {" : ", ";
  for (std::size_t i = 0; i < q.scales.size(); ++i) {
    if (i != 0) out += ", ";
    append_float(out, DType::kF64, std::bit_cast<std::uint64_t>(q.scales[i]));
    out += ':' + std::to_string(q.zero_points[i]);
  }
  out += q.axis >= 0 ? "}>" : ">";
}

void append(std::string& out, Type type, int depth);

void append_types(std::string& out, std::span<const Type> types, int depth) {
  append_list(out, types, [&](Type type) { append(out, type, depth); });
}

void append_shaped(std::string& out, const TypeData& t, int depth) {
  out += t.kind == TypeKind::kMemRef ? "memref<" : "tensor<";
  if (t.kind == TypeKind::kUnranked) out += "*x";
  for (const std::int64_t dim : t.dims) {
    append_extent(out, dim);
    out += 'x';
  }
  append(out, t.element, depth);
  if (!t.bounds.empty()) append_bounds(out += ", ", t.bounds);
  if (!t.text.empty()) (out += ", ") += t.text;
  out += '>';
}

void append_function(std::string& out, std::span<const Type> inputs, std::span<const Type> results,
                     int depth) {
  out += '(';
  append_types(out, inputs, depth);
  out += ") -> ";
  const bool bare = results.size() == 1 && results[0].kind() != TypeKind::kFunction;
  if (!bare) out += '(';
  append_types(out, results, depth);
  if (!bare) out += ')';
}

void append(std::string& out, Type type, int depth) {
  if (!type || depth > kMaxDepth) {
    out += "<null>";
    return;
  }
  const TypeData& t = *type.data();
  switch (t.kind) {
    case TypeKind::kScalar:
      out += to_string(t.dtype);
      return;
    case TypeKind::kIndex:
      out += "index";
      return;
    case TypeKind::kNone:
      out += "none";
      return;
    case TypeKind::kToken:
      out += "!stablehlo.token";
      return;
    case TypeKind::kTensor:
    case TypeKind::kUnranked:
    case TypeKind::kMemRef:
      append_shaped(out, t, depth + 1);
      return;
    case TypeKind::kTuple:
    case TypeKind::kFuture:
      out += t.kind == TypeKind::kTuple ? "tuple<" : "!stablehlo.future<";
      append_types(out, t.members, depth + 1);
      out += '>';
      return;
    case TypeKind::kQuant:
      append_quant(out, *t.quant);
      return;
    case TypeKind::kFunction:
      append_function(out, t.members, t.results, depth + 1);
      return;
    case TypeKind::kOpaque:
      out += t.text;
      return;
  }
}

}  // namespace

bool Type::has_static_shape() const {
  return (kind() == TypeKind::kTensor || kind() == TypeKind::kMemRef) &&
         std::ranges::find(dims(), kDynamic) == dims().end();
}

std::optional<std::int64_t> Type::elements() const {
  if (kind() == TypeKind::kScalar) return 1;
  if (!has_static_shape()) return std::nullopt;
  // A zero dimension makes the product zero, however large the others are.
  if (std::ranges::find(dims(), 0) != dims().end()) return 0;
  std::int64_t product = 1;
  for (std::int64_t dim : dims()) {
    if (__builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return product;
}

std::optional<std::int64_t> Type::size_bytes() const {
  const auto count = elements();
  const auto width = static_cast<std::int64_t>(byte_width(dtype()));
  std::int64_t bytes = 0;
  if (!count || width == 0 || __builtin_mul_overflow(*count, width, &bytes)) return std::nullopt;
  return bytes;
}

int Type::arrays() const {
  if (kind() == TypeKind::kToken) return 0;
  if (kind() != TypeKind::kTuple && kind() != TypeKind::kFuture) return 1;
  int arrays = 0;
  for (const Type member : members()) arrays += member.arrays();
  return arrays;
}

std::optional<Shape> Type::shape() const {
  if (!is_tensor() || dtype() == DType::kInvalid || rank() > kMaxRank || !size_bytes())
    return std::nullopt;
  return Shape(dtype(), dims());
}

std::string Type::to_string() const {
  std::string out;
  append(out, *this, 0);
  return out;
}

void append_extent(std::string& out, std::int64_t extent) {
  extent == kDynamic ? void(out += '?') : append_number(out, extent);
}

void append_bounds(std::string& out, std::span<const std::int64_t> bounds) {
  out += "#stablehlo.bounds<";
  append_list(out, bounds, [&](std::int64_t bound) { append_extent(out, bound); });
  out += '>';
}

void append_function(std::string& out, std::span<const Type> inputs,
                     std::span<const Type> results) {
  append_function(out, inputs, results, 0);
}

std::optional<Shape> memory_shape(Type type) {
  if (!type.is_tensor() || !type.has_static_shape() || type.rank() > kMaxRank) return std::nullopt;
  const QuantParameters* quant = type.element().quant();
  const DType dtype = quant != nullptr ? quant->storage : type.dtype();
  if (bit_width(dtype) == 0 || !type.elements()) return std::nullopt;
  // An empty array, too, has steps from one element to the next, which are computed with.
  std::int64_t bytes = static_cast<std::int64_t>(byte_width(dtype));
  for (const std::int64_t dim : type.dims()) {
    if (dim != 0 && __builtin_mul_overflow(bytes, dim, &bytes)) return std::nullopt;
  }
  const Shape shape(dtype, type.dims());
  if (shape.size_bytes() > kMostBytes) return std::nullopt;
  return shape;
}

}  // namespace millrace::devices::stablehlo::ir
