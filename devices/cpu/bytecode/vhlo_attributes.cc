// VHLO's attributes.
#include <bit>

#include "millrace/devices/cpu/bytecode/common_attributes.h"
#include "millrace/devices/cpu/bytecode/vhlo_codes.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using ir::Attribute;

ir::Ints keep(Entries& entries, const std::vector<std::int64_t>& values) {
  return entries.module().copy(std::span<const std::int64_t>(values));
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
  std::vector<std::int64_t> output;
  std::vector<std::int64_t> operand;
  if (!in.svarints(&output) || !in.svarint(&alias.operand_index) || !in.svarints(&operand))
    return false;
  alias.output_tuple_indices = keep(entries, output);
  alias.operand_tuple_indices = keep(entries, operand);
  *out = entries.module().attribute(alias);
  return true;
}

bool read_bounds(Entries& entries, ByteCursor& in, Attribute* out) {
  std::vector<std::int64_t> bounds;
  if (!in.svarints(&bounds)) return false;
  *out = entries.module().attribute(ir::BoundsAttr{{}, keep(entries, bounds)});
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
  AttributeCode code;
  bool (*read)(Entries&, ByteCursor&, Attribute*);
};

constexpr Row kRows[] = {
    {AttributeCode::kString, read_string},     {AttributeCode::kTensor, read_tensor},
    {AttributeCode::kInteger, read_integer},   {AttributeCode::kBool, read_bool},
    {AttributeCode::kArray, read_array},       {AttributeCode::kType, read_type_attribute},
    {AttributeCode::kDict, read_dict},         {AttributeCode::kFloat, read_float},
    {AttributeCode::kAccuracy, read_accuracy}, {AttributeCode::kApiVersion, read_api_version},
    {AttributeCode::kBounds, read_bounds},     {AttributeCode::kOutputAlias, read_output_alias},
};

}  // namespace

bool decode_vhlo(Entries& entries, ByteCursor& in, Attribute* out) {
  std::uint64_t code = 0;
  if (!in.varint(&code)) return false;
  for (const Row& row : kRows) {
    if (static_cast<std::uint64_t>(row.code) == code) return row.read(entries, in, out);
  }
  for (const EnumCode& row : enum_codes()) {
    if (static_cast<std::uint64_t>(row.code) == code) return read_enum(entries, in, row, out);
  }
  // Groups of replicas by the axes of a mesh: a program for one device has none, so they are named
  // and not read.
  if (code >= static_cast<std::uint64_t>(AttributeCode::kSubAxis) &&
      code <= static_cast<std::uint64_t>(AttributeCode::kMesh)) {
    *out = entries.module().attribute(ir::OpaqueAttr{
        {}, entries.module().intern("#stablehlo.unread<" + std::to_string(code) + ">")});
    return true;
  }
  return in.fail("an unknown attribute of VHLO, code " + std::to_string(code) +
                 "; this reader knows versions up to " + to_string(kNewestVersion));
}

}  // namespace millrace::devices::cpu::bytecode
