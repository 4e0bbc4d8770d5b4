// DeviceLayout: in which order a plugin's device keeps the elements of an array. Nothing needs it
// but who moves raw bytes or wants a program's arguments as the program keeps them: puts and copies
// to the host are in row-major order whatever the device does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/pjrt/abi.h"
#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::pjrt {

class PjrtBuffer;
class PjrtClient;
class PjrtExecutable;

struct DeviceLayout {
  std::vector<std::int64_t> minor_to_major;      // dimensions, the one that varies fastest first
  std::vector<std::vector<std::int64_t>> tiles;  // outermost first; none: elements are not tiled

  static DeviceLayout row_major(int rank);
  // As XLA writes it: "{1,0}", "{1,0:T(8,128)}".
  std::string to_text() const;
  bool operator==(const DeviceLayout&) const = default;
};

// A layout as PJRT takes it, which points into this. Not to be copied.
class WrittenLayout {
 public:
  explicit WrittenLayout(const DeviceLayout& layout);
  WrittenLayout(const WrittenLayout&) = delete;
  WrittenLayout& operator=(const WrittenLayout&) = delete;
  abi::MemoryLayout* get() { return &written_; }

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
  template <class A>
  Status call(std::size_t slot, std::string_view name, A& args) const;
  Result<std::string> take(void* layout) const;
  Result<std::vector<std::string>> of_program(const PjrtExecutable& executable, bool inputs) const;

  const PjrtClient& client_;
  const abi::Extension* const extension_;
};

}  // namespace millrace::devices::pjrt
