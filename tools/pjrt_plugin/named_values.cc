#include "millrace/tools/pjrt_plugin/named_values.h"

#include <cstdint>
#include <utility>
#include <variant>

namespace millrace::pjrt_plugin {
namespace {

Result<devices::Attribute> read_value(const abi::NamedValue& value, const std::string& name) {
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
  return fail(ErrorCode::kInvalidArgument, "the option '" + name + "' is of type " +
                                               std::to_string(static_cast<int>(value.type)) +
                                               ", which PJRT does not have");
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

Result<devices::Attributes> read_named_values(const abi::NamedValue* values, std::size_t count) {
  devices::Attributes read;
  if (values == nullptr && count != 0) {
    return fail(ErrorCode::kInvalidArgument,
                std::to_string(count) + " options were announced, and none given");
  }
  // An array of them has one size, which is part of the ABI since its first version.
  for (std::size_t i = 0; i < count; ++i) {
    const abi::NamedValue& value = values[i];
    if (value.name == nullptr)
      return fail(ErrorCode::kInvalidArgument, "option " + std::to_string(i) + " has no name");
    std::string name(value.name, value.name_size);
    MILLRACE_TRY(devices::Attribute one, read_value(value, name));
    read.insert_or_assign(std::move(name), std::move(one));
  }
  return read;
}

NamedValues::NamedValues(devices::Attributes attributes) : attributes_(std::move(attributes)) {
  for (const auto& [name, value] : attributes_) {
    abi::NamedValue written;
    written.struct_size = sizeof(abi::NamedValue);
    written.name = name.data();
    written.name_size = name.size();
    std::visit(Writer{written}, value);
    values_.push_back(written);
  }
}

}  // namespace millrace::pjrt_plugin
