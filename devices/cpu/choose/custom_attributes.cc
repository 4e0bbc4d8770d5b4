// From the attributes of an op to those that the handler of a custom call sees.
#include <cstring>
#include <optional>
#include <utility>

#include "millrace/devices/cpu/choose/make_kernel.h"
#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::cpu::definition {
namespace {

constexpr std::int64_t kMostElements = 1 << 20;
constexpr int kMostNested = 16;  // dictionaries in dictionaries

using Value = std::optional<CallAttribute>;

bool is_integer(DType type) {
  return devices::is_signed_integer(type) || devices::is_unsigned_integer(type);
}

template <class T>
CallAttribute made(T value, DType type = DType::kInvalid) {
  return {.name = {}, .value = std::move(value), .type = type};
}

// Element i of a literal, in the low bits; of a splat its only one.
std::uint64_t element(const ir::DenseAttr& a, DType type, std::size_t i) {
  std::uint64_t bits = 0;
  const std::size_t width = devices::byte_width(type);
  std::memcpy(&bits, a.bytes.data() + (a.splat ? 0 : i * width), width);
  const auto unused = static_cast<unsigned>(64 - 8 * width);
  if (!devices::is_signed_integer(type)) return bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
}

Value literal(const ir::DenseAttr& a) {
  if (!a.type.is_tensor() || !a.type.has_static_shape() || a.type.element().quant() != nullptr)
    return std::nullopt;
  const DType type = ir::stored_type(a.type.element());
  const std::int64_t count = a.type.elements().value_or(kMostElements + 1);
  if (count > kMostElements || (count != 0 && a.bytes.empty())) return std::nullopt;
  const auto n = static_cast<std::size_t>(count);
  const auto all = [&](auto of, auto convert) {
    for (std::size_t i = 0; i < n; ++i) of.push_back(convert(element(a, type, i)));
    return made(std::move(of), type);
  };
  if (type == DType::kI1)
    return all(std::vector<std::uint8_t>(), [](std::uint64_t b) { return std::uint8_t{b != 0}; });
  if (is_integer(type))
    return all(std::vector<std::int64_t>(),
               [](std::uint64_t b) { return static_cast<std::int64_t>(b); });
  if (devices::is_floating(type))
    return all(std::vector<double>(), [&](std::uint64_t b) { return ir::decode_float(type, b); });
  return std::nullopt;
}

Value value_of(ir::Attribute a, int nested);

CallAttributes dictionary(const ir::DictAttr& dict, int nested) {
  CallAttributes attributes;
  for (const ir::NamedAttribute& entry : dict.values) {
    if (Value value = value_of(entry.value, nested)) {
      value->name = entry.name;
      attributes.push_back(*std::move(value));
    }
  }
  return attributes;
}

// An array of T from values of T of one type.
template <class T, class Kept = T>
Value array_of(const std::vector<CallAttribute>& values) {
  std::vector<Kept> kept;
  for (const CallAttribute& v : values) {
    const T* element = std::get_if<T>(&v.value);
    if (element == nullptr || v.type != values.front().type) return std::nullopt;
    kept.push_back(static_cast<Kept>(*element));
  }
  return made(std::move(kept), values.front().type);
}

Value list(const ir::ArrayAttr& array, int nested) {
  std::vector<CallAttribute> values;
  for (const ir::Attribute& a : array.values) {
    Value value = value_of(a, nested);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  if (values.empty()) return made(std::vector<std::int64_t>());
  if (auto flags = array_of<bool, std::uint8_t>(values)) return flags;
  if (auto integers = array_of<std::int64_t>(values)) return integers;
  if (auto floats = array_of<double>(values)) return floats;
  return array_of<std::string>(values);
}

Value value_of(ir::Attribute a, int nested) {
  if (nested == kMostNested) return std::nullopt;
  if (const auto* b = a.as<ir::BoolAttr>()) return made(b->value, DType::kI1);
  if (a.as<ir::UnitAttr>() != nullptr) return made(true, DType::kI1);
  if (const auto* i = a.as<ir::IntegerAttr>()) return made(i->value, ir::stored_type(i->type));
  if (const auto* f = a.as<ir::FloatAttr>()) return made(f->value(), ir::stored_type(f->type));
  if (const auto* s = a.as<ir::StringAttr>()) return made(std::string(s->value));
  if (const auto* dense = a.as<ir::DenseAttr>()) return literal(*dense);
  if (const auto* ints = a.as<ir::IntArrayAttr>()) {
    if (ints->element == DType::kI1)
      return made(std::vector<std::uint8_t>(ints->values.begin(), ints->values.end()),
                  ints->element);
    return made(std::vector<std::int64_t>(ints->values.begin(), ints->values.end()), ints->element);
  }
  if (const auto* floats = a.as<ir::FloatArrayAttr>()) {
    std::vector<double> numbers;
    for (const std::uint64_t bits : floats->bits)
      numbers.push_back(ir::decode_float(floats->element, bits));
    return made(std::move(numbers), floats->element);
  }
  if (const auto* array = a.as<ir::ArrayAttr>()) return list(*array, nested + 1);
  if (const auto* dict = a.as<ir::DictAttr>()) return made(dictionary(*dict, nested + 1));
  return std::nullopt;
}

}  // namespace

CallAttributes call_attributes(const ir::Op& op) {
  CallAttributes attributes;
  for (const char* name : {"mhlo.backend_config", "backend_config"}) {
    if (const auto* dict = op.attr<ir::DictAttr>(name)) {
      for (CallAttribute& a : dictionary(*dict, 0)) attributes.push_back(std::move(a));
    }
  }
  return attributes;
}

}  // namespace millrace::devices::cpu::definition
