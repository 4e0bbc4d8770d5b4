// The encodings of attributes: those of VHLO, and those of MLIR's own dialect, as far as portable
// artifacts hold them: dictionaries and strings of every operation. Locations are not looked at.
#include <algorithm>
#include <cstring>
#include <memory>

#include "millrace/devices/stablehlo/bytecode/entries.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using ir::Attribute;

Attribute read_array(Entries& entries, ByteCursor& in) {
  return entries.module().array(in.list([&] { return entries.attribute(in); }));
}

// A name and a value, as often as a count says; values of other dialects are left out.
Attribute read_dict(Entries& entries, ByteCursor& in) {
  std::vector<ir::NamedAttribute> values;
  std::size_t n = in.count();
  values.reserve(n);
  for (; n != 0; --n) {
    const Attribute name = entries.attribute(in);
    const auto* text = name.as<ir::StringAttr>();
    if (text == nullptr || text->value.empty()) in.fail("the name of an attribute is no string");
    const std::size_t from = in.offset();
    const std::uint64_t value = in.varint();
    if (!entries.is_foreign(value)) values.push_back({text->value, entries.attribute(value, from)});
  }
  return entries.module().attribute(ir::DictAttr{{}, entries.module().sorted(values)});
}

Attribute read_float(Entries& entries, ByteCursor& in) {
  const ir::Type type = entries.type(in);
  if (type.kind() != ir::TypeKind::kScalar || !is_floating(type.dtype()))
    in.fail("a float of type " + type.to_string().substr(0, 80));
  const int width = bit_width(type.dtype());
  std::uint64_t bits = read_int_bits(in, width);
  if (width < 8) bits &= (std::uint64_t{1} << width) - 1;
  return entries.module().attribute(ir::FloatAttr{{}, bits, type});
}

Attribute read_integer(Entries& entries, ByteCursor& in) {
  const ir::Type type = entries.type(in);
  const bool index = type.kind() == ir::TypeKind::kIndex;
  const DType dtype = index ? DType::kI64 : type.dtype();
  if ((type.kind() != ir::TypeKind::kScalar && !index) ||
      (dtype != DType::kI1 && !is_signed_integer(dtype) && !is_unsigned_integer(dtype))) {
    in.fail("an integer of type " + type.to_string().substr(0, 80));
  }
  const int width = bit_width(dtype);
  const std::uint64_t bits = read_int_bits(in, width);
  if (dtype == DType::kI1) return entries.module().attribute(ir::BoolAttr{{}, (bits & 1) != 0});
  const int shift = 64 - width;
  auto value = static_cast<std::int64_t>(bits << shift) >> shift;
  if (is_unsigned_integer(dtype)) value = static_cast<std::int64_t>(bits << shift >> shift);
  return entries.module().attribute(ir::IntegerAttr{{}, value, type});
}

Attribute read_string(Entries& entries, ByteCursor& in) {
  return entries.module().string(entries.string(in));
}

// Raw little-endian elements, all or one for all of them; i1 also eight to a byte, lowest bit
// first, 0xFF being true for all.
Attribute read_tensor(Entries& entries, ByteCursor& in) {
  const ir::Type type = entries.type(in);
  const std::span<const std::byte> raw = in.bytes(in.varint());
  const DType stored =
      type.kind() == ir::TypeKind::kTensor ? ir::stored_type(type) : DType::kInvalid;
  const auto elements = type.kind() == ir::TypeKind::kTensor ? type.elements() : std::nullopt;
  if (stored == DType::kInvalid || !elements || *elements < 0)
    in.fail("a literal of type " + type.to_string().substr(0, 120));
  const auto count = static_cast<std::size_t>(*elements);
  const std::size_t width = byte_width(stored);
  const bool is_bool = stored == DType::kI1;
  const bool all_true = is_bool && raw.size() == 1 && raw[0] == std::byte{0xFF} && count != 0;
  const bool packed = is_bool && !all_true && raw.size() != count &&
                      raw.size() == count / 8 + (count % 8 != 0 ? 1 : 0) &&
                      !(raw.size() == 1 && raw[0] == std::byte{0});
  const bool all = raw.size() / width == count && raw.size() % width == 0;
  const bool splat = all_true || (!all && !packed && raw.size() == width);
  if (!all && !packed && !splat) {
    in.fail("a literal of " + std::to_string(raw.size()) + " bytes, expected " +
            std::to_string(count) + " elements of " + std::to_string(width) + " bytes");
  }
  // At most eight elements for each byte of the file.
  const std::size_t size = packed ? count : raw.size();
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
  if (packed) {
    ir::unpack_bits(raw, {bytes.get(), count});
  } else {
    if (size != 0) std::memcpy(bytes.get(), raw.data(), size);
    ir::normalise(stored, {bytes.get(), size});
  }
  return entries.module().dense(type, splat && count != 1, std::move(bytes), size);
}

Attribute read_type(Entries& entries, ByteCursor& in) {
  return entries.module().attribute(ir::TypeAttr{{}, entries.type(in)});
}

Attribute read_unit(Entries& entries, ByteCursor&) {
  return entries.module().attribute(ir::UnitAttr{});
}

Attribute read_symbol(Entries& entries, ByteCursor& in) {
  const Attribute name = entries.attribute(in);
  const auto* text = name.as<ir::StringAttr>();
  if (text == nullptr || text->value.empty()) in.fail("a symbol without a name");
  return entries.module().symbol(text->value);
}

ir::Ints read_ints(Entries& entries, ByteCursor& in) {
  return entries.module().copy(in.svarints());
}

Attribute read_bool(Entries& entries, ByteCursor& in) {
  const std::uint64_t value = in.varint();
  if (value > 1) in.fail("a bool of " + std::to_string(value));
  return entries.module().attribute(ir::BoolAttr{{}, value != 0});
}

Attribute read_api_version(Entries& entries, ByteCursor& in) {
  const std::uint64_t value = in.varint();
  if (value > 4) in.fail("an interface of custom calls of version " + std::to_string(value));
  return entries.module().integer(static_cast<std::int64_t>(value), DType::kI32);
}

Attribute read_output_alias(Entries& entries, ByteCursor& in) {
  ir::OutputAliasAttr alias;
  alias.output_tuple_indices = read_ints(entries, in);
  alias.operand_index = in.svarint();
  alias.operand_tuple_indices = read_ints(entries, in);
  return entries.module().attribute(alias);
}

Attribute read_bounds(Entries& entries, ByteCursor& in) {
  return entries.module().attribute(ir::BoundsAttr{{}, read_ints(entries, in)});
}

Attribute read_accuracy(Entries& entries, ByteCursor& in) {
  ir::ResultAccuracyAttr accuracy;
  accuracy.atol = read_double(in);
  accuracy.rtol = read_double(in);
  accuracy.ulps = in.svarint();
  const Attribute mode = entries.attribute(in);
  const auto* value = mode.as<ir::EnumAttr>();
  if (value == nullptr || value->enum_class != ir::EnumClass::kAccuracyMode)
    in.fail("an accuracy without its mode");
  accuracy.mode = static_cast<ir::AccuracyMode>(value->value);
  return entries.module().attribute(accuracy);
}

Attribute read_enum(Entries& entries, ByteCursor& in, const EnumCode& row) {
  const std::uint64_t value = in.varint() - static_cast<std::uint64_t>(row.first);
  if (value >= static_cast<std::uint64_t>(row.values))
    in.fail("an unknown value of " + std::string(ir::enum_class_name(row.enum_class)));
  return entries.module().attribute(
      ir::EnumAttr{{}, row.enum_class, static_cast<std::uint8_t>(value)});
}

struct Row {
  int vhlo;
  int builtin;
  Attribute (*read)(Entries&, ByteCursor&);
};

constexpr int kNone = -1;
constexpr Row kRows[] = {
    {AttributeCode::kString, kBuiltinString, read_string},
    {AttributeCode::kTensor, 18, read_tensor},
    {AttributeCode::kInteger, kBuiltinInteger, read_integer},
    {AttributeCode::kBool, kNone, read_bool},
    {AttributeCode::kArray, kBuiltinArray, read_array},
    {AttributeCode::kType, 6, read_type},
    {AttributeCode::kDict, kBuiltinDict, read_dict},
    {AttributeCode::kFloat, 9, read_float},
    {AttributeCode::kAccuracy, kNone, read_accuracy},
    {AttributeCode::kApiVersion, kNone, read_api_version},
    {AttributeCode::kBounds, kNone, read_bounds},
    {AttributeCode::kOutputAlias, kNone, read_output_alias},
    {kNone, 4, read_symbol},
    {kNone, kBuiltinUnit, read_unit},
};

}  // namespace

Attribute decode_attribute(Entries& entries, ByteCursor& in, Dialect dialect) {
  const std::uint64_t code = in.varint();
  const auto unread = [&](const std::string& what) {
    return entries.module().attribute(ir::OpaqueAttr{
        {}, entries.module().intern(what + ".unread<" + std::to_string(code) + ">")});
  };
  for (const Row& row : kRows) {
    if (std::cmp_equal(dialect == Dialect::kVhlo ? row.vhlo : row.builtin, code))
      return row.read(entries, in);
  }
  // A value that no operation of StableHLO has: it is named, not understood.
  if (dialect == Dialect::kBuiltin) return unread("#builtin");
  for (const EnumCode& row : kEnumCodes) {
    if (std::cmp_equal(int{row.code}, code)) return read_enum(entries, in, row);
  }
  // Groups of replicas by the axes of a mesh: a program for one device has none, so they are named
  // and not read.
  if (code >= std::uint64_t{AttributeCode::kSubAxis} && code <= std::uint64_t{AttributeCode::kMesh})
    return unread("#stablehlo");
  fail_unknown(in, "attribute", code);
}

void fail_unknown(const ByteCursor& in, std::string_view what, std::uint64_t code) {
  in.fail("an unknown " + std::string(what) + " of VHLO, code " + std::to_string(code) +
          "; this reader knows versions up to " + to_string(kNewestVersion));
}

}  // namespace millrace::devices::stablehlo::bytecode
