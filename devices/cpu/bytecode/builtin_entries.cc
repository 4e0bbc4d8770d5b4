// Attributes and types of MLIR's own dialect, as far as portable artifacts hold them: dictionaries
// and strings of every operation, and the types around operations of other dialects. Locations are
// not looked at.
#include "millrace/devices/cpu/bytecode/common_attributes.h"
#include "millrace/devices/cpu/bytecode/common_types.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using ir::Attribute;
using ir::Type;

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

struct AttributeRow {
  int code;
  bool (*read)(Entries&, ByteCursor&, Attribute*);
};

constexpr AttributeRow kAttributes[] = {
    {0, read_array},   {1, read_dict},           {2, read_string},
    {4, read_symbol},  {6, read_type_attribute}, {7, read_unit},
    {8, read_integer}, {9, read_float},          {18, read_tensor},
};

// Width and, in the lowest two bits, no sign, a sign or none at all.
bool read_integer_type(Entries& entries, ByteCursor& in, Type* out) {
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

struct TypeRow {
  int code;
  bool (*read)(Entries&, ByteCursor&, Type*);
};

constexpr TypeRow kTypes[] = {
    {0, read_integer_type},
    {1, read_index},
    {2, read_function},
    {3, read_scalar<DType::kBF16>},
    {4, read_scalar<DType::kF16>},
    {5, read_scalar<DType::kF32>},
    {6, read_scalar<DType::kF64>},
    {9, read_complex},
    {12, read_none},
    {13, read_tensor},
    {15, read_tuple},
};

}  // namespace

bool decode_builtin(Entries& entries, ByteCursor& in, Attribute* out) {
  std::uint64_t code = 0;
  if (!in.varint(&code)) return false;
  for (const AttributeRow& row : kAttributes) {
    if (static_cast<std::uint64_t>(row.code) == code) return row.read(entries, in, out);
  }
  // A value that no operation of StableHLO has: it is named, not understood.
  *out = entries.module().attribute(
      ir::OpaqueAttr{{}, entries.module().intern("#builtin.unread<" + std::to_string(code) + ">")});
  return true;
}

bool decode_builtin(Entries& entries, ByteCursor& in, Type* out) {
  std::uint64_t code = 0;
  if (!in.varint(&code)) return false;
  for (const TypeRow& row : kTypes) {
    if (static_cast<std::uint64_t>(row.code) == code) return row.read(entries, in, out);
  }
  *out = entries.module().types().opaque("!builtin.unread<" + std::to_string(code) + ">");
  return true;
}

}  // namespace millrace::devices::cpu::bytecode
