// In place of backends.cc where the CPU device is not built: its name is known, and what opens it
// says why it cannot.
#include <memory>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/backends.h"

namespace millrace::devices::cpu {

ClientRegistry backends() {
  ClientRegistry registry;
  const auto refuse = [](const ClientOptions&) -> Result<std::unique_ptr<Client>> {
    return fail(ErrorCode::kUnimplemented,
                "cannot open the CPU device: this Millrace was built without it "
                "(-DMILLRACE_CPU_DEVICE=OFF); PJRT_DEVICE names the device of a plugin, and "
                "PJRT_NAMES_AND_LIBRARY_PATHS its library");
  };
  const Status added = registry.add("cpu", refuse, 0);
  MILLRACE_CHECK(added.has_value(), "an empty registry takes any name");
  return registry;
}

}  // namespace millrace::devices::cpu
