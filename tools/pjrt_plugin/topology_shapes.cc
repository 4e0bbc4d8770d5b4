// What callers ask of a topology about its memories. Read next: topology.h.
#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string>

#include "millrace/devices/pjrt/layout.h"
#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/topology.h"
#include "xla.pb.h"

namespace millrace::pjrt_plugin {
namespace {

// As arrays are kept in each of the memories: row-major, without padding.
std::string written_shape(const devices::Shape& shape) {
  millrace::pjrt::Shape written;
  written.set_element_type(devices::pjrt::to_primitive_type(shape.dtype()));
  for (int i = 0; i < shape.rank(); ++i) {
    written.add_dimensions(shape.dim(i));
    written.add_is_dynamic_dimension(false);
    written.mutable_layout()->add_minor_to_major(shape.rank() - 1 - i);
  }
  written.mutable_layout()->set_tail_padding_alignment_in_elements(1);
  return written.SerializeAsString();
}

}  // namespace

void add_topology_shapes(abi::Api& api) {
  add<&abi::TopologyGetMemorySpaceKindIdsArgs::num_kind_ids, "num_memory_space_kind_ids">(
      api, [](abi::TopologyGetMemorySpaceKindIdsArgs& a) -> Status {
        MILLRACE_GIVEN(topology, topology);
        static constexpr auto kIds = [] {
          std::array<int, std::size(kMemoryKinds)> ids{};
          std::iota(ids.begin(), ids.end(), 0);
          return ids;
        }();
        a.kind_ids = kIds.data();
        a.num_kind_ids = kIds.size();
        return {};
      });
  add<&abi::TopologyMakeCanonicalShapeArgs::deleter, "serialized_shape_deleter">(
      api, [](abi::TopologyMakeCanonicalShapeArgs& a) -> Status {
        MILLRACE_GIVEN(topology, topology);
        if (a.kind_id < 0 || a.kind_id >= std::ssize(kMemoryKinds)) {
          return fail(ErrorCode::kInvalidArgument,
                      "there is no kind of memory " + std::to_string(a.kind_id));
        }
        MILLRACE_TRY(const devices::Shape shape, read_shape(a.type, a.dims, a.num_dims));
        MILLRACE_TRY_STATUS(check_row_major(a.layout, shape));
        const std::string bytes = written_shape(shape);
        char* const copy = new char[bytes.size()];
        std::ranges::copy(bytes, copy);
        a.bytes = copy;
        a.bytes_size = bytes.size();
        a.deleter = [](const char* made) { delete[] made; };
        return {};
      });
}

}  // namespace millrace::pjrt_plugin
