// Faults that no check is named after: ways for a plugin to take its process along. All are in
// PJRT_Executable_Name, which compile.name calls.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "tests/faulty_plugin/faults.h"

namespace millrace::faulty_plugin {

Faults crash_faults() {
  return {
      {"crash.abort",
       [](abi::Api& api) {
         instead<abi::ExecutableNameArgs>(api, [](auto* /*a*/) -> abi::Error* {
           constexpr char kWords[] = "first line\nthe plugin gives up\n";
           if (::write(STDERR_FILENO, kWords, sizeof kWords - 1) < 0) std::_Exit(1);
           std::abort();
         });
       }},
      {"crash.kill",
       [](abi::Api& api) {
         instead<abi::ExecutableNameArgs>(api, [](auto* a) {
           ::raise(SIGKILL);
           return healthy(a);
         });
       }},
      {"crash.exit",
       [](abi::Api& api) {
         instead<abi::ExecutableNameArgs>(api, [](auto* /*a*/) -> abi::Error* { std::_Exit(3); });
       }},
      {"crash.hang",
       [](abi::Api& api) {
         instead<abi::ExecutableNameArgs>(api, [](auto* /*a*/) -> abi::Error* {
           while (true) ::pause();
         });
       }},
      {"crash.exception",
       [](abi::Api& api) {
         instead<abi::ExecutableNameArgs>(api, [](auto* /*a*/) -> abi::Error* {
           throw std::runtime_error("thrown by a plugin");
         });
       }},
  };
}

}  // namespace millrace::faulty_plugin
