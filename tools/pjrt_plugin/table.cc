#include "millrace/tools/pjrt_plugin/table.h"

#include <string>

#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/client.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/event.h"
#include "millrace/tools/pjrt_plugin/executable.h"
#include "millrace/tools/pjrt_plugin/extensions.h"
#include "millrace/tools/pjrt_plugin/topology.h"

namespace millrace::pjrt_plugin {
namespace {

abi::Error* lacking(abi::Slot slot, void* /*args*/) {
  return make_error(Error(ErrorCode::kUnimplemented,
                          std::string(to_string(slot)) + " is not implemented by this plugin"));
}

void add_plugin(abi::Api& api) {
  api.set([](abi::PluginInitializeArgs*) {});
  add<&abi::PluginAttributesArgs::num_attributes, "num_attributes">(
      api, [](abi::PluginAttributesArgs& a) {
        a.attributes = plugin_attributes().data();
        a.num_attributes = plugin_attributes().size();
      });
}

}  // namespace

abi::Api make_api() {
  abi::Api api;
  api.set_all<lacking>();
  add_plugin(api);
  add_errors(api);
  add_events(api);
  add_clients(api);
  add_devices(api);
  add_memories(api);
  add_topologies(api);
  add_topology_shapes(api);
  add_buffers(api);
  add_external_references(api);
  add_puts(api);
  add_fetches(api);
  add_transfers(api);
  add_takeovers(api);
  add_compilation(api);
  add_executables(api);
  add_loaded_executables(api);
  add_execution(api);
  api.extension_start = first_extension();
  return api;
}

}  // namespace millrace::pjrt_plugin
