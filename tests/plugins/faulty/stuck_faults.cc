// Faults that no check is named after: functions that do not return. What holds their thread is
// that of the client.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

// MILLRACE_FAULT_PIPE, a named one, gets a byte, and is kept open while the process lives.
[[noreturn]] void stay_here() {
  if (const char* path = std::getenv("MILLRACE_FAULT_PIPE"); path != nullptr) {
    if (::write(::open(path, O_WRONLY | O_CLOEXEC), "x", 1) != 1) std::_Exit(1);
  }
  while (true) ::pause();
}

// In front of everything else: what constructors of the library do.
__attribute__((constructor)) void on_load() {
  const char* const fault = std::getenv("MILLRACE_FAULT");
  if (fault != nullptr && std::strcmp(fault, "stuck.load") == 0) stay_here();
}

template <class A>
void stay(abi::Api& api) {
  api.set([](A* /*a*/) -> abi::Error* { stay_here(); });
}

}  // namespace

Faults stuck_faults() {
  return {
      {"stuck.load", [](abi::Api& /*api*/) {}},
      {"stuck.exit", [](abi::Api& /*api*/) { std::atexit([] { stay_here(); }); }},
      // No function, but a process that has left the session and the parents that it had.
      {"leave.daemon",
       [](abi::Api& /*api*/) {
         if (::fork() != 0) return;
         ::setsid();
         if (::fork() != 0) std::_Exit(0);
         ::alarm(600);  // should it be left after all
         while (true) ::pause();
       }},
      {"stuck.api", [](abi::Api& /*api*/) { stay_here(); }},
      {"stuck.initialize", stay<abi::PluginInitializeArgs>},
      {"stuck.create", stay<abi::ClientCreateArgs>},
      {"stuck.describe", stay<abi::ClientPlatformNameArgs>},
      {"stuck.memory_stats", stay<abi::DeviceMemoryStatsArgs>},
      // Not the calls by which a runtime learns who tells, one for each device.
      {"stuck.memory_stats_later", instead<[](abi::DeviceMemoryStatsArgs* a) -> abi::Error* {
         static std::atomic<int> calls{0};
         if (calls.fetch_add(1) >= 2) stay_here();
         return healthy(a);
       }>},
      {"stuck.compile", stay<abi::ClientCompileArgs>},
      {"stuck.cost", stay<abi::ExecutableGetCostAnalysisArgs>},
      {"stuck.serialize", stay<abi::ExecutableSerializeArgs>},
      {"stuck.load_program", stay<abi::ExecutableDeserializeAndLoadArgs>},
      {"stuck.put", stay<abi::ClientBufferFromHostBufferArgs>},
      {"stuck.execute", stay<abi::LoadedExecutableExecuteArgs>},
      // Called by the program's own first thread.
      {"stuck.execute_on_main", before<[](abi::LoadedExecutableExecuteArgs* /*a*/) {
         if (::gettid() == ::getpid()) stay_here();
       }>},
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
      {"stuck.execute_several", before<[](abi::LoadedExecutableExecuteArgs* a) {
         while (1 < a->num_devices) ::pause();
       }>},
      // What waits behind it in the plugin does not return either.
      {"stuck.execute_holding_all",
       [](abi::Api& api) {
         static std::mutex all;
         before<[](abi::BufferDestroyArgs* /*a*/) { const std::scoped_lock lock(all); }>(api);
         instead<[](abi::LoadedExecutableExecuteArgs* /*a*/) -> abi::Error* {
           const std::scoped_lock lock(all);
           while (true) ::pause();
         }>(api);
       }},
  };
}

}  // namespace millrace::faulty_plugin
