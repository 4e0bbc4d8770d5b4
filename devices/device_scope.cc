#include "millrace/devices/device_scope.h"

namespace millrace::devices {

constinit thread_local const DeviceScope* DeviceScope::current_ = nullptr;

}  // namespace millrace::devices
