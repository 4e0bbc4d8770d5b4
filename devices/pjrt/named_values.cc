#include "millrace/devices/pjrt/named_values.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace millrace::devices::pjrt {
namespace {

// nullopt: of a type that PJRT does not have.
std::optional<Attribute> read_value(const abi::NamedValue& value) {
  switch (value.type) {
    case abi::ValueType::kString:
      return value.value.string == nullptr ? std::string()
                                           : std::string(value.value.string, value.value_size);
    case abi::ValueType::kInt64:
      return value.value.int64;
    case abi::ValueType::kInt64List:
      if (value.value.int64_list == nullptr) return std::vector<std::int64_t>();
      return std::vector<std::int64_t>(value.value.int64_list,
                                       value.value.int64_list + value.value_size);
    case abi::ValueType::kFloat:
      return static_cast<double>(value.value.number);
    case abi::ValueType::kBool:
      return value.value.boolean;
  }
  return std::nullopt;
}

struct Writer {
  abi::NamedValue& to;
  void operator()(const std::string& value) const {
    to.type = abi::ValueType::kString;
    to.value.string = value.data();
    to.value_size = value.size();
  }
  void operator()(bool value) const {
    to.type = abi::ValueType::kBool;
    to.value.boolean = value;
  }
  void operator()(std::int64_t value) const {
    to.type = abi::ValueType::kInt64;
    to.value.int64 = value;
  }
  void operator()(const std::vector<std::int64_t>& value) const {
    to.type = abi::ValueType::kInt64List;
    to.value.int64_list = value.data();
    to.value_size = value.size();
  }
  void operator()(double value) const {
    to.type = abi::ValueType::kFloat;
    to.value.number = static_cast<float>(value);
  }
};

}  // namespace

Result<Attributes> read_options(const abi::NamedValue* values, std::size_t count) {
  if (values == nullptr && count != 0) {
    return fail(ErrorCode::kInvalidArgument,
                std::to_string(count) + " options were announced, and none given");
  }
  // An array of them has one size, which is part of the ABI since its first version.
  for (std::size_t i = 0; i < count; ++i) {
    const abi::NamedValue& value = values[i];
    if (value.name == nullptr)
      return fail(ErrorCode::kInvalidArgument, "option " + std::to_string(i) + " has no name");
    if (read_value(value)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "the option '" + std::string(value.name, value.name_size) + "' is of type " +
                    std::to_string(static_cast<int>(value.type)) + ", which PJRT does not have");
  }
  return read_values(values, count);
}

Attributes read_values(const abi::NamedValue* values, std::size_t count) {
  Attributes read;
  for (std::size_t i = 0; values != nullptr && i < count; ++i) {
    const abi::NamedValue& value = values[i];
    if (value.name == nullptr) continue;
    read[std::string(value.name, value.name_size)] =
        read_value(value).value_or(std::string("a value of unknown type"));
  }
  return read;
}

NamedValues::NamedValues(Attributes attributes) : attributes_(std::move(attributes)) {
  for (const auto& [name, value] : attributes_) {
    abi::NamedValue written;
    written.struct_size = abi::kStructSize<abi::NamedValue>;
    written.name = name.data();
    written.name_size = name.size();
    std::visit(Writer{written}, value);
    values_.push_back(written);
  }
}

}  // namespace millrace::devices::pjrt
