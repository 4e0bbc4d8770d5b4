// Element types in PJRT's numbers (PJRT_Buffer_Type) and in XLA's (PrimitiveType of its protos),
// which are not the same.
#pragma once

#include "millrace/devices/pjrt/abi/api.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::pjrt {

// kInvalid for what PJRT has no number for (kTF32), and back.
abi::BufferType to_buffer_type(DType type);
DType from_buffer_type(abi::BufferType type);
// kInvalid for tuples, opaque values and what is newer than this.
DType from_primitive_type(int type);

}  // namespace millrace::devices::pjrt
