#include "millrace/devices/stablehlo/ir/attribute.h"

#include "millrace/devices/stablehlo/ir/dense_bytes.h"
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
  if (dense.splat)
    return std::vector<std::int64_t>(static_cast<std::size_t>(*count),
                                     load_int(dense.bytes.data(), type));
  std::vector<std::int64_t> out(static_cast<std::size_t>(*count));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = load_int(dense.bytes.data() + i * byte_width(type), type);
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

double FloatAttr::value() const { return decode_float(type.dtype(), bits); }

Attribute find(std::span<const NamedAttribute> sorted, std::string_view name) {
  for (const NamedAttribute& a : sorted) {
    if (a.name == name) return a.value;
  }
  return {};
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
