#include "tests/plugins/healthy/objects.h"

namespace millrace::memory_plugin {
namespace {

abi::Error* lacking(abi::Slot slot, void* /*args*/) {
  return make_error(kUnimplemented, std::string(to_string(slot)) + " is not implemented here");
}

}  // namespace

Extensions& extensions() {
  static Extensions all = {make_layouts(), make_abi_versions(), make_streams()};
  all.layouts.next = &all.abi_versions;
  all.abi_versions.next = &all.streams;
  return all;
}

abi::Api make_api() {
  abi::Api api;
  api.set_all<lacking>();
  add_errors_and_events(api);
  add_clients(api);
  add_devices(api);
  add_topologies(api);
  add_executables(api);
  add_execution(api);
  add_buffers(api);
  add_copies(api);
  add_transfers(api);
  api.extension_start = &extensions().layouts;
  return api;
}

}  // namespace millrace::memory_plugin
