// The backend that a plugin is: of all that plugin_list.h declares, the one function that needs the
// client. A build without it (MILLRACE_PLUGIN_CLIENT) has without_client.cc instead.
#include <memory>
#include <utility>

#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/pjrt/plugin_list.h"

namespace millrace::devices::pjrt {

ClientFactory make_factory(const PluginEntry& entry) {
  return [entry](const ClientOptions& options) -> Result<std::unique_ptr<Client>> {
    const OpeningOptions opening{.thread = options.opener ? options.opener() : nullptr,
                                 .call = options.call};
    MILLRACE_TRY(const Plugin* plugin, Plugin::load(entry.path, opening, entry.name));
    MILLRACE_TRY(auto settings, create_options(entry, options.process));
    PjrtClientOptions made{.completions = options.environment.compute,
                           .driver = options.environment.blocking,
                           .frees = options.frees ? options.frees() : nullptr,
                           .settings = std::move(settings),
                           .store = options.store,
                           .store_prefix = "pjrt/" + lower(entry.name) + "/",
                           .clock = options.environment.clock,
                           .trace = options.trace,
                           .lane_suffix = options.lane_suffix,
                           .profile = options.profile,
                           .timers = options.environment.timers,
                           .close_timeout = options.close_timeout};
    for (const auto& [name, value] : options.settings) made.settings[name] = value;
    return open_client(*plugin, std::move(made), opening);
  };
}

}  // namespace millrace::devices::pjrt
