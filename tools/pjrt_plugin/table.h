// The table of the plugin. Read next: error.h (how functions get there), client.h.
#pragma once

#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::pjrt_plugin {

// Every slot has a function: what is not implemented says so, by its name.
devices::pjrt::abi::Api make_api();

}  // namespace millrace::pjrt_plugin
