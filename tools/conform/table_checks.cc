// The table of functions, before any of them is called; then the sizes of structures: callers may
// be older or newer than the plugin.
#include <algorithm>
#include <array>
#include <set>

#include "millrace/devices/pjrt/abi/api.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family table_family;
Family sizes_family("client.devices client.platform_name client.platform_version");

namespace {

std::string version_text(const abi::Api& api) {
  return std::to_string(api.version.major_version) + "." +
         std::to_string(api.version.minor_version);
}

MILLRACE_CONFORM(table, exported, "the library exports GetPjrtApi, which gives a table",
                 .need = kMust) {
  const abi::Api* api = rig.table().api();
  if (api == nullptr) return broken("GetPjrtApi gives no table");
  if (api->struct_size <= offsetof(abi::Api, functions)) {
    return broken("the table has ", api->struct_size, " bytes, which is no function at all");
  }
  return rig.note("PJRT API ", version_text(*api), ", ", rig.table().slots(), " functions");
}

MILLRACE_CONFORM(table, version, "the version is one that clients speak: 0.68 or newer") {
  const abi::Api& api = *rig.table().api();
  if (api.version.major_version != abi::kMajor || api.version.minor_version < abi::kOldestMinor) {
    return broken("the version is ", version_text(api), "; clients of today speak 0.",
                  abi::kOldestMinor, " and newer");
  }
  return rig.note(version_text(api));
}

MILLRACE_CONFORM(table, version_size, "the version's structure states its size") {
  const std::size_t size = rig.table().api()->version.struct_size;
  return expect(size == sizeof(abi::Version), "pjrt_api_version.struct_size is ", size, ", not ",
                sizeof(abi::Version));
}

MILLRACE_CONFORM(table, size, "the table is whole: it has every function of its version") {
  const abi::Api& api = *rig.table().api();
  const std::size_t bytes = api.struct_size - offsetof(abi::Api, functions);
  if (bytes % sizeof(void*) != 0) {
    return broken("struct_size is ", api.struct_size, ", which ends inside a function");
  }
  const std::size_t wanted = devices::pjrt::abi::least_functions(api.version.minor_version);
  if (rig.table().slots() < wanted) {
    return broken("the table has ", rig.table().slots(), " functions, version ", version_text(api),
                  " has at least ", wanted);
  }
  return rig.note(rig.table().slots(), " functions, ", api.struct_size, " bytes");
}

MILLRACE_CONFORM(table, functions, "no function is null: what is lacking says UNIMPLEMENTED") {
  std::string missing;
  const std::size_t known = std::min(rig.table().slots(), std::size(rig.table().api()->functions));
  for (std::size_t i = 0; i < known; ++i) {
    if (rig.table().api()->functions[i] != nullptr) continue;
    missing +=
        (missing.empty() ? "" : ", ") + std::string(abi::to_string(static_cast<abi::Slot>(i)));
  }
  return expect(missing.empty(), "clients that call these crash: ", missing);
}

MILLRACE_CONFORM(table, constant, "GetPjrtApi gives one table, on every thread") {
  return on_threads(kThreads, [&](std::size_t /*thread*/) -> Status {
    for (int i = 0; i < 10; ++i) {
      if (rig.table().get_api()() != rig.table().api()) {
        return broken("GetPjrtApi gives another table at another call");
      }
    }
    return {};
  });
}

MILLRACE_CONFORM(table, extensions,
                 "the chain of extensions ends, names none twice, and each states its size") {
  std::set<int> types;
  std::string list;
  std::size_t length = 0;
  for (const abi::Extension* e = first_extension(rig.table()); e != nullptr; e = e->next) {
    if (++length > kMostExtensions) return broken("the chain of extensions does not end");
    if (e->struct_size < sizeof(abi::Extension)) {
      return broken("extension ", extension_name(e->type), " has ", e->struct_size,
                    " bytes, less than its own head");
    }
    if (!types.insert(e->type).second) {
      return broken("extension ", extension_name(e->type), " is there twice");
    }
    list += (list.empty() ? "" : ", ") + extension_name(e->type);
  }
  return rig.note(list.empty() ? "none" : list);
}

constexpr std::int64_t kUnwritten = 0x5a5a5a;

// A structure with bytes behind it that only this caller may write.
template <class A>
struct Guarded {
  A args;
  std::array<unsigned char, 64> behind;
  Guarded() { behind.fill(0xa5); }
  bool harmed() const {
    return std::ranges::any_of(behind, [](unsigned char c) { return c != 0xa5; });
  }
};

MILLRACE_CONFORM(sizes, longer, "structures that are longer than the plugin knows are accepted") {
  Guarded<abi::ClientPlatformNameArgs> name;
  MILLRACE_TRY(name.args.client, rig.client());
  name.args.struct_size = sizeof(name);
  MILLRACE_TRY_STATUS(rig.table().call_as_is(name.args));
  Guarded<abi::ClientAddressableDevicesArgs> devices;
  MILLRACE_TRY(devices.args.client, rig.client());
  devices.args.struct_size = sizeof(devices);
  MILLRACE_TRY_STATUS(rig.table().call_as_is(devices.args));
  return expect(!name.harmed() && !devices.harmed(), "what it does not know is written");
}

MILLRACE_CONFORM(sizes, shorter, "nothing is written that a shorter structure has no room for") {
  abi::ClientPlatformVersionArgs args;
  MILLRACE_TRY(args.client, rig.client());
  const char untouched = 0;
  args.platform_version = &untouched;
  args.platform_version_size = 12345;
  // Up to the client: no room for what is reported.
  args.struct_size = abi::kStructSize<abi::ClientPlatformVersionArgs> -
                     sizeof(args.platform_version) - sizeof(args.platform_version_size);
  const Status status = rig.table().call_as_is(args);
  if (args.platform_version != &untouched || args.platform_version_size != 12345) {
    return broken("fields are written that the caller's structure does not have");
  }
  return rig.note(status ? "accepted" : "refused");
}

MILLRACE_CONFORM(sizes, exact, "nothing is written behind a structure of the stated size") {
  Guarded<abi::DeviceMemoryStatsArgs> stats;
  MILLRACE_TRY(stats.args.device, rig.device());
  // No plugin may count on fields being zero before it writes them.
  stats.args.bytes_in_use = kUnwritten;
  static_cast<void>(rig.table().call(stats.args));
  if (stats.harmed()) {
    return broken("PJRT_Device_MemoryStats writes behind a structure of ", stats.args.struct_size,
                  " bytes");
  }
  Guarded<abi::ClientPlatformNameArgs> name;
  MILLRACE_TRY(name.args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(name.args));
  return expect(!name.harmed(), "PJRT_Client_PlatformName writes behind its structure");
}

}  // namespace
}  // namespace millrace::conform
