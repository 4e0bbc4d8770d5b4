// Faults that no check is named after: ways for a plugin to take its process along. All are in
// PJRT_Executable_Name, which compile.name calls.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {

Faults crash_faults() {
  return {
      {"crash.abort", instead<[](abi::ExecutableNameArgs* /*a*/) -> abi::Error* {
         constexpr char kWords[] = "first line\nthe plugin gives up\n";
         if (::write(STDERR_FILENO, kWords, sizeof kWords - 1) < 0) std::_Exit(1);
         std::abort();
       }>},
      {"crash.kill", before<[](abi::ExecutableNameArgs* /*a*/) { ::raise(SIGKILL); }>},
      {"crash.exit", instead<[](abi::ExecutableNameArgs* /*a*/) -> abi::Error* { std::_Exit(3); }>},
      {"crash.hang", instead<[](abi::ExecutableNameArgs* /*a*/) -> abi::Error* {
         while (true) ::pause();
       }>},
      {"crash.exception", instead<[](abi::ExecutableNameArgs* /*a*/) -> abi::Error* {
         throw std::runtime_error("thrown by a plugin");
       }>},
  };
}

}  // namespace millrace::faulty_plugin
