// Named values as PJRT has them: read from the other side, written for it. Pure. Client and plugin
// use them.
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::devices::pjrt {

// The options of a caller. kInvalidArgument for a value without a name, or of a type that PJRT does
// not have.
Result<Attributes> read_options(const abi::NamedValue* values, std::size_t count);
// The values of a plugin, as far as they can be read: none where it has no list.
Attributes read_values(const abi::NamedValue* values, std::size_t count);

// Written values, with what they point to. Thread-safety: immutable.
class NamedValues {
 public:
  explicit NamedValues(Attributes attributes = {});
  NamedValues(const NamedValues&) = delete;
  NamedValues& operator=(const NamedValues&) = delete;
  const abi::NamedValue* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  const Attributes attributes_;
  std::vector<abi::NamedValue> values_;
};

}  // namespace millrace::devices::pjrt
