// The sizes of structures: callers may be older or newer than the plugin.
#include <array>
#include <cstring>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

constexpr std::int64_t kUnwritten = 0x5a5a5a;

// A structure with bytes behind it that nobody but this caller may write.
template <class A>
struct Guarded {
  A args;
  std::array<unsigned char, 64> behind;
  Guarded() { behind.fill(0xa5); }
  bool harmed() const {
    for (const unsigned char c : behind) {
      if (c != 0xa5) return true;
    }
    return false;
  }
};

Status take(const Table& table, Result<abi::Error*> result) {
  MILLRACE_TRY(abi::Error* const error, std::move(result));
  if (error == nullptr) return {};
  return std::unexpected(table.take_error(error, "the call"));
}

Status longer(Rig& rig) {
  Guarded<abi::ClientPlatformNameArgs> name;
  MILLRACE_TRY(name.args.client, rig.client());
  name.args.struct_size = sizeof(name);
  MILLRACE_TRY_STATUS(take(rig.table(), rig.table().raw_as_is(name.args)));
  Guarded<abi::ClientAddressableDevicesArgs> devices;
  MILLRACE_TRY(devices.args.client, rig.client());
  devices.args.struct_size = sizeof(devices);
  MILLRACE_TRY_STATUS(take(rig.table(), rig.table().raw_as_is(devices.args)));
  if (name.harmed() || devices.harmed()) return broken("what it does not know is written");
  return {};
}

Status shorter(Rig& rig) {
  abi::ClientPlatformVersionArgs args;
  MILLRACE_TRY(args.client, rig.client());
  const char untouched = 0;
  args.platform_version = &untouched;
  args.platform_version_size = 12345;
  // Up to the client: no room for what is told.
  args.struct_size = abi::kStructSize<abi::ClientPlatformVersionArgs> -
                     sizeof(args.platform_version) - sizeof(args.platform_version_size);
  const Status status = take(rig.table(), rig.table().raw_as_is(args));
  if (args.platform_version != &untouched || args.platform_version_size != 12345) {
    return broken("fields are written that the caller's structure does not have");
  }
  rig.note(status ? "accepted" : "refused");
  return {};
}

Status exact(Rig& rig) {
  Guarded<abi::DeviceMemoryStatsArgs> stats;
  MILLRACE_TRY(stats.args.device, rig.device());
  // No plugin may count on fields being zero before it writes them.
  stats.args.bytes_in_use = kUnwritten;
  const Status told = rig.table().call(stats.args);
  if (stats.harmed()) {
    return broken("PJRT_Device_MemoryStats writes behind a structure of " +
                  std::to_string(stats.args.struct_size) + " bytes");
  }
  Guarded<abi::ClientPlatformNameArgs> name;
  MILLRACE_TRY(name.args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(name.args));
  if (name.harmed()) return broken("PJRT_Client_PlatformName writes behind its structure");
  static_cast<void>(told);
  return {};
}

}  // namespace

std::vector<Check> size_checks() {
  return after({"client.devices", "client.platform_name", "client.platform_version"},
               {
                   {.name = "sizes.longer",
                    .wants = "structures that are longer than the plugin knows are accepted",
                    .run = &longer},
                   {.name = "sizes.shorter",
                    .wants = "nothing is written that a shorter structure has no room for",
                    .run = &shorter},
                   {.name = "sizes.exact",
                    .wants = "nothing is written behind a structure of the stated size",
                    .run = &exact},
               });
}

}  // namespace millrace::conform
