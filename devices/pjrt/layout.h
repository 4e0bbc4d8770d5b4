// Element types and layouts as plugins have them: written for PJRT and read from it. Read next:
// devices/device_layout.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/device_layout.h"
#include "millrace/devices/pjrt/abi/api.h"
#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::pjrt {

// Element types in PJRT's numbers (PJRT_Buffer_Type) and in XLA's (PrimitiveType of its protos),
// which are not the same. kInvalid for what PJRT has no number for (kTF32), and back.
abi::BufferType to_buffer_type(DType type);
DType from_buffer_type(abi::BufferType type);
// kInvalid for tuples, opaque values and what is newer than this.
DType from_primitive_type(int type);
int to_primitive_type(DType type);  // 0: none

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

// How the device keeps an array that is put without a layout, as XLA writes it: by PJRT's
// layouts extension. kUnimplemented, with the name of the function, where the plugin has none.
Result<std::string> default_layout_text(const Plugin& plugin, abi::Client* client,
                                        const Shape& shape);

}  // namespace millrace::devices::pjrt
