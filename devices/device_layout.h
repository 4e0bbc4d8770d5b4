// DeviceLayout: the order in which a device keeps the elements of an array. Only callers that move
// raw bytes, or that put a program's arguments in the program's own layout, need it: puts and
// fetches are in row-major order under any layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::devices {

struct DeviceLayout {
  std::vector<std::int64_t> minor_to_major = {};  // dimensions, the one that varies fastest first
  std::vector<std::vector<std::int64_t>> tiles =
      {};  // outermost first; none: elements are not tiled

  static DeviceLayout row_major(int rank);
  // As XLA writes it: "{1,0}", "{1,0:T(8,128)}".
  std::string to_text() const;
  // kUnimplemented for a text with more (element sizes, memory spaces), kInvalidArgument for what
  // is no layout.
  static Result<DeviceLayout> from_text(std::string_view text);
  // kInvalidArgument unless it names each of so many dimensions once, and tiles of at least one
  // element.
  Status check(int rank) const;
  bool operator==(const DeviceLayout&) const = default;
};

}  // namespace millrace::devices
