// A PJRT plugin inside the test, which does what it is told to do wrong: its table of functions has
// one device, whose buffers keep what is put into them. Counts what is made and destroyed.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::testing {

// The PJRT objects behind the opaque pointers. One FakePlugin at a time: PJRT's functions have
// no place to say which.
class FakePlugin {
 public:
  FakePlugin();
  ~FakePlugin();

  devices::pjrt::abi::Api* api() { return &api_; }
  void remove(devices::pjrt::abi::Slot slot) {
    api_.functions[static_cast<std::size_t>(slot)] = nullptr;
  }
  template <class F>
  void replace(F function) {
    api_.set(function);
  }

  // An error that the plugin hands out.
  static devices::pjrt::abi::Error* make_error(int code, std::string message);
  // An event that is not ready. error: what it will end with; empty: nothing.
  static devices::pjrt::abi::Event* make_event();
  static devices::pjrt::abi::Buffer* make_buffer();
  // Sets it; calls back on this thread, `times` times.
  static void set_event(devices::pjrt::abi::Event* event, int code, const std::string& message,
                        int times = 1);

  static std::atomic<int> errors_alive, events_alive, buffers_alive, clients_alive;
  // Calls of PJRT_Client_DmaMap and DmaUnmap, and what the last of each was given.
  static std::atomic<int> maps, unmaps;
  static std::span<const std::byte> last_mapped;
  static const void* last_unmapped;

 private:
  devices::pjrt::abi::Api api_;
};

}  // namespace millrace::testing
