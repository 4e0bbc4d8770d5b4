#include "millrace/devices/make_devices.h"

#include <memory>
#include <utility>

#include "millrace/actors/system.h"
#include "millrace/devices/device_actor.h"

namespace millrace::devices {

std::vector<Device> make_devices(Client& client, const DeviceActorOptions& options) {
  auto sequencer = std::make_shared<LaunchSequencer>();
  std::vector<Device> devices;
  for (const DeviceInfo& info : client.devices()) {
    auto body = make_ref<DeviceBody>(client, info, options, sequencer);
    actors::spawn_alone<DeviceActor>(options.environment, body->name(),
                                     {.inline_when_idle = options.inline_when_idle}, body);
    body->watch_client();
    devices.emplace_back(std::move(body));
  }
  return devices;
}

}  // namespace millrace::devices
