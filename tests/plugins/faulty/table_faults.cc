// Faults of the table, the plugin's attributes and sizes of structures.
#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

// The healthy attributes, to be changed.
std::vector<abi::NamedValue>& attributes() {
  static std::vector<abi::NamedValue> list = [] {
    abi::PluginAttributesArgs args;
    args.struct_size = abi::Call<abi::PluginAttributesArgs>::kSize;
    healthy(&args);
    return std::vector<abi::NamedValue>(args.attributes, args.attributes + args.num_attributes);
  }();
  return list;
}

void tell_attributes(abi::Api& api) {
  after<[](abi::PluginAttributesArgs* a) {
    a->attributes = attributes().data();
    a->num_attributes = attributes().size();
  }>(api);
}

}  // namespace

Faults table_faults() {
  return {
      // GetPjrtApi of entry.cc knows the first two.
      {"table.constant", [](abi::Api& /*api*/) {}},
      {"table.version", [](abi::Api& api) { api.version.minor_version = 12; }},
      {"table.version_size", [](abi::Api& api) { api.version.struct_size = 0; }},
      {"table.size", [](abi::Api& api) { api.struct_size -= 2 * sizeof(void*); }},
      {"table.functions",
       [](abi::Api& api) {
         api.functions[static_cast<std::size_t>(abi::Slot::kClient_UpdateGlobalProcessInfo)] =
             nullptr;
       }},
      {"table.extensions",
       [](abi::Api& /*api*/) { extensions().streams.next = &extensions().layouts; }},
      {"plugin.initialize", &refuse<abi::PluginInitializeArgs>},
      {"plugin.attributes",
       [](abi::Api& api) {
         attributes().push_back(attributes()[1]);
         tell_attributes(api);
       }},
      {"plugin.xla_version",
       [](abi::Api& api) {
         attributes()[0].type = abi::ValueType::kString;
         attributes()[0].value.string = "2";
         tell_attributes(api);
       }},
      {"plugin.stablehlo_versions",
       [](abi::Api& api) {
         std::swap(attributes()[1].name, attributes()[2].name);
         std::swap(attributes()[1].name_size, attributes()[2].name_size);
         tell_attributes(api);
       }},
      {"sizes.longer", instead<[](abi::ClientPlatformNameArgs* a) {
         return 40 < a->struct_size ? make_error(kInvalidArgument, "too long") : healthy(a);
       }>},
      {"sizes.shorter", before<[](abi::ClientPlatformVersionArgs* a) { a->struct_size = 40; }>},
      {"sizes.exact", instead<[](abi::DeviceMemoryStatsArgs* a) {
         // As that check fills it: behind others' structures may lie anything.
         const bool guarded = a->bytes_in_use == 0x5a5a5a;
         abi::Error* error = healthy(a);
         if (guarded) reinterpret_cast<std::int64_t*>(a + 1)[0] = 0;
         return error;
       }>},
  };
}

}  // namespace millrace::faulty_plugin
