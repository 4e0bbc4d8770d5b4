// The encodings of types: those of VHLO, and those of MLIR's own dialect, as far as portable
// artifacts hold them: the types around operations of other dialects.
#include <cmath>

#include "millrace/devices/stablehlo/bytecode/entries.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using ir::Type;
using ir::TypeKind;
using ir::TypeTable;

template <Type (TypeTable::*Make)()>
Type read_plain(Entries& entries, ByteCursor&) {
  return (entries.module().types().*Make)();
}

template <Type (TypeTable::*Make)(std::span<const Type>)>
Type read_members(Entries& entries, ByteCursor& in) {
  return (entries.module().types().*Make)(entries.types(in));
}

// Width and, in the lowest two bits, no sign, a sign or none at all.
Type read_integer(Entries& entries, ByteCursor& in) {
  const std::uint64_t raw = in.varint();
  const std::string name = ((raw & 3) == 2 ? "ui" : "i") + std::to_string(raw >> 2);
  const auto dtype = dtype_from_string(name);
  if (!dtype) in.fail("an integer type of " + std::to_string(raw >> 2) + " bits");
  return entries.module().types().scalar(*dtype);
}

// The element type of a scalar; kInvalid of any other.
DType dtype_of_scalar(Type type) {
  return type.kind() == TypeKind::kScalar ? type.dtype() : DType::kInvalid;
}

Type read_complex(Entries& entries, ByteCursor& in) {
  const Type part = entries.type(in);
  const DType dtype = dtype_of_scalar(part);
  if (dtype != DType::kF32 && dtype != DType::kF64)
    in.fail("complex numbers of " + part.to_string().substr(0, 80));
  return entries.module().types().scalar(dtype == DType::kF32 ? DType::kC64 : DType::kC128);
}

Type read_function(Entries& entries, ByteCursor& in) {
  const std::vector<Type> inputs = entries.types(in);
  const std::vector<Type> results = entries.types(in);
  return entries.module().types().function(inputs, results);
}

Type read_element(Entries& entries, ByteCursor& in) {
  const Type type = entries.type(in);
  const TypeKind kind = type.kind();
  if (kind != TypeKind::kScalar && kind != TypeKind::kIndex && kind != TypeKind::kQuant &&
      kind != TypeKind::kOpaque) {
    in.fail("an array of elements of type " + type.to_string().substr(0, 80));
  }
  return type;
}

// Dimensions, some of which may be dynamic.
std::vector<std::int64_t> read_dims(ByteCursor& in) {
  std::vector<std::int64_t> dims = in.svarints();
  for (const std::int64_t dim : dims) {
    if (dim < 0 && dim != ir::kDynamic)
      in.fail("a dimension of " + std::to_string(dim) + " elements");
  }
  return dims;
}

Type read_tensor(Entries& entries, ByteCursor& in) {
  const std::vector<std::int64_t> dims = read_dims(in);
  return entries.module().types().tensor(dims, read_element(entries, in));
}

Type read_buffer(Entries& entries, ByteCursor& in) {
  const std::vector<std::int64_t> dims = read_dims(in);
  return entries.module().types().memref(dims, read_element(entries, in));
}

Type read_bounded_tensor(Entries& entries, ByteCursor& in) {
  const ir::Attribute encoding = entries.attribute(in);
  const std::vector<std::int64_t> dims = read_dims(in);
  const Type element = read_element(entries, in);
  const auto* bounds = encoding.as<ir::BoundsAttr>();
  if (bounds == nullptr || bounds->bounds.size() != dims.size())
    in.fail("a tensor whose encoding is not one bound for each dimension");
  return entries.module().types().tensor(dims, element, bounds->bounds);
}

Type read_unranked(Entries& entries, ByteCursor& in) {
  return entries.module().types().unranked(read_element(entries, in));
}

double read_scale(ByteCursor& in) {
  const double scale = read_double(in);
  if (!std::isfinite(scale)) in.fail("a scale that is no finite number");
  return scale;
}

// Flag 1 says that the storage is signed; integers of a storage type have no sign of their own.
ir::QuantParameters read_storage(Entries& entries, ByteCursor& in) {
  ir::QuantParameters q;
  const std::uint64_t flags = in.varint();
  const DType stored = dtype_of_scalar(entries.type(in));
  q.expressed = dtype_of_scalar(entries.type(in));
  if ((is_signed_integer(stored) || is_unsigned_integer(stored)) && bit_width(stored) <= 32) {
    const std::string sign = (flags & 1) != 0 ? "i" : "ui";
    q.storage = dtype_from_string(sign + std::to_string(bit_width(stored))).value_or(stored);
  }
  if (q.storage == DType::kInvalid || q.expressed == DType::kInvalid || flags > 1)
    in.fail("a quantised type that is not stored as an integer of 32 bits at most");
  return q;
}

Type read_quant(Entries& entries, ByteCursor& in) {
  ir::QuantParameters q = read_storage(entries, in);
  const double scale = read_scale(in);
  const std::int64_t zero_point = in.svarint();
  q.storage_min = in.svarint();
  q.storage_max = in.svarint();
  q.scales = {&scale, 1};
  q.zero_points = {&zero_point, 1};
  return entries.module().types().quant(q);
}

Type read_quant_per_axis(Entries& entries, ByteCursor& in) {
  ir::QuantParameters q = read_storage(entries, in);
  const std::uint64_t axis = in.varint();
  q.storage_min = in.svarint();
  q.storage_max = in.svarint();
  const std::vector<double> scales = in.list([&] { return read_scale(in); });
  if (axis > 1'000'000 || scales.empty()) in.fail("a quantised type without its scales");
  const std::vector<std::int64_t> zero_points = in.svarints();
  if (zero_points.size() != scales.size()) in.fail("as many zero points as scales are expected");
  q.axis = static_cast<int>(axis);
  q.scales = scales;
  q.zero_points = zero_points;
  return entries.module().types().quant(q);
}

struct Row {
  int vhlo;
  int builtin;
  Type (*read)(Entries&, ByteCursor&);
};

constexpr int kNone = -1;
constexpr Row kRows[] = {
    {TypeCode::kTensor, 13, read_tensor},
    {TypeCode::kFunction, 2, read_function},
    {TypeCode::kComplex, 9, read_complex},
    {TypeCode::kBoundedTensor, kNone, read_bounded_tensor},
    {TypeCode::kIndex, 1, read_plain<&TypeTable::index>},
    {TypeCode::kToken, kNone, read_plain<&TypeTable::token>},
    {TypeCode::kTuple, 15, read_members<&TypeTable::tuple>},
    {TypeCode::kQuant, kNone, read_quant},
    {TypeCode::kUnranked, kNone, read_unranked},
    {TypeCode::kQuantPerAxis, kNone, read_quant_per_axis},
    {TypeCode::kNone, 12, read_plain<&TypeTable::none>},
    {TypeCode::kBuffer, kNone, read_buffer},
    {TypeCode::kFuture, kNone, read_members<&TypeTable::future>},
    {TypeCode::kWitness, kNone,
     [](Entries& entries, ByteCursor&) {
       return entries.module().types().opaque("!shape.witness");
     }},
    {kNone, kBuiltinIntegerType, read_integer},
};
// MLIR's own, in the order of their codes, of which this is the first.
constexpr std::uint64_t kFirstFloat = 3;
constexpr DType kFloats[] = {DType::kBF16, DType::kF16, DType::kF32, DType::kF64};

}  // namespace

Type decode_type(Entries& entries, ByteCursor& in, Dialect dialect) {
  const std::uint64_t code = in.varint();
  for (const ScalarCode& scalar : kScalarCodes) {
    if (scalar.code == code && dialect == Dialect::kVhlo)
      return entries.module().types().scalar(scalar.type);
  }
  for (const Row& row : kRows) {
    if (std::cmp_equal(dialect == Dialect::kVhlo ? row.vhlo : row.builtin, code))
      return row.read(entries, in);
  }
  if (dialect == Dialect::kVhlo) fail_unknown(in, "type", code);
  if (code >= kFirstFloat && code - kFirstFloat < std::size(kFloats))
    return entries.module().types().scalar(kFloats[code - kFirstFloat]);
  return entries.module().types().opaque("!builtin.unread<" + std::to_string(code) + ">");
}

}  // namespace millrace::devices::stablehlo::bytecode
