// VHLO's types.
#include <array>
#include <bit>
#include <cmath>

#include "millrace/devices/cpu/bytecode/common_types.h"
#include "millrace/devices/cpu/bytecode/vhlo_codes.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using ir::Type;
using ir::TypeKind;

bool read_bounded_tensor(Entries& entries, ByteCursor& in, Type* out) {
  ir::Attribute encoding;
  std::vector<std::int64_t> dims;
  Type element;
  if (!entries.read(in, &encoding) || !read_dims(in, &dims) || !read_element(entries, in, &element))
    return false;
  const auto* bounds = encoding.as<ir::BoundsAttr>();
  if (bounds == nullptr || bounds->bounds.size() != dims.size())
    return in.fail("a tensor whose encoding is not one bound for each dimension");
  *out = entries.module().types().tensor(dims, element, bounds->bounds);
  return true;
}

bool read_token(Entries& entries, ByteCursor&, Type* out) {
  *out = entries.module().types().token();
  return true;
}

bool read_future(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<Type> members;
  if (!entries.read(in, &members)) return false;
  *out = entries.module().types().future(members);
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
  constexpr std::array<std::array<DType, 2>, 5> kPairs{{{DType::kI2, DType::kU2},
                                                        {DType::kI4, DType::kU4},
                                                        {DType::kI8, DType::kU8},
                                                        {DType::kI16, DType::kU16},
                                                        {DType::kI32, DType::kU32}}};
  for (const auto& [with_sign, without] : kPairs) {
    if (storage.kind() == TypeKind::kScalar &&
        (storage.dtype() == with_sign || storage.dtype() == without)) {
      q->storage = (flags & 1) != 0 ? with_sign : without;
    }
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

bool read_unranked(Entries& entries, ByteCursor& in, Type* out) {
  Type element;
  if (!read_element(entries, in, &element)) return false;
  *out = entries.module().types().unranked(element);
  return true;
}

bool read_buffer(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<std::int64_t> dims;
  Type element;
  if (!read_dims(in, &dims) || !read_element(entries, in, &element)) return false;
  *out = entries.module().types().memref(dims, element);
  return true;
}

bool read_witness(Entries& entries, ByteCursor&, Type* out) {
  *out = entries.module().types().opaque("!shape.witness");
  return true;
}

struct Row {
  TypeCode code;
  bool (*read)(Entries&, ByteCursor&, Type*);
};

constexpr Row kRows[] = {
    {TypeCode::kTensor, read_tensor},     {TypeCode::kFunction, read_function},
    {TypeCode::kComplex, read_complex},   {TypeCode::kBoundedTensor, read_bounded_tensor},
    {TypeCode::kIndex, read_index},       {TypeCode::kToken, read_token},
    {TypeCode::kTuple, read_tuple},       {TypeCode::kQuant, read_quant},
    {TypeCode::kUnranked, read_unranked}, {TypeCode::kQuantPerAxis, read_quant_per_axis},
    {TypeCode::kNone, read_none},         {TypeCode::kBuffer, read_buffer},
    {TypeCode::kFuture, read_future},     {TypeCode::kWitness, read_witness},
};

}  // namespace

bool decode_vhlo(Entries& entries, ByteCursor& in, Type* out) {
  std::uint64_t code = 0;
  if (!in.varint(&code)) return false;
  for (const ScalarCode& scalar : scalar_codes()) {
    if (scalar.code == code) {
      *out = entries.module().types().scalar(scalar.type);
      return true;
    }
  }
  for (const Row& row : kRows) {
    if (static_cast<std::uint64_t>(row.code) == code) return row.read(entries, in, out);
  }
  return in.fail("an unknown type of VHLO, code " + std::to_string(code) +
                 "; this reader knows versions up to " + to_string(kNewestVersion));
}

}  // namespace millrace::devices::cpu::bytecode
