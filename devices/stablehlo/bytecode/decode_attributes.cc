// The encodings of attributes: those of VHLO, and those of MLIR's own dialect, as far as portable
// artifacts hold them: dictionaries and strings of every operation. Locations are not looked at.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "millrace/devices/stablehlo/bytecode/entries.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"
#include "millrace/devices/stablehlo/ir/dense_bytes.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using ir::Attribute;

bool read_array(Entries& entries, ByteCursor& in, Attribute* out) {
  std::vector<Attribute> values;
  if (!entries.read(in, &values)) return false;
  *out = entries.module().attribute(
      ir::ArrayAttr{{}, entries.module().copy(std::span<const Attribute>(values))});
  return true;
}

bool read_dict(Entries& entries, ByteCursor& in, Attribute* out) {
  std::vector<ir::NamedAttribute> values;
  if (!entries.read_dict(in, &values)) return false;
  *out = entries.module().attribute(ir::DictAttr{{}, entries.module().sorted(values)});
  return true;
}

bool read_float(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::Type type;
  if (!entries.read(in, &type)) return false;
  if (type.kind() != ir::TypeKind::kScalar || !is_floating(type.dtype()))
    return in.fail("a float of type " + type.to_string().substr(0, 80));
  const int width = bit_width(type.dtype());
  std::uint64_t bits = 0;
  if (!read_int_bits(in, width, &bits)) return false;
  if (width < 8) bits &= (std::uint64_t{1} << width) - 1;
  *out = entries.module().attribute(ir::FloatAttr{{}, bits, type});
  return true;
}

bool read_integer(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::Type type;
  if (!entries.read(in, &type)) return false;
  const bool index = type.kind() == ir::TypeKind::kIndex;
  const DType dtype = index ? DType::kI64 : type.dtype();
  if ((type.kind() != ir::TypeKind::kScalar && !index) ||
      (dtype != DType::kI1 && !is_signed_integer(dtype) && !is_unsigned_integer(dtype))) {
    return in.fail("an integer of type " + type.to_string().substr(0, 80));
  }
  const int width = bit_width(dtype);
  std::uint64_t bits = 0;
  if (!read_int_bits(in, width, &bits)) return false;
  if (dtype == DType::kI1) {
    *out = entries.module().attribute(ir::BoolAttr{{}, (bits & 1) != 0});
    return true;
  }
  const int shift = 64 - width;
  auto value = static_cast<std::int64_t>(bits << shift) >> shift;
  if (is_unsigned_integer(dtype)) value = static_cast<std::int64_t>(bits << shift >> shift);
  *out = entries.module().attribute(ir::IntegerAttr{{}, value, type});
  return true;
}

bool read_string(Entries& entries, ByteCursor& in, Attribute* out) {
  std::string_view text;
  if (!entries.read(in, &text)) return false;
  *out = entries.module().attribute(ir::StringAttr{{}, entries.module().intern(text)});
  return true;
}

// Raw little-endian elements, all or one for all of them; i1 also eight to a byte, lowest bit
// first, 0xFF being true for all.
bool dense_from_bytes(ByteCursor& in, ir::Module& module, ir::Type type,
                      std::span<const std::byte> raw, ir::Attribute* out) {
  const DType stored =
      type.kind() == ir::TypeKind::kTensor ? ir::stored_type(type) : DType::kInvalid;
  const auto elements = type.kind() == ir::TypeKind::kTensor ? type.elements() : std::nullopt;
  if (stored == DType::kInvalid || !elements || *elements < 0)
    return in.fail("a literal of type " + type.to_string().substr(0, 120));
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
    return in.fail("a literal of " + std::to_string(raw.size()) + " bytes, expected " +
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
  *out = module.dense(type, splat && count != 1, std::move(bytes), size);
  return true;
}

bool read_tensor(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::Type type;
  std::uint64_t size = 0;
  Range raw;
  if (!entries.read(in, &type) || !in.varint(&size) || !in.range(size, &raw)) return false;
  return dense_from_bytes(in, entries.module(), type, in.bytes(raw), out);
}

bool read_type(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::Type type;
  if (!entries.read(in, &type)) return false;
  *out = entries.module().attribute(ir::TypeAttr{{}, type});
  return true;
}

bool read_unit(Entries& entries, ByteCursor&, Attribute* out) {
  *out = entries.module().attribute(ir::UnitAttr{});
  return true;
}

bool read_symbol(Entries& entries, ByteCursor& in, Attribute* out) {
  Attribute name;
  if (!entries.read(in, &name)) return false;
  const auto* text = name.as<ir::StringAttr>();
  if (text == nullptr || text->value.empty()) return in.fail("a symbol without a name");
  ir::Module& module = entries.module();
  *out = module.attribute(
      ir::SymbolAttr{{}, module.copy(std::span<const std::string_view>(&text->value, 1))});
  return true;
}

bool read_ints(Entries& entries, ByteCursor& in, ir::Ints* out) {
  std::vector<std::int64_t> values;
  if (!in.svarints(&values)) return false;
  *out = entries.module().copy(std::span<const std::int64_t>(values));
  return true;
}

bool read_bool(Entries& entries, ByteCursor& in, Attribute* out) {
  std::uint64_t value = 0;
  if (!in.varint(&value)) return false;
  if (value > 1) return in.fail("a bool of " + std::to_string(value));
  *out = entries.module().attribute(ir::BoolAttr{{}, value != 0});
  return true;
}

bool read_api_version(Entries& entries, ByteCursor& in, Attribute* out) {
  std::uint64_t value = 0;
  if (!in.varint(&value)) return false;
  if (value > 4) return in.fail("an interface of custom calls of version " + std::to_string(value));
  ir::Module& module = entries.module();
  *out = module.attribute(
      ir::IntegerAttr{{}, static_cast<std::int64_t>(value), module.types().scalar(DType::kI32)});
  return true;
}

bool read_output_alias(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::OutputAliasAttr alias;
  if (!read_ints(entries, in, &alias.output_tuple_indices) || !in.svarint(&alias.operand_index) ||
      !read_ints(entries, in, &alias.operand_tuple_indices)) {
    return false;
  }
  *out = entries.module().attribute(alias);
  return true;
}

bool read_bounds(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::BoundsAttr bounds;
  if (!read_ints(entries, in, &bounds.bounds)) return false;
  *out = entries.module().attribute(bounds);
  return true;
}

bool read_accuracy(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::ResultAccuracyAttr accuracy;
  std::uint64_t atol = 0;
  std::uint64_t rtol = 0;
  Attribute mode;
  if (!read_int_bits(in, 64, &atol) || !read_int_bits(in, 64, &rtol) ||
      !in.svarint(&accuracy.ulps) || !entries.read(in, &mode)) {
    return false;
  }
  const auto* value = mode.as<ir::EnumAttr>();
  if (value == nullptr || value->enum_class != ir::EnumClass::kAccuracyMode)
    return in.fail("an accuracy without its mode");
  accuracy.atol = std::bit_cast<double>(atol);
  accuracy.rtol = std::bit_cast<double>(rtol);
  accuracy.mode = static_cast<ir::AccuracyMode>(value->value);
  *out = entries.module().attribute(accuracy);
  return true;
}

bool read_enum(Entries& entries, ByteCursor& in, const EnumCode& row, Attribute* out) {
  std::uint64_t value = 0;
  if (!in.varint(&value)) return false;
  value -= static_cast<std::uint64_t>(row.first);
  if (value >= static_cast<std::uint64_t>(row.values)) {
    return in.fail("an unknown value of " + std::string(ir::enum_class_name(row.enum_class)));
  }
  *out = entries.module().attribute(
      ir::EnumAttr{{}, row.enum_class, static_cast<std::uint8_t>(value)});
  return true;
}

struct Row {
  int vhlo;
  int builtin;
  bool (*read)(Entries&, ByteCursor&, Attribute*);
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

bool decode(Entries& entries, ByteCursor& in, Dialect dialect, Attribute* out) {
  const auto unread = [&](const std::string& what, std::uint64_t code) {
    *out = entries.module().attribute(ir::OpaqueAttr{
        {}, entries.module().intern(what + ".unread<" + std::to_string(code) + ">")});
    return true;
  };
  std::uint64_t code = 0;
  if (!in.varint(&code)) return false;
  for (const Row& row : kRows) {
    if (std::cmp_equal(dialect == Dialect::kVhlo ? row.vhlo : row.builtin, code))
      return row.read(entries, in, out);
  }
  // A value that no operation of StableHLO has: it is named, not understood.
  if (dialect == Dialect::kBuiltin) return unread("#builtin", code);
  for (const EnumCode& row : kEnumCodes) {
    if (std::cmp_equal(int{row.code}, code)) return read_enum(entries, in, row, out);
  }
  // Groups of replicas by the axes of a mesh: a program for one device has none, so they are named
  // and not read.
  if (code >= std::uint64_t{AttributeCode::kSubAxis} && code <= std::uint64_t{AttributeCode::kMesh})
    return unread("#stablehlo", code);
  return fail_unknown(in, "attribute", code);
}

bool fail_unknown(ByteCursor& in, std::string_view what, std::uint64_t code) {
  return in.fail("an unknown " + std::string(what) + " of VHLO, code " + std::to_string(code) +
                 "; this reader knows versions up to " + to_string(kNewestVersion));
}

}  // namespace millrace::devices::stablehlo::bytecode
