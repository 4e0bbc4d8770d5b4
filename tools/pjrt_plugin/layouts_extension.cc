// The extension Layouts: how arrays, arguments and results lie. Read next: extensions.h.
#include <string>
#include <vector>

#include "millrace/devices/device_layout.h"
#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/executable.h"
#include "millrace/tools/pjrt_plugin/extensions.h"
#include "millrace/tools/pjrt_plugin/layouts.h"

namespace millrace::devices::pjrt::abi {

// As XLA writes it.
struct SerializedLayout {
  std::string text;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

constexpr auto kDestroy = &abi::LayoutDestroyArgs::layout;

// As the ABI has it, although the list is not the caller's to write.
abi::Layout** list(const std::vector<abi::Layout*>& layouts) {
  return const_cast<abi::Layout**>(layouts.data());
}

Result<abi::Layout*> default_layout(abi::BufferType type, const std::int64_t* dims,
                                    std::size_t num_dims) {
  MILLRACE_TRY(const devices::Shape shape, read_shape(type, dims, num_dims));
  return new abi::Layout(shape.rank());
}

abi::Function<abi::LayoutSerializeArgs> serialize_function() {
  return extension_function<&abi::LayoutSerializeArgs::deleter, "serialized_layout_deleter",
                            "PJRT_Layouts_MemoryLayout_Serialize">(
      [](abi::LayoutSerializeArgs& a) -> Status {
        MILLRACE_GIVEN(layout, layout);
        a.owner =
            new abi::SerializedLayout{devices::DeviceLayout::row_major(layout.rank).to_text()};
        a.text = a.owner->text.data();
        a.text_size = a.owner->text.size();
        a.deleter = [](abi::SerializedLayout* owner) { delete owner; };
        return {};
      });
}

}  // namespace

const abi::LayoutsExtension& layouts_extension() {
  static abi::LayoutsExtension extension = [] {
    abi::LayoutsExtension made{};
    made.struct_size = sizeof(made);
    made.type = abi::kLayoutsExtension;
    made.destroy = extension_function<kDestroy, "layout", "PJRT_Layouts_MemoryLayout_Destroy">(
        [](abi::LayoutDestroyArgs& a) -> Status {
          MILLRACE_GIVEN(layout, layout);
          delete &layout;
          return {};
        });
    made.serialize = serialize_function();
    made.client_default = extension_function<&abi::ClientDefaultLayoutArgs::layout, "layout",
                                             "PJRT_Layouts_PJRT_Client_GetDefaultLayout">(
        [](abi::ClientDefaultLayoutArgs& a) -> Status {
          MILLRACE_GIVEN(client, client);
          MILLRACE_TRY(a.layout, default_layout(a.type, a.dims, a.num_dims));
          return {};
        });
    made.of_buffer = extension_function<&abi::BufferLayoutArgs::layout, "layout",
                                        "PJRT_Layouts_PJRT_Buffer_MemoryLayout">(
        [](abi::BufferLayoutArgs& a) -> Status {
          MILLRACE_GIVEN(buffer, buffer);
          a.layout = new abi::Layout(buffer.array.shape().rank());
          return {};
        });
    made.topology_default = extension_function<&abi::TopologyDefaultLayoutArgs::layout, "layout",
                                               "PJRT_Layouts_PJRT_Topology_GetDefaultLayout">(
        [](abi::TopologyDefaultLayoutArgs& a) -> Status {
          MILLRACE_GIVEN(topology, topology);
          MILLRACE_TRY(a.layout, default_layout(a.type, a.dims, a.num_dims));
          return {};
        });
    made.of_outputs = extension_function<&abi::ExecutableLayoutsArgs::layouts, "layouts",
                                         "PJRT_Layouts_PJRT_Executable_GetOutputLayouts">(
        [](abi::ExecutableLayoutsArgs& a) -> Status {
          MILLRACE_GIVEN(executable, executable);
          a.num_layouts = executable.program->layouts().of_results.size();
          a.layouts = list(executable.program->layouts().of_results);
          return {};
        });
    made.of_parameters = extension_function<&abi::ExecutableLayoutsArgs::layouts, "layouts",
                                            "PJRT_Layouts_PJRT_Executable_GetParameterLayouts">(
        [](abi::ExecutableLayoutsArgs& a) -> Status {
          MILLRACE_GIVEN(executable, executable);
          a.num_layouts = executable.program->layouts().of_arguments.size();
          a.layouts = list(executable.program->layouts().of_arguments);
          return {};
        });
    return made;
  }();
  return extension;
}

}  // namespace millrace::pjrt_plugin
