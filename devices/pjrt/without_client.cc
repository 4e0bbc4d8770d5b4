// In place of make_factory.cc where the client of plugins is not built: plugins are known by their
// names, and what opens one says why it cannot.
#include <memory>

#include "millrace/devices/pjrt/plugin_list.h"

namespace millrace::devices::pjrt {

ClientFactory make_factory(const PluginEntry& entry) {
  return [entry](const ClientOptions&) -> Result<std::unique_ptr<Client>> {
    return fail(ErrorCode::kUnimplemented,
                "cannot open the plugin " + entry.name + " (" + entry.path +
                    "): this Millrace was built without the client of PJRT plugins "
                    "(-DMILLRACE_PLUGIN_CLIENT=OFF)");
  };
}

}  // namespace millrace::devices::pjrt
