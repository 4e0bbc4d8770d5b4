// Layouts as plugins have them: written for PJRT, read from it, and what the layouts extension
// tells. Read next: devices/device_layout.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/device_layout.h"
#include "millrace/devices/pjrt/abi.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/layouts_abi.h"
#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::pjrt {

class PjrtBuffer;
class PjrtClient;
class PjrtExecutable;

// A layout as PJRT takes it, which points into this. Not to be copied.
class WrittenLayout {
 public:
  explicit WrittenLayout(const DeviceLayout& layout);
  WrittenLayout(const WrittenLayout&) = delete;
  WrittenLayout& operator=(const WrittenLayout&) = delete;
  abi::MemoryLayout* get() { return &written_; }
  // Row-major, of so many dimensions. Plugins only read it: made once.
  static abi::MemoryLayout* row_major(int rank);

 private:
  const std::vector<std::int64_t> minor_to_major_;
  std::vector<std::int64_t> tile_dims_;
  std::vector<std::size_t> tile_sizes_;
  abi::MemoryLayout written_;
};

// kUnimplemented for a layout of strides, kInternal for lists that are not there.
Result<DeviceLayout> read_layout(const Plugin& plugin, const abi::MemoryLayout& layout, int rank);

// PJRT's layouts extension: layouts of what there is no buffer of yet, as XLA writes them. Every
// call is kUnimplemented, with its name, where the plugin has none. Thread-safety: thread-safe.
class Layouts {
 public:
  explicit Layouts(const PjrtClient& client);

  // Of an array that is put without a layout.
  Result<std::string> default_of(const Shape& shape) const;
  Result<std::string> of_buffer(const PjrtBuffer& buffer) const;
  // That the program wants its inputs in, and gives its outputs in.
  Result<std::vector<std::string>> of_inputs(const PjrtExecutable& executable) const;
  Result<std::vector<std::string>> of_outputs(const PjrtExecutable& executable) const;

 private:
  // The function that the extension has there.
  template <class A>
  Status call(abi::Function<A> abi::LayoutsExtension::* function, OtherCall name, A& args) const;
  Result<std::string> take(abi::Layout* layout) const;
  Result<std::string> read(abi::Layout* layout) const;
  Result<std::vector<std::string>> of_program(const PjrtExecutable& executable, bool inputs) const;

  const PjrtClient& client_;
  const abi::Extension* const extension_;
};

}  // namespace millrace::devices::pjrt
