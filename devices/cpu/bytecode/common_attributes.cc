#include "millrace/devices/cpu/bytecode/common_attributes.h"

#include "millrace/devices/cpu/bytecode/dense_bytes.h"

namespace millrace::devices::cpu::bytecode {

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

bool read_tensor(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::Type type;
  std::uint64_t size = 0;
  Range raw;
  if (!entries.read(in, &type) || !in.varint(&size) || !in.range(size, &raw)) return false;
  return dense_from_bytes(in, entries.module(), type, in.bytes(raw), out);
}

bool read_type_attribute(Entries& entries, ByteCursor& in, Attribute* out) {
  ir::Type type;
  if (!entries.read(in, &type)) return false;
  *out = entries.module().attribute(ir::TypeAttr{{}, type});
  return true;
}

}  // namespace millrace::devices::cpu::bytecode
