#include "millrace/devices/stablehlo/bytecode/entry_pool.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"
#include "millrace/devices/stablehlo/ir/print.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using ir::AttrKind;
using ir::TypeKind;

constexpr int kMaxWriteDepth = 256;

void put(ByteWriter& out, auto code) { out.varint(static_cast<std::uint64_t>(code)); }

// An integer of a known width, without sign: a byte, or a varint with room for a sign.
void put_bits(ByteWriter& out, int width, std::uint64_t bits) {
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  width <= 8 ? out.byte(bits) : out.svarint(static_cast<std::int64_t>(bits));
}

void put_double(ByteWriter& out, double value) {
  put_bits(out, 64, std::bit_cast<std::uint64_t>(value));
}

// The elements as decode_attributes.cc reads them; i1 is packed.
std::vector<std::byte> bytes_of_dense(const ir::DenseAttr& dense) {
  const DType stored = ir::stored_type(dense.type);
  std::vector<std::byte> out(dense.bytes.begin(), dense.bytes.end());
  if (stored == DType::kI1) {
    if (dense.splat) return {out[0] != std::byte{0} ? std::byte{0xFF} : std::byte{0}};
    std::vector<std::byte> packed((out.size() + 7) / 8);
    for (std::size_t i = 0; i < out.size(); ++i) packed[i / 8] |= out[i] << (i % 8);
    return packed;
  }
  // Sub-byte integers are without the copies of their sign.
  const int bits = bit_width(stored);
  if (bits < 8) {
    for (std::byte& b : out) b &= static_cast<std::byte>((1u << bits) - 1);
  }
  return out;
}

[[noreturn]] void fail_without_form(const std::string& what) {
  throw Error(ErrorCode::kUnimplemented, what + " has no form in a portable artifact");
}

}  // namespace

void EntryPool::needs(Version since, const std::string& what) const {
  if (since <= version_) return;
  throw Error(ErrorCode::kUnimplemented,
              what + " needs version " + to_string(since) + " of VHLO or a later one");
}

std::uint64_t EntryPool::add(Numbered<std::string>& to, Dialect dialect, auto encode) {
  if (++depth_ > kMaxWriteDepth)
    fail_without_form("an attribute or a type that is nested so deeply");
  ByteWriter out;
  out.byte(static_cast<std::uint64_t>(dialect));
  encode(out);
  --depth_;
  return to.add(out.take());
}

void EntryPool::encode_types(ByteWriter& out, std::span<const ir::Type> list) {
  out.list(list, [&](ir::Type member) { out.varint(type(member)); });
}

void EntryPool::encode_scalar(ByteWriter& out, ir::Type type) {
  const DType dtype = type.dtype();
  if (is_complex(dtype)) {
    put(out, TypeCode::kComplex);
    const DType part = dtype == DType::kC64 ? DType::kF32 : DType::kF64;
    return out.varint(this->type(scratch_.types().scalar(part)));
  }
  const auto* code = std::ranges::find(kScalarCodes, dtype, &ScalarCode::type);
  if (code == std::end(kScalarCodes)) return fail_without_form("the type " + type.to_string());
  needs(code->since, "the type " + type.to_string());
  out.varint(code->code);
}

void EntryPool::encode_quant(ByteWriter& out, const ir::QuantParameters& q) {
  const bool per_axis = q.axis >= 0;
  if (per_axis) needs({0, 18, 0}, "a quantised type with an axis");
  // The storage is an integer without a sign of its own; a flag says whether it has one.
  const std::string storage = "i" + std::to_string(bit_width(q.storage));
  put(out, per_axis ? TypeCode::kQuantPerAxis : TypeCode::kQuant);
  out.varint(is_signed_integer(q.storage) ? 1 : 0);
  ir::TypeTable& made = scratch_.types();
  out.varint(type(made.scalar(dtype_from_string(storage).value_or(q.storage))));
  out.varint(type(made.scalar(q.expressed)));
  if (!per_axis) {
    put_double(out, q.scales[0]);
    out.svarint(q.zero_points[0]);
  } else {
    out.varint(static_cast<std::uint64_t>(q.axis));
  }
  out.svarint(q.storage_min);
  out.svarint(q.storage_max);
  if (per_axis) {
    out.list(q.scales, [&](double scale) { put_double(out, scale); });
    out.svarints(q.zero_points);
  }
}

void EntryPool::encode_shaped(ByteWriter& out, ir::Type type) {
  if (!type.data()->text.empty()) return fail_without_form("the type " + type.to_string());
  if (type.kind() == TypeKind::kMemRef) {
    needs({1, 13, 0}, "the type " + type.to_string());
    put(out, TypeCode::kBuffer);
  } else if (type.kind() == TypeKind::kUnranked) {
    put(out, TypeCode::kUnranked);
  } else if (!type.bounds().empty()) {
    put(out, TypeCode::kBoundedTensor);
    out.varint(attribute(scratch_.attribute(ir::BoundsAttr{{}, type.bounds()})));
  } else {
    put(out, TypeCode::kTensor);
  }
  if (type.kind() != TypeKind::kUnranked) out.svarints(type.dims());
  out.varint(this->type(type.element()));
}

void EntryPool::encode(ByteWriter& out, ir::Type type) {
  switch (type.kind()) {
    case TypeKind::kScalar:
      return encode_scalar(out, type);
    case TypeKind::kQuant:
      return encode_quant(out, *type.quant());
    case TypeKind::kIndex:
      return put(out, TypeCode::kIndex);
    case TypeKind::kNone:
      needs({1, 6, 0}, "the type none");
      return put(out, TypeCode::kNone);
    case TypeKind::kToken:
      return put(out, TypeCode::kToken);
    case TypeKind::kTuple:
      put(out, TypeCode::kTuple);
      return encode_types(out, type.members());
    case TypeKind::kFuture:
      needs({1, 15, 0}, "the type of a future");
      put(out, TypeCode::kFuture);
      return encode_types(out, type.members());
    case TypeKind::kFunction:
      put(out, TypeCode::kFunction);
      encode_types(out, type.members());
      return encode_types(out, type.results());
    case TypeKind::kTensor:
    case TypeKind::kMemRef:
    case TypeKind::kUnranked:
      return encode_shaped(out, type);
    case TypeKind::kOpaque:
      return fail_without_form("the type " + type.to_string());
  }
}

std::uint64_t EntryPool::type(ir::Type type) {
  return add(types_, Dialect::kVhlo, [&](ByteWriter& out) { encode(out, type); });
}

void EntryPool::encode_dense(ByteWriter& out, const ir::DenseAttr& dense) {
  const std::vector<std::byte> raw = bytes_of_dense(dense);
  put(out, AttributeCode::kTensor);
  out.varint(type(dense.type));
  out.varint(raw.size());
  out.text({reinterpret_cast<const char*>(raw.data()), raw.size()});
}

// Numbers that are all the same are one: readers look for that when they leave out defaults.
void EntryPool::encode_ints(ByteWriter& out, const ir::IntArrayAttr& ints) {
  const bool bools = ints.element == DType::kI1;
  if (ints.element != DType::kI64 && !bools)
    return fail_without_form("an array of " + std::string(devices::to_string(ints.element)));
  const std::size_t n = ints.values.size();
  ir::DenseAttr dense;
  dense.type = scratch_.types().tensor({static_cast<std::int64_t>(n)}, ints.element);
  dense.splat = n > 1 && std::ranges::count(ints.values, ints.values[0]) == std::ssize(ints.values);
  const ir::Ints kept = ints.values.first(dense.splat ? 1 : n);
  std::vector<std::byte> flags;
  for (const std::int64_t value : kept) flags.push_back(static_cast<std::byte>(value & 0xFF));
  dense.bytes = bools ? std::span<const std::byte>(flags) : std::as_bytes(kept);
  encode_dense(out, dense);
}

// Integers only, and bools as such of one bit: width and, in the lowest bits, no sign of its own or
// none at all.
void EntryPool::encode_builtin(ByteWriter& out, ir::Attribute a) {
  if (a.kind() == AttrKind::kUnit) return put(out, kBuiltinUnit);
  const auto* flag = a.as<ir::BoolAttr>();
  const auto* integer = a.as<ir::IntegerAttr>();
  const DType dtype = flag != nullptr      ? DType::kI1
                      : integer != nullptr ? integer->type.dtype()
                                           : DType::kInvalid;
  const bool is_unsigned = is_unsigned_integer(dtype);
  if (flag == nullptr && !is_unsigned && !is_signed_integer(dtype)) {
    throw Error(ErrorCode::kUnimplemented,
                "the module's attribute " + ir::print(a).substr(0, 80) + " is not written");
  }
  put(out, kBuiltinInteger);
  out.varint(add(types_, Dialect::kBuiltin, [&](ByteWriter& type) {
    put(type, kBuiltinIntegerType);
    type.varint(static_cast<std::uint64_t>(bit_width(dtype)) << 2 | (is_unsigned ? 2 : 0));
  }));
  put_bits(out, bit_width(dtype),
           static_cast<std::uint64_t>(flag != nullptr ? flag->value : integer->value));
}

// What both dialects have, but for the codes.
void EntryPool::encode(ByteWriter& out, ir::Attribute a, Dialect dialect) {
  const bool builtin = dialect == Dialect::kBuiltin;
  switch (a.kind()) {
    case AttrKind::kString:
      put(out, builtin ? int{kBuiltinString} : int{AttributeCode::kString});
      return out.varint(string(a.as<ir::StringAttr>()->value));
    case AttrKind::kArray:
      put(out, builtin ? int{kBuiltinArray} : int{AttributeCode::kArray});
      return out.list(a.as<ir::ArrayAttr>()->values,
                      [&](ir::Attribute value) { out.varint(attribute(value, dialect)); });
    case AttrKind::kDict:
      put(out, builtin ? int{kBuiltinDict} : int{AttributeCode::kDict});
      return out.list(a.as<ir::DictAttr>()->values, [&](const ir::NamedAttribute& named) {
        out.varint(attribute(scratch_.attribute(ir::StringAttr{{}, named.name}), dialect));
        out.varint(attribute(named.value, dialect));
      });
    default:
      return builtin ? encode_builtin(out, a) : encode_vhlo(out, a);
  }
}

void EntryPool::encode_vhlo(ByteWriter& out, ir::Attribute a) {
  switch (a.kind()) {
    case AttrKind::kBool:
      put(out, AttributeCode::kBool);
      return out.varint(a.as<ir::BoolAttr>()->value ? 1 : 0);
    case AttrKind::kInteger: {
      const auto& integer = *a.as<ir::IntegerAttr>();
      const bool index = integer.type.kind() == TypeKind::kIndex;
      const int width = index ? 64 : bit_width(integer.type.dtype());
      if (width < 4) return fail_without_form("an integer of type " + integer.type.to_string());
      put(out, AttributeCode::kInteger);
      out.varint(type(integer.type));
      return put_bits(out, width, static_cast<std::uint64_t>(integer.value));
    }
    case AttrKind::kFloat: {
      const auto& f = *a.as<ir::FloatAttr>();
      put(out, AttributeCode::kFloat);
      out.varint(type(f.type));
      return put_bits(out, bit_width(f.type.dtype()), f.bits);
    }
    case AttrKind::kSymbol:
      if (a.as<ir::SymbolAttr>()->path.size() != 1) break;
      put(out, AttributeCode::kString);
      return out.varint(string(a.as<ir::SymbolAttr>()->path[0]));
    case AttrKind::kType:
      put(out, AttributeCode::kType);
      return out.varint(type(a.as<ir::TypeAttr>()->value));
    case AttrKind::kIntArray:
      return encode_ints(out, *a.as<ir::IntArrayAttr>());
    case AttrKind::kDense:
      return encode_dense(out, *a.as<ir::DenseAttr>());
    case AttrKind::kEnum: {
      const auto& value = *a.as<ir::EnumAttr>();
      const auto* row = std::ranges::find(kEnumCodes, value.enum_class, &EnumCode::enum_class);
      put(out, row->code);
      return out.varint(value.value + static_cast<std::uint64_t>(row->first));
    }
    case AttrKind::kOutputAlias: {
      const auto& alias = *a.as<ir::OutputAliasAttr>();
      put(out, AttributeCode::kOutputAlias);
      out.svarints(alias.output_tuple_indices);
      out.svarint(alias.operand_index);
      return out.svarints(alias.operand_tuple_indices);
    }
    case AttrKind::kResultAccuracy: {
      const auto& accuracy = *a.as<ir::ResultAccuracyAttr>();
      needs({1, 9, 0}, "the accuracy of a result");
      put(out, AttributeCode::kAccuracy);
      put_double(out, accuracy.atol);
      put_double(out, accuracy.rtol);
      out.svarint(accuracy.ulps);
      return out.varint(attribute(scratch_.attribute(ir::EnumAttr{
          {}, ir::EnumClass::kAccuracyMode, static_cast<std::uint8_t>(accuracy.mode)})));
    }
    case AttrKind::kBounds:
      put(out, AttributeCode::kBounds);
      return out.svarints(a.as<ir::BoundsAttr>()->bounds);
    default:
      break;
  }
  fail_without_form("the attribute " + ir::print(a).substr(0, 80));
}

std::uint64_t EntryPool::attribute(ir::Attribute attribute, Dialect dialect) {
  return add(attributes_, dialect, [&](ByteWriter& out) { encode(out, attribute, dialect); });
}

std::uint64_t EntryPool::api_version(std::int64_t value) {
  return add(attributes_, Dialect::kVhlo, [&](ByteWriter& out) {
    put(out, AttributeCode::kApiVersion);
    put(out, value);
  });
}

std::uint64_t EntryPool::builtin_string(std::string_view text) {
  return add(attributes_, Dialect::kBuiltin, [&](ByteWriter& out) {
    put(out, kBuiltinString);
    out.varint(string(text));
  });
}

std::uint64_t EntryPool::unknown_location() {
  return add(attributes_, Dialect::kBuiltin,
             [](ByteWriter& out) { put(out, kBuiltinUnknownLocation); });
}

std::uint64_t EntryPool::dictionary(
    std::span<const std::pair<std::string_view, std::uint64_t>> entries) {
  return add(attributes_, Dialect::kBuiltin, [&](ByteWriter& out) {
    put(out, kBuiltinDict);
    out.list(entries, [&](const auto& entry) {
      out.varint(builtin_string(entry.first));
      out.varint(entry.second);
    });
  });
}

std::string EntryPool::strings() const {
  ByteWriter out;
  const auto& all = strings_.all();
  out.list(std::views::reverse(all),
           [&](const std::string* text) { out.varint(text->size() + 1); });
  for (const std::string* text : all) {
    out.text(*text);
    out.byte(0);
  }
  return out.take();
}

// Numbers of entries, then groups of one dialect each with the sizes of theirs.
std::string EntryPool::offsets() const {
  ByteWriter out;
  out.varint(attributes_.all().size());
  out.varint(types_.all().size());
  for (const Numbered<std::string>* entries : {&attributes_, &types_}) {
    std::span<const std::string* const> rest = entries->all();
    while (!rest.empty()) {
      const char dialect = rest.front()->front();
      const auto end = std::ranges::find_if(
          rest, [&](const std::string* entry) { return entry->front() != dialect; });
      const auto group = rest.first(static_cast<std::size_t>(end - rest.begin()));
      put(out, dialect);
      out.list(group, [&](const std::string* entry) { out.flagged(entry->size() - 1, true); });
      rest = rest.subspan(group.size());
    }
  }
  return out.take();
}

std::string EntryPool::entries() const {
  std::string out;
  for (const Numbered<std::string>* entries : {&attributes_, &types_}) {
    for (const std::string* entry : entries->all()) out += entry->substr(1);
  }
  return out;
}

}  // namespace millrace::devices::stablehlo::bytecode
