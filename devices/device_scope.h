// DeviceScope: names the device for which the current thread calls the client. A backend can check
// by it (and the simulated one does) that the device's actor has allowed the call.
#pragma once

#include "millrace/devices/buffer.h"

namespace millrace::devices {

class Client;

// Around each call that a device's actor has allowed; scopes nest. Thread-safety: confined to its
// thread.
class DeviceScope {
 public:
  DeviceScope(const Client& client, DeviceId device)
      : client_(&client), device_(device), outer_(current_) {
    current_ = this;
  }
  ~DeviceScope() { current_ = outer_; }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  // The innermost scope of this thread; nullptr outside every device actor.
  static const DeviceScope* current() { return current_; }
  const Client& client() const { return *client_; }
  DeviceId device() const { return device_; }

 private:
  static inline constinit thread_local const DeviceScope* current_ = nullptr;
  const Client* client_;
  DeviceId device_;
  const DeviceScope* outer_;
};

}  // namespace millrace::devices
