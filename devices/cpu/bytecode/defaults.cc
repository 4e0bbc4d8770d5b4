#include "millrace/devices/cpu/bytecode/defaults.h"

#include <algorithm>

namespace millrace::devices::cpu::bytecode {
namespace {

using ir::Attribute;

bool is_integer(Attribute a, std::int64_t value) {
  const auto* i = a.as<ir::IntegerAttr>();
  return i != nullptr && i->value == value;
}

bool is_false(Attribute a) {
  const auto* b = a.as<ir::BoolAttr>();
  return b != nullptr && !b->value;
}

// A tensor of at least one element, all of them this.
bool is_splat(Attribute a, std::int64_t value) {
  const auto* dense = a.as<ir::DenseAttr>();
  if (dense == nullptr || dense->bytes.empty() || dense->type.elements().value_or(0) == 0)
    return false;
  const std::size_t width =
      dense->bytes.size() / (dense->splat ? 1 : static_cast<std::size_t>(*dense->type.elements()));
  for (std::size_t i = 0; i < dense->bytes.size(); ++i) {
    const auto expected = static_cast<std::byte>(i % width == 0 ? value : 0);
    if (dense->bytes[i] != expected) return false;
  }
  return true;
}

bool is_empty_string(Attribute a) {
  const auto* s = a.as<ir::StringAttr>();
  return s != nullptr && s->value.empty();
}

bool is_empty_dict(Attribute a) {
  const auto* d = a.as<ir::DictAttr>();
  return d != nullptr && d->values.empty();
}

bool is_empty_array(Attribute a) {
  const auto* array = a.as<ir::ArrayAttr>();
  return array != nullptr && array->values.empty();
}

bool is_enum(Attribute a, ir::EnumClass enum_class) {
  const auto* e = a.as<ir::EnumAttr>();
  return e != nullptr && e->enum_class == enum_class && e->value == 0;
}

bool is_default_precision(Attribute a) {
  const auto* array = a.as<ir::ArrayAttr>();
  return array != nullptr && std::ranges::all_of(array->values, [](Attribute value) {
           return is_enum(value, ir::EnumClass::kPrecision);
         });
}

bool is_default_accuracy(Attribute a) {
  const auto* r = a.as<ir::ResultAccuracyAttr>();
  return r != nullptr && r->atol == 0 && r->rtol == 0 && r->ulps == 0 &&
         r->mode == ir::AccuracyMode::kDefault;
}

}  // namespace

bool is_default(Default value, Attribute a) {
  switch (value) {
    case Default::kNone:
      return false;
    case Default::kZero:
      return is_integer(a, 0);
    case Default::kMinusOne:
      return is_integer(a, -1);
    case Default::kOriginal:
      return is_integer(a, 1);
    case Default::kFalse:
      return is_false(a);
    case Default::kOnes:
      return is_splat(a, 1);
    case Default::kZeros:
    case Default::kFalses:
      return is_splat(a, 0);
    case Default::kNoInts:
      return a.as<ir::DenseAttr>() != nullptr && a.as<ir::DenseAttr>()->bytes.empty();
    case Default::kEmptyString:
      return is_empty_string(a);
    case Default::kEmptyConfig:
      return is_empty_string(a) || is_empty_dict(a);
    case Default::kEmptyArray:
      return is_empty_array(a);
    case Default::kEmptyDict:
      return is_empty_dict(a);
    case Default::kNoType:
      return is_enum(a, ir::EnumClass::kComparisonType);
    case Default::kPrecision:
      return is_default_precision(a);
    case Default::kAccuracy:
      return is_default_accuracy(a);
  }
  return false;
}

}  // namespace millrace::devices::cpu::bytecode
