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

// Clients that are never destroyed go with the plugin.
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
  api_.set([](abi::ErrorDestroyArgs* a) {
    --errors_alive;
    delete a->error;
  });
  api_.set([](abi::ErrorMessageArgs* a) {
    a->message = a->error->message.data();
    a->message_size = a->error->message.size();
  });
  api_.set([](abi::ErrorGetCodeArgs* a) { a->code = a->error->code; });
  api_.set([](abi::PluginInitializeArgs*) {});
  api_.set([](abi::PluginAttributesArgs* a) {
    a->attributes = nullptr;
    a->num_attributes = 0;
  });
  api_.set([](abi::EventDestroyArgs* a) {
    --events_alive;
    delete a->event;
  });
  api_.set([](abi::EventIsReadyArgs* a) { a->is_ready = a->event->ready; });
  api_.set([](abi::EventErrorArgs* a) -> abi::Error* {
    return a->event->code == 0 ? nullptr : make_error(a->event->code, a->event->message);
  });
  api_.set([](abi::EventOnReadyArgs* a) {
    a->event->callback = a->callback;
    a->event->user_arg = a->user_arg;
  });
  api_.set([](abi::ClientCreateArgs* a) {
    ++clients_alive;
    a->client = clients.emplace_back(std::make_unique<abi::Client>()).get();
  });
  api_.set([](abi::ClientDestroyArgs* a) -> abi::Error* {
    --clients_alive;
    std::erase_if(clients, [a](const auto& client) { return client.get() == a->client; });
    return nullptr;
  });
  api_.set([](abi::ClientPlatformNameArgs* a) {
    a->platform_name = "fake";
    a->platform_name_size = 4;
  });
  api_.set([](abi::ClientPlatformVersionArgs* a) {
    a->platform_version = "1";
    a->platform_version_size = 1;
  });
  api_.set([](abi::ClientAddressableDevicesArgs* a) {
    a->devices = the_devices;
    a->num_devices = 1;
  });
  api_.set([](abi::DeviceGetDescriptionArgs* a) { a->description = &the_description; });
  api_.set([](abi::DeviceDescriptionIdArgs* a) { a->id = 7; });
  api_.set([](abi::DeviceDescriptionProcessIndexArgs*) {});
  api_.set([](abi::DeviceDescriptionKindArgs* a) {
    a->kind = "fake device";
    a->kind_size = 11;
  });
  api_.set([](abi::DeviceDescriptionAttributesArgs*) {});
  api_.set([](abi::DeviceAddressableMemoriesArgs* a) {
    a->memories = the_memories;
    a->num_memories = 1;
  });
  api_.set([](abi::DeviceDefaultMemoryArgs* a) { a->memory = &the_memory; });
  api_.set([](abi::MemoryIdArgs* a) { a->id = 3; });
  api_.set([](abi::MemoryKindArgs* a) {
    a->kind = "device";
    a->kind_size = 6;
  });
  api_.set([](abi::ClientBufferFromHostBufferArgs* a) {
    const auto* first = static_cast<const std::byte*>(a->data);
    a->buffer = kept(std::make_unique<abi::Buffer>(abi::Buffer{{first, first + a->dims[0] * 4}}));
    a->done_with_host_buffer = ready_event();
  });
  api_.set([](abi::ClientDmaMapArgs* a) {
    ++maps;
    last_mapped = {static_cast<const std::byte*>(a->data), a->size};
  });
  api_.set([](abi::ClientDmaUnmapArgs* a) {
    ++unmaps;
    last_unmapped = a->data;
  });
  api_.set([](abi::BufferDestroyArgs* a) {
    --buffers_alive;
    const std::lock_guard lock(buffers_mutex);
    buffers.erase(a->buffer);
  });
  api_.set([](abi::BufferReadyEventArgs* a) { a->event = ready_event(); });
  api_.set([](abi::BufferToHostBufferArgs* a) {
    std::memcpy(a->dst, a->src->bytes.data(), a->src->bytes.size());
    a->event = ready_event();
  });
}

FakePlugin::~FakePlugin() { clients.clear(); }

}  // namespace millrace::testing
