// What makes the faulty plugin a plugin.
#include <cstdlib>
#include <cstring>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {

const abi::Api& healthy_api() {
  static const abi::Api api = make_api();
  return api;
}

void spoil_contents(abi::Buffer* buffer) {
  buffer->ready->wait();
  reinterpret_cast<float*>(buffer->storage->data)[0] += 0.5F;
}

abi::Buffer* clone(abi::Buffer* buffer) {
  return make_buffer(buffer->device, buffer->type, buffer->dims, buffer->storage, buffer->ready);
}

void leak() {
  // Volatile, so that no compiler sees that it is for nothing.
  static void* volatile lost = nullptr;
  lost = std::malloc(256);
  static_cast<void>(lost);
}

namespace {

bool spoil(abi::Api& api, std::string_view name) {
  for (const Faults& family :
       {table_faults(), description_faults(), host_faults(), program_faults(), event_faults(),
        buffer_faults(), lifetime_faults(), thread_faults(), leak_faults(), create_faults(),
        crash_faults(), stuck_faults(), lacking_faults()}) {
    for (const Fault& fault : family) {
      if (fault.name != name) continue;
      fault.spoil(api);
      return true;
    }
  }
  return false;
}

}  // namespace
}  // namespace millrace::faulty_plugin

extern "C" __attribute__((visibility("default"))) const millrace::devices::pjrt::abi::Api*
GetPjrtApi() {
  using namespace millrace::faulty_plugin;  // NOLINT(google-build-using-namespace)
  static const char* const fault = std::getenv("MILLRACE_FAULT");
  static abi::Api api = make_api();
  static const bool known = fault == nullptr || spoil(api, fault);
  if (!known) return nullptr;
  if (fault != nullptr && std::strcmp(fault, "table.constant") == 0) {
    static abi::Api other;
    static std::atomic<int> calls{0};
    if (calls++ > 0) {
      other = api;
      return &other;
    }
  }
  return &api;
}
