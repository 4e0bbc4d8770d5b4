// The extensions of the table: those that work whole. Read next: table.h.
#pragma once

#include "millrace/devices/pjrt/abi/extensions.h"

namespace millrace::pjrt_plugin {

// How arguments and results lie on several devices.
const devices::pjrt::abi::ShardingsExtension& shardings_extension();

// What devices did, and when.
const devices::pjrt::abi::ProfilerExtension& profiler_extension();

// The first of the chain.
void* first_extension();

}  // namespace millrace::pjrt_plugin
