// PJRT plugins that Python's pip has installed, and advice for a user whose device needs one.
// Read next: devices/pjrt/plugin_list.h, which knows those that are named.
#pragma once

#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/pjrt/plugin_list.h"
#include "millrace/devices/registry.h"

namespace millrace {

// The plugins of jax_plugins, libtpu and torch_xla's packages in the folders of Python's packages:
// those of VIRTUAL_ENV, CONDA_PREFIX, HOME/.local, /usr/local and /usr, in this order; of one name
// the first. Names: cuda, rocm, tpu; others as their folder. Looks at names of files only: no
// Python runs, and nothing is loaded. Thread-safety: thread-safe.
std::vector<devices::pjrt::PluginEntry> installed_plugins(const devices::Variables& variables);

// The error, which came of the device that was asked for; where the registry knows no such device,
// with how to get a plugin for it, or where pip has one.
Error with_plugin_advice(const Error& error, const devices::ClientRegistry& registry,
                         std::string_view device, const devices::Variables& variables);

}  // namespace millrace
