// The sizes of structures: callers may be older or newer than the plugin.
#include <algorithm>
#include <array>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family sizes_family("client.devices client.platform_name client.platform_version");

namespace {

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
  // Up to the client: no room for what is told.
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
