// Named values as PJRT has them: read from a caller, written for one. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::pjrt_plugin {

namespace abi = devices::pjrt::abi;

// kInvalidArgument for a value without a name, or of a type that PJRT does not have.
Result<devices::Attributes> read_named_values(const abi::NamedValue* values, std::size_t count);

// Written values, with what they point to. Thread-safety: immutable.
class NamedValues {
 public:
  explicit NamedValues(devices::Attributes attributes = {});
  NamedValues(const NamedValues&) = delete;
  NamedValues& operator=(const NamedValues&) = delete;
  const abi::NamedValue* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  const devices::Attributes attributes_;
  std::vector<abi::NamedValue> values_;
};

}  // namespace millrace::pjrt_plugin
