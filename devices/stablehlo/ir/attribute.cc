#include "millrace/devices/stablehlo/ir/attribute.h"

#include <algorithm>
#include <cstring>

#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::stablehlo::ir {
namespace {

constexpr std::size_t kMaxInts = 65536;
constexpr std::int64_t kMaxSplat = 4096;

std::optional<std::vector<std::int64_t>> dense_ints(const DenseAttr& dense) {
  const DType type = dense.type.dtype();
  if (type != DType::kI1 && !is_signed_integer(type) && !is_unsigned_integer(type))
    return std::nullopt;
  const auto count = dense.type.elements();
  if (!count || static_cast<std::size_t>(*count) > kMaxInts) return std::nullopt;
  if (dense.splat && *count > kMaxSplat) return std::nullopt;
  const std::size_t step = dense.splat ? 0 : byte_width(type);
  std::vector<std::int64_t> out(static_cast<std::size_t>(*count));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = load_int(dense.bytes.data() + i * step, type);
  return out;
}

std::optional<std::vector<std::int64_t>> array_ints(const ArrayAttr& array) {
  if (array.values.size() > kMaxInts) return std::nullopt;
  std::vector<std::int64_t> out;
  out.reserve(array.values.size());
  for (Attribute a : array.values) {
    if (const auto* i = a.as<IntegerAttr>()) {
      out.push_back(i->value);
    } else if (const auto* b = a.as<BoolAttr>()) {
      out.push_back(b->value ? 1 : 0);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

DType stored_type(Type type) {
  if (type.kind() == TypeKind::kTensor && type.element().kind() == TypeKind::kIndex)
    return DType::kI64;
  return type.dtype();
}

std::int64_t load_int(const std::byte* element, DType type) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, element, byte_width(type));
  if (!is_signed_integer(type)) return static_cast<std::int64_t>(raw);
  const std::size_t unused = 64 - 8 * byte_width(type);
  return static_cast<std::int64_t>(raw << unused) >> unused;
}

void normalise(DType type, std::span<std::byte> bytes) {
  const int bits = bit_width(type);
  if (bits >= 8) return;
  for (std::byte& b : bytes) {
    const auto raw = static_cast<unsigned>(b);
    if (type == DType::kI1) {
      b = static_cast<std::byte>(raw != 0);
    } else if (is_signed_integer(type)) {
      b = static_cast<std::byte>(static_cast<int>(raw << (32 - bits)) >> (32 - bits));
    } else {
      b = static_cast<std::byte>(raw & ((1u << bits) - 1));
    }
  }
}

void unpack_bits(std::span<const std::byte> packed, std::span<std::byte> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = packed[i / 8] >> (i % 8) & std::byte{1};
}

double FloatAttr::value() const { return decode_float(type.dtype(), bits); }

Attribute find(std::span<const NamedAttribute> sorted, std::string_view name) {
  const auto found = std::ranges::find(sorted, name, &NamedAttribute::name);
  return found == sorted.end() ? Attribute() : found->value;
}

std::optional<std::vector<std::int64_t>> to_ints(Attribute attribute) {
  if (const auto* ints = attribute.as<IntArrayAttr>()) {
    if (ints->values.size() > kMaxInts) return std::nullopt;
    return std::vector<std::int64_t>(ints->values.begin(), ints->values.end());
  }
  if (const auto* dense = attribute.as<DenseAttr>()) return dense_ints(*dense);
  if (const auto* array = attribute.as<ArrayAttr>()) return array_ints(*array);
  return std::nullopt;
}

}  // namespace millrace::devices::stablehlo::ir
