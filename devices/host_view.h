// What backends need to know about the host bytes of a put: are they well described, are they
// dense, and a copy of them in row-major order. Pure.
#pragma once

#include <cstddef>

#include "millrace/devices/client.h"

namespace millrace::devices {

// kInvalidArgument for a missing pointer, an element type without bytes, or strides of another
// rank.
Status check(const HostView& view);
// True if the elements lie one after the other in row-major order (strides of dimensions of size
// one or of empty arrays do not matter).
bool is_dense(const HostView& view);
// Writes the elements, dense and row-major, to destination (view.shape.size_bytes() of them).
void copy_dense(const HostView& view, std::byte* destination);

}  // namespace millrace::devices
