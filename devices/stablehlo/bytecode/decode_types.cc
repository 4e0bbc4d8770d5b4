// The encodings of types: those of VHLO, and those of MLIR's own dialect, as far as portable
// artifacts hold them: the types around operations of other dialects.
#include <bit>
#include <cmath>

#include "millrace/devices/stablehlo/bytecode/entries.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using ir::Type;
using ir::TypeKind;
using ir::TypeTable;

template <Type (TypeTable::*Make)()>
bool read_plain(Entries& entries, ByteCursor&, Type* out) {
  *out = (entries.module().types().*Make)();
  return true;
}

template <Type (TypeTable::*Make)(std::span<const Type>)>
bool read_members(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<Type> members;
  if (!entries.read(in, &members)) return false;
  *out = (entries.module().types().*Make)(members);
  return true;
}

// Width and, in the lowest two bits, no sign, a sign or none at all.
bool read_integer(Entries& entries, ByteCursor& in, Type* out) {
  std::uint64_t raw = 0;
  if (!in.varint(&raw)) return false;
  const std::string name = ((raw & 3) == 2 ? "ui" : "i") + std::to_string(raw >> 2);
  const auto dtype = dtype_from_string(name);
  if (!dtype) return in.fail("an integer type of " + std::to_string(raw >> 2) + " bits");
  *out = entries.module().types().scalar(*dtype);
  return true;
}

template <DType D>
bool read_scalar(Entries& entries, ByteCursor&, Type* out) {
  *out = entries.module().types().scalar(D);
  return true;
}

bool read_complex(Entries& entries, ByteCursor& in, Type* out) {
  Type part;
  if (!entries.read(in, &part)) return false;
  const DType dtype = part.kind() == TypeKind::kScalar ? part.dtype() : DType::kInvalid;
  if (dtype != DType::kF32 && dtype != DType::kF64)
    return in.fail("complex numbers of " + part.to_string().substr(0, 80));
  *out = entries.module().types().scalar(dtype == DType::kF32 ? DType::kC64 : DType::kC128);
  return true;
}

bool read_function(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<Type> inputs;
  std::vector<Type> results;
  if (!entries.read(in, &inputs) || !entries.read(in, &results)) return false;
  *out = entries.module().types().function(inputs, results);
  return true;
}

bool read_element(Entries& entries, ByteCursor& in, Type* out) {
  if (!entries.read(in, out)) return false;
  const TypeKind kind = out->kind();
  return kind == TypeKind::kScalar || kind == TypeKind::kIndex || kind == TypeKind::kQuant ||
         kind == TypeKind::kOpaque ||
         in.fail("an array of elements of type " + out->to_string().substr(0, 80));
}

// Dimensions, some of which may be dynamic, and the type of an element.
bool read_shape(Entries& entries, ByteCursor& in, std::vector<std::int64_t>* dims, Type* element) {
  if (!in.svarints(dims)) return false;
  for (const std::int64_t dim : *dims) {
    if (dim < 0 && dim != ir::kDynamic)
      return in.fail("a dimension of " + std::to_string(dim) + " elements");
  }
  return read_element(entries, in, element);
}

bool read_tensor(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<std::int64_t> dims;
  Type element;
  if (!read_shape(entries, in, &dims, &element)) return false;
  *out = entries.module().types().tensor(dims, element);
  return true;
}

bool read_buffer(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<std::int64_t> dims;
  Type element;
  if (!read_shape(entries, in, &dims, &element)) return false;
  *out = entries.module().types().memref(dims, element);
  return true;
}

bool read_bounded_tensor(Entries& entries, ByteCursor& in, Type* out) {
  ir::Attribute encoding;
  std::vector<std::int64_t> dims;
  Type element;
  if (!entries.read(in, &encoding) || !read_shape(entries, in, &dims, &element)) return false;
  const auto* bounds = encoding.as<ir::BoundsAttr>();
  if (bounds == nullptr || bounds->bounds.size() != dims.size())
    return in.fail("a tensor whose encoding is not one bound for each dimension");
  *out = entries.module().types().tensor(dims, element, bounds->bounds);
  return true;
}

bool read_unranked(Entries& entries, ByteCursor& in, Type* out) {
  Type element;
  if (!read_element(entries, in, &element)) return false;
  *out = entries.module().types().unranked(element);
  return true;
}

bool read_double(ByteCursor& in, double* out) {
  std::uint64_t bits = 0;
  if (!read_int_bits(in, 64, &bits)) return false;
  *out = std::bit_cast<double>(bits);
  return std::isfinite(*out) || in.fail("a scale that is no finite number");
}

// Flag 1 says that the storage is signed; integers of a storage type have no sign of their own.
bool read_storage(Entries& entries, ByteCursor& in, ir::QuantParameters* q) {
  std::uint64_t flags = 0;
  Type storage;
  Type expressed;
  if (!in.varint(&flags) || !entries.read(in, &storage) || !entries.read(in, &expressed))
    return false;
  const DType stored = storage.kind() == TypeKind::kScalar ? storage.dtype() : DType::kInvalid;
  if ((is_signed_integer(stored) || is_unsigned_integer(stored)) && bit_width(stored) <= 32) {
    const std::string sign = (flags & 1) != 0 ? "i" : "ui";
    q->storage = dtype_from_string(sign + std::to_string(bit_width(stored))).value_or(stored);
  }
  q->expressed = expressed.kind() == TypeKind::kScalar ? expressed.dtype() : DType::kInvalid;
  if (q->storage == DType::kInvalid || q->expressed == DType::kInvalid || flags > 1)
    return in.fail("a quantised type that is not stored as an integer of 32 bits at most");
  return true;
}

bool read_quant(Entries& entries, ByteCursor& in, Type* out) {
  ir::QuantParameters q;
  double scale = 0;
  std::int64_t zero_point = 0;
  if (!read_storage(entries, in, &q) || !read_double(in, &scale) || !in.svarint(&zero_point) ||
      !in.svarint(&q.storage_min) || !in.svarint(&q.storage_max)) {
    return false;
  }
  q.scales = {&scale, 1};
  q.zero_points = {&zero_point, 1};
  *out = entries.module().types().quant(q);
  return true;
}

bool read_quant_per_axis(Entries& entries, ByteCursor& in, Type* out) {
  ir::QuantParameters q;
  std::uint64_t axis = 0;
  std::size_t n = 0;
  if (!read_storage(entries, in, &q) || !in.varint(&axis) || !in.svarint(&q.storage_min) ||
      !in.svarint(&q.storage_max) || !in.count(&n)) {
    return false;
  }
  if (axis > 1'000'000 || n == 0) return in.fail("a quantised type without its scales");
  std::vector<double> scales(n);
  for (double& scale : scales) {
    if (!read_double(in, &scale)) return false;
  }
  std::vector<std::int64_t> zero_points;
  if (!in.svarints(&zero_points)) return false;
  if (zero_points.size() != n) return in.fail("as many zero points as scales are expected");
  q.axis = static_cast<int>(axis);
  q.scales = scales;
  q.zero_points = zero_points;
  *out = entries.module().types().quant(q);
  return true;
}

bool read_witness(Entries& entries, ByteCursor&, Type* out) {
  *out = entries.module().types().opaque("!shape.witness");
  return true;
}

struct Row {
  int vhlo;
  int builtin;
  bool (*read)(Entries&, ByteCursor&, Type*);
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
    {TypeCode::kWitness, kNone, read_witness},
    {kNone, kBuiltinIntegerType, read_integer},
    {kNone, 3, read_scalar<DType::kBF16>},
    {kNone, 4, read_scalar<DType::kF16>},
    {kNone, 5, read_scalar<DType::kF32>},
    {kNone, 6, read_scalar<DType::kF64>},
};

}  // namespace

bool decode(Entries& entries, ByteCursor& in, Dialect dialect, Type* out) {
  std::uint64_t code = 0;
  if (!in.varint(&code)) return false;
  for (const ScalarCode& scalar : kScalarCodes) {
    if (scalar.code == code && dialect == Dialect::kVhlo) {
      *out = entries.module().types().scalar(scalar.type);
      return true;
    }
  }
  for (const Row& row : kRows) {
    if (std::cmp_equal(dialect == Dialect::kVhlo ? row.vhlo : row.builtin, code))
      return row.read(entries, in, out);
  }
  if (dialect == Dialect::kVhlo) return fail_unknown(in, "type", code);
  *out = entries.module().types().opaque("!builtin.unread<" + std::to_string(code) + ">");
  return true;
}

}  // namespace millrace::devices::stablehlo::bytecode
