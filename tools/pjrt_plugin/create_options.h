// CreateOptions: what PJRT_Client_Create is asked for, by options and by variables of the process.
// Pure.
#pragma once

#include <string>

#include "millrace/core/base/error.h"
#include "millrace/devices/client.h"
#include "millrace/devices/registry.h"

namespace millrace::pjrt_plugin {

struct CreateOptions {
  static constexpr int kMostDevices = 1024;

  int devices = 1;
  int threads = 0;  // that all devices share; 0: one per core
  std::string platform_name = "cpu";
};

// Numbers may come as numbers or as text. Where num_devices is left out, the first of these
// variables that is there says it: CPU_NUM_DEVICES, JAX_NUM_CPU_DEVICES,
// --xla_force_host_platform_device_count in XLA_FLAGS. kInvalidArgument for an option that is not
// known, with those that are, and for a value that is none, with where it stands.
Result<CreateOptions> read_create_options(const devices::Attributes& options,
                                          const devices::Variables& variables);

}  // namespace millrace::pjrt_plugin
