// An XSpace, the form in which profilers of plugins give what they have recorded: a plane for each
// device, in it a line of programs and a line of puts. Pure. Read next: run_recording.h.
#pragma once

#include <string>

#include "millrace/tools/pjrt_plugin/run_recording.h"

namespace millrace::pjrt_plugin {

// Serialized. Devices that did nothing have no plane. The planes are "/device:CUSTOM:CPU:0" and so
// on, because JAX writes the planes of devices that it does not know by this prefix to its timeline
// too; each event says its device in the value device_ordinal.
std::string write_xspace(const DeviceEvents& recorded);

}  // namespace millrace::pjrt_plugin
