#include "millrace/devices/cpu/kernels/region.h"

namespace millrace::devices::cpu {

bool Region::fits() const {
  return program.scratch_bytes_per_element() * static_cast<std::size_t>(kRegionBatch) <=
         RegionFrame::kBytes;
}

}  // namespace millrace::devices::cpu
