// Faults that no check is named after: ways for a plugin to take along a process that only looks at
// it: when it is loaded, asked for its table, or makes its client.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

[[noreturn]] void give_up() {
  constexpr char kWords[] = "first line\nno hardware here\n";
  if (::write(STDERR_FILENO, kWords, sizeof kWords - 1) < 0) std::_Exit(1);
  std::abort();
}

// In front of everything else: what constructors of the library do.
__attribute__((constructor)) void on_load() {
  const char* const fault = std::getenv("MILLRACE_FAULT");
  if (fault != nullptr && std::strcmp(fault, "create.load_aborts") == 0) give_up();
}

}  // namespace

Faults create_faults() {
  return {
      {"create.load_aborts", [](abi::Api& /*api*/) {}},
      {"create.table_aborts", [](abi::Api& /*api*/) { give_up(); }},
      {"create.abort", instead<[](abi::ClientCreateArgs* /*a*/) -> abi::Error* { give_up(); }>},
      {"create.segfault", before<[](abi::ClientCreateArgs* /*a*/) { ::raise(SIGSEGV); }>},
      {"create.thread_segfaults",
       before<[](abi::ClientCreateArgs* /*a*/) { std::thread([] { ::raise(SIGSEGV); }).join(); }>},
      {"create.exit", instead<[](abi::ClientCreateArgs* /*a*/) -> abi::Error* { std::_Exit(3); }>},
      // As if all were done.
      {"create.exits_with_0",
       instead<[](abi::ClientCreateArgs* /*a*/) -> abi::Error* { std::exit(0); }>},
      {"create.execute_exits_with_0",
       instead<[](abi::LoadedExecutableExecuteArgs* /*a*/) -> abi::Error* { std::exit(0); }>},
      {"create.execute_segfaults",
       before<[](abi::LoadedExecutableExecuteArgs* /*a*/) { ::raise(SIGSEGV); }>},
      // Its end takes the process along, when all is told but nothing is answered.
      {"create.destroy_aborts",
       instead<[](abi::ClientDestroyArgs* /*a*/) -> abi::Error* { give_up(); }>},
      {"create.no_devices",
       after<[](abi::ClientAddressableDevicesArgs* a) { a->num_devices = 0; }>},
      {"create.version_for_terminals", after<[](abi::ClientPlatformVersionArgs* a) {
         a->platform_version = "\x1b[31mred";
         a->platform_version_size = 8;
       }>},
      {"create.kind_is_no_utf8", after<[](abi::DeviceDescriptionKindArgs* a) {
         a->kind = "\xff\xfe kind";
         a->kind_size = 7;
       }>},
  };
}

}  // namespace millrace::faulty_plugin
