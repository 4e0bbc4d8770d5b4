// What a file that is written has of MLIR's own dialect: locations, the dictionaries of operations
// and the attributes of the module.
#include "millrace/devices/cpu/bytecode/entry_pool.h"
#include "millrace/devices/cpu/ir/print.h"

namespace millrace::devices::cpu::bytecode {
namespace {

enum : std::uint64_t {
  kArray = 0,
  kDictionary = 1,
  kString = 2,
  kUnit = 7,
  kInteger = 8,
  kUnknownLocation = 15,
  kIntegerType = 0,
};

}  // namespace

std::uint64_t EntryPool::builtin_string(std::string_view text) {
  ByteWriter out;
  out.varint(kString);
  out.varint(string(text));
  return attributes_.add(Dialect::kBuiltin, out.take());
}

std::uint64_t EntryPool::unknown_location() {
  ByteWriter out;
  out.varint(kUnknownLocation);
  return attributes_.add(Dialect::kBuiltin, out.take());
}

std::uint64_t EntryPool::dictionary(
    std::span<const std::pair<std::string_view, std::uint64_t>> entries) {
  ByteWriter out;
  out.varint(kDictionary);
  out.varint(entries.size());
  for (const auto& [name, value] : entries) {
    out.varint(builtin_string(name));
    out.varint(value);
  }
  return attributes_.add(Dialect::kBuiltin, out.take());
}

// Integers only: width and, in the lowest bits, no sign of its own or none at all.
Result<std::uint64_t> EntryPool::builtin_type(ir::Type type) {
  const DType dtype = type.kind() == ir::TypeKind::kScalar ? type.dtype() : DType::kInvalid;
  const bool is_unsigned = is_unsigned_integer(dtype);
  if (!is_unsigned && !is_signed_integer(dtype) && dtype != DType::kI1) {
    return fail(ErrorCode::kUnimplemented,
                "an attribute of the module of type " + type.to_string() + " is not written");
  }
  ByteWriter out;
  out.varint(kIntegerType);
  out.varint(static_cast<std::uint64_t>(bit_width(dtype)) << 2 | (is_unsigned ? 2 : 0));
  return types_.add(Dialect::kBuiltin, out.take());
}

Result<std::uint64_t> EntryPool::builtin_attribute(ir::Attribute a) {
  ByteWriter out;
  if (const auto* text = a.as<ir::StringAttr>()) return builtin_string(text->value);
  if (a.as<ir::UnitAttr>() != nullptr) {
    out.varint(kUnit);
    return attributes_.add(Dialect::kBuiltin, out.take());
  }
  if (const auto* dict = a.as<ir::DictAttr>()) {
    std::vector<std::pair<std::string_view, std::uint64_t>> entries;
    for (const ir::NamedAttribute& named : dict->values) {
      MILLRACE_TRY(const std::uint64_t value, builtin_attribute(named.value));
      entries.emplace_back(named.name, value);
    }
    return dictionary(entries);
  }
  if (const auto* array = a.as<ir::ArrayAttr>()) {
    out.varint(kArray);
    out.varint(array->values.size());
    for (const ir::Attribute value : array->values) {
      MILLRACE_TRY(const std::uint64_t index, builtin_attribute(value));
      out.varint(index);
    }
    return attributes_.add(Dialect::kBuiltin, out.take());
  }
  const auto* flag = a.as<ir::BoolAttr>();
  const auto* integer = a.as<ir::IntegerAttr>();
  if (flag == nullptr && integer == nullptr) {
    return fail(ErrorCode::kUnimplemented,
                "the module's attribute " + ir::print(a).substr(0, 80) + " is not written");
  }
  const ir::Type type = flag != nullptr ? scratch_.types().scalar(DType::kI1) : integer->type;
  MILLRACE_TRY(const std::uint64_t index, builtin_type(type));
  out.varint(kInteger);
  out.varint(index);
  const int width = bit_width(type.dtype());
  auto bits = flag != nullptr ? static_cast<std::uint64_t>(flag->value)
                              : static_cast<std::uint64_t>(integer->value);
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  width <= 8 ? out.byte(bits) : out.svarint(static_cast<std::int64_t>(bits));
  return attributes_.add(Dialect::kBuiltin, out.take());
}

}  // namespace millrace::devices::cpu::bytecode
