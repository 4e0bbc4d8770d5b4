// A layout as PJRT's extension has it. Read next: extensions.h.
#pragma once

#include "millrace/devices/pjrt/abi/extensions.h"
#include "millrace/tools/pjrt_plugin/handle.h"

namespace millrace::devices::pjrt::abi {

// Row-major, of so many dimensions. Thread-safety: immutable.
struct Layout final : pjrt_plugin::Handle<Layout> {
  explicit Layout(int dimensions) : rank(dimensions) {}
  const int rank;
};

}  // namespace millrace::devices::pjrt::abi
