#include "tests/devices/pjrt/fake_plugin.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millrace::devices::pjrt::abi {

struct Error {
  int code;
  std::string message;
};
struct Event {
  bool ready = false;
  bool destroyed = false;  // the owner is done with it; the one who sets it may still hold it
  int code = 0;
  std::string message;
  void (*callback)(Error*, void*) = nullptr;
  void* user_arg = nullptr;
};
struct Client {};
struct Device {};
struct DeviceDescription {};
struct Memory {};
struct Buffer {
  std::vector<std::byte> bytes;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::testing {

using namespace devices::pjrt;  // NOLINT(google-build-using-namespace)

std::atomic<int> FakePlugin::errors_alive, FakePlugin::events_alive, FakePlugin::buffers_alive,
    FakePlugin::clients_alive, FakePlugin::maps, FakePlugin::unmaps;
std::span<const std::byte> FakePlugin::last_mapped;
const void* FakePlugin::last_unmapped = nullptr;

namespace {

abi::Device the_device;
abi::Device* const the_devices[] = {&the_device};
abi::DeviceDescription the_description;
abi::Memory the_memory;
abi::Memory* const the_memories[] = {&the_memory};

template <class A, class R>
void set(abi::Api& api, R (*function)(A*)) {
  api.functions[static_cast<std::size_t>(abi::Call<A>::kSlot)] = reinterpret_cast<void*>(function);
}

// Those that nobody destroys go with the plugin.
std::vector<std::unique_ptr<abi::Client>> clients;
std::mutex buffers_mutex;
std::unordered_map<abi::Buffer*, std::unique_ptr<abi::Buffer>> buffers;

abi::Buffer* kept(std::unique_ptr<abi::Buffer> made) {
  ++FakePlugin::buffers_alive;
  abi::Buffer* const buffer = made.get();
  const std::lock_guard lock(buffers_mutex);
  buffers.emplace(buffer, std::move(made));
  return buffer;
}

abi::Event* ready_event() {
  abi::Event* event = FakePlugin::make_event();
  event->ready = true;
  return event;
}

}  // namespace

abi::Error* FakePlugin::make_error(int code, std::string message) {
  ++errors_alive;
  return new abi::Error{code, std::move(message)};
}

abi::Event* FakePlugin::make_event() {
  ++events_alive;
  return new abi::Event;
}

abi::Buffer* FakePlugin::make_buffer() { return kept(std::make_unique<abi::Buffer>()); }

void FakePlugin::set_event(abi::Event* event, int code, const std::string& message, int times) {
  event->ready = true;
  event->code = code;
  event->message = message;
  const auto callback = event->callback;
  void* const user_arg = event->user_arg;
  for (int i = 0; callback != nullptr && i < times; ++i) {
    callback(code == 0 ? nullptr : make_error(code, message), user_arg);
  }
}

FakePlugin::FakePlugin() {
  errors_alive = events_alive = buffers_alive = clients_alive = maps = unmaps = 0;
  api_.struct_size = sizeof(api_);
  api_.version = {.struct_size = sizeof(abi::Version),
                  .extension_start = nullptr,
                  .major_version = abi::kMajor,
                  .minor_version = abi::kMinor};
  set(
      api_, +[](abi::ErrorDestroyArgs* a) {
        --errors_alive;
        delete a->error;
      });
  set(
      api_, +[](abi::ErrorMessageArgs* a) {
        a->message = a->error->message.data();
        a->message_size = a->error->message.size();
      });
  set(
      api_, +[](abi::ErrorGetCodeArgs* a) -> abi::Error* {
        a->code = a->error->code;
        return nullptr;
      });
  set(api_, +[](abi::PluginInitializeArgs*) -> abi::Error* { return nullptr; });
  set(
      api_, +[](abi::PluginAttributesArgs* a) -> abi::Error* {
        a->attributes = nullptr;
        a->num_attributes = 0;
        return nullptr;
      });
  set(
      api_, +[](abi::EventDestroyArgs* a) -> abi::Error* {
        --events_alive;
        delete a->event;
        return nullptr;
      });
  set(
      api_, +[](abi::EventIsReadyArgs* a) -> abi::Error* {
        a->is_ready = a->event->ready;
        return nullptr;
      });
  set(
      api_, +[](abi::EventErrorArgs* a) -> abi::Error* {
        return a->event->code == 0 ? nullptr : make_error(a->event->code, a->event->message);
      });
  set(
      api_, +[](abi::EventOnReadyArgs* a) -> abi::Error* {
        a->event->callback = a->callback;
        a->event->user_arg = a->user_arg;
        return nullptr;
      });
  set(
      api_, +[](abi::ClientCreateArgs* a) -> abi::Error* {
        ++clients_alive;
        a->client = clients.emplace_back(std::make_unique<abi::Client>()).get();
        return nullptr;
      });
  set(
      api_, +[](abi::ClientDestroyArgs* a) -> abi::Error* {
        --clients_alive;
        std::erase_if(clients, [a](const auto& client) { return client.get() == a->client; });
        return nullptr;
      });
  set(
      api_, +[](abi::ClientPlatformNameArgs* a) -> abi::Error* {
        a->platform_name = "fake";
        a->platform_name_size = 4;
        return nullptr;
      });
  set(
      api_, +[](abi::ClientPlatformVersionArgs* a) -> abi::Error* {
        a->platform_version = "1";
        a->platform_version_size = 1;
        return nullptr;
      });
  set(
      api_, +[](abi::ClientAddressableDevicesArgs* a) -> abi::Error* {
        a->devices = the_devices;
        a->num_devices = 1;
        return nullptr;
      });
  set(
      api_, +[](abi::DeviceGetDescriptionArgs* a) -> abi::Error* {
        a->description = &the_description;
        return nullptr;
      });
  set(
      api_, +[](abi::DeviceDescriptionIdArgs* a) -> abi::Error* {
        a->id = 7;
        return nullptr;
      });
  set(api_, +[](abi::DeviceDescriptionProcessIndexArgs*) -> abi::Error* { return nullptr; });
  set(
      api_, +[](abi::DeviceDescriptionKindArgs* a) -> abi::Error* {
        a->kind = "fake device";
        a->kind_size = 11;
        return nullptr;
      });
  set(api_, +[](abi::DeviceDescriptionAttributesArgs*) -> abi::Error* { return nullptr; });
  set(
      api_, +[](abi::DeviceAddressableMemoriesArgs* a) -> abi::Error* {
        a->memories = the_memories;
        a->num_memories = 1;
        return nullptr;
      });
  set(
      api_, +[](abi::DeviceDefaultMemoryArgs* a) -> abi::Error* {
        a->memory = &the_memory;
        return nullptr;
      });
  set(
      api_, +[](abi::MemoryIdArgs* a) -> abi::Error* {
        a->id = 3;
        return nullptr;
      });
  set(
      api_, +[](abi::MemoryKindArgs* a) -> abi::Error* {
        a->kind = "device";
        a->kind_size = 6;
        return nullptr;
      });
  set(
      api_, +[](abi::ClientBufferFromHostBufferArgs* a) -> abi::Error* {
        const auto* first = static_cast<const std::byte*>(a->data);
        a->buffer =
            kept(std::make_unique<abi::Buffer>(abi::Buffer{{first, first + a->dims[0] * 4}}));
        a->done_with_host_buffer = ready_event();
        return nullptr;
      });
  set(
      api_, +[](abi::ClientDmaMapArgs* a) -> abi::Error* {
        ++maps;
        last_mapped = {static_cast<const std::byte*>(a->data), a->size};
        return nullptr;
      });
  set(
      api_, +[](abi::ClientDmaUnmapArgs* a) -> abi::Error* {
        ++unmaps;
        last_unmapped = a->data;
        return nullptr;
      });
  set(
      api_, +[](abi::BufferDestroyArgs* a) -> abi::Error* {
        --buffers_alive;
        const std::lock_guard lock(buffers_mutex);
        buffers.erase(a->buffer);
        return nullptr;
      });
  set(
      api_, +[](abi::BufferReadyEventArgs* a) -> abi::Error* {
        a->event = ready_event();
        return nullptr;
      });
  set(
      api_, +[](abi::BufferToHostBufferArgs* a) -> abi::Error* {
        std::memcpy(a->dst, a->src->bytes.data(), a->src->bytes.size());
        a->event = ready_event();
        return nullptr;
      });
}

FakePlugin::~FakePlugin() { clients.clear(); }

}  // namespace millrace::testing
