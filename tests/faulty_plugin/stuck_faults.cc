// Faults that no check is named after: functions that do not return. What holds their thread is
// that of the client.
#include <unistd.h>

#include "tests/faulty_plugin/faults.h"

namespace millrace::faulty_plugin {
namespace {

template <class A>
void stay(abi::Api& api) {
  instead<A>(api, [](auto* /*a*/) -> abi::Error* {
    while (true) ::pause();
  });
}

}  // namespace

Faults stuck_faults() {
  return {
      {"stuck.compile", stay<abi::ClientCompileArgs>},
      {"stuck.put", stay<abi::ClientBufferFromHostBufferArgs>},
      {"stuck.execute", stay<abi::LoadedExecutableExecuteArgs>},
      {"stuck.copy", stay<abi::BufferCopyToDeviceArgs>},
      {"stuck.ready", stay<abi::BufferReadyEventArgs>},
      {"stuck.read", stay<abi::BufferOpaqueDeviceMemoryDataPointerArgs>},
      {"stuck.free_buffer", stay<abi::BufferDestroyArgs>},
      {"stuck.free_program", stay<abi::LoadedExecutableDestroyArgs>},
      {"stuck.remove", stay<abi::BufferDeleteArgs>},
      {"stuck.free_client", stay<abi::ClientDestroyArgs>},
      {"stuck.unmap", stay<abi::ClientDmaUnmapArgs>},
      // Nor can it be opened.
      {"stuck.free_client_after_an_error",
       [](abi::Api& api) {
         refuse<abi::ClientPlatformNameArgs>(api);
         stay<abi::ClientDestroyArgs>(api);
       }},
      // One device waits for the other's thread.
      {"stuck.execute_several",
       [](abi::Api& api) {
         instead<abi::LoadedExecutableExecuteArgs>(api, [](auto* a) {
           while (a->num_devices > 1) ::pause();
           return healthy(a);
         });
       }},
      // What waits behind it in the plugin does not return either.
      {"stuck.execute_holding_all",
       [](abi::Api& api) {
         static std::mutex all;
         instead<abi::BufferDestroyArgs>(api, [](auto* a) {
           const std::scoped_lock lock(all);
           return healthy(a);
         });
         instead<abi::LoadedExecutableExecuteArgs>(api, [](auto* /*a*/) -> abi::Error* {
           const std::scoped_lock lock(all);
           while (true) ::pause();
         });
       }},
  };
}

}  // namespace millrace::faulty_plugin
