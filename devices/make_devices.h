// make_devices: what a runtime, or a test, begins with.
#pragma once

#include <vector>

#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"

namespace millrace::devices {

// A Device for each device of client, with one order of the launches that span them. The client and
// what options.environment points to outlive them; close() of each ends its actor.
std::vector<Device> make_devices(Client& client, const DeviceActorOptions& options);

}  // namespace millrace::devices
