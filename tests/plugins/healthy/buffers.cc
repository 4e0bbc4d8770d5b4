// Buffers: from the host and to it, between devices, in views, and by transfer managers.
#include <cstring>
#include <numeric>

#include "tests/plugins/healthy/objects.h"

namespace millrace::memory_plugin {

std::size_t element_bytes(abi::BufferType type) {
  switch (type) {
    case abi::BufferType::kPred:
    case abi::BufferType::kS8:
    case abi::BufferType::kU8:
      return 1;
    case abi::BufferType::kS16:
    case abi::BufferType::kU16:
    case abi::BufferType::kF16:
    case abi::BufferType::kBF16:
      return 2;
    case abi::BufferType::kS32:
    case abi::BufferType::kU32:
    case abi::BufferType::kF32:
      return 4;
    case abi::BufferType::kS64:
    case abi::BufferType::kU64:
    case abi::BufferType::kF64:
    case abi::BufferType::kC64:
      return 8;
    case abi::BufferType::kC128:
      return 16;
    default:
      return 0;
  }
}

abi::Buffer* make_buffer(abi::Device* device, abi::BufferType type, std::vector<std::int64_t> dims,
                         std::shared_ptr<Storage> storage, EventRef ready) {
  auto* buffer = new abi::Buffer;
  buffer->device = device;
  buffer->type = type;
  buffer->dims = std::move(dims);
  buffer->bytes = storage->size;
  buffer->ready = std::move(ready);
  buffer->storage = std::move(storage);
  device->bytes_in_use += static_cast<std::int64_t>(buffer->bytes);
  return buffer;
}

abi::Error* live_storage(abi::Buffer* buffer, std::shared_ptr<Storage>& storage) {
  const std::scoped_lock lock(buffer->mutex);
  if (!buffer->storage) {
    return make_error(kInvalidArgument, "the buffer was deleted or donated");
  }
  storage = buffer->storage;
  return nullptr;
}

namespace {

std::size_t count(const std::int64_t* dims, std::size_t num_dims) {
  std::size_t n = 1;
  for (std::size_t i = 0; i < num_dims; ++i) n *= static_cast<std::size_t>(dims[i]);
  return n;
}

// Either of the two says where.
abi::Error* place(abi::Device* device, abi::Memory* memory, abi::Device*& where) {
  where = memory != nullptr ? memory->device : device;
  return where == nullptr ? make_error(kInvalidArgument, "neither a device nor a memory is given")
                          : nullptr;
}

void copy_strided(std::byte* to, const std::byte* from, const std::vector<std::int64_t>& dims,
                  const std::vector<std::int64_t>& strides, std::size_t element, std::size_t d) {
  if (d == dims.size()) {
    std::memcpy(to, from, element);
    return;
  }
  std::size_t inner = element;
  for (std::size_t i = d + 1; i < dims.size(); ++i) inner *= static_cast<std::size_t>(dims[i]);
  for (std::int64_t i = 0; i < dims[d]; ++i) {
    copy_strided(to + static_cast<std::size_t>(i) * inner, from + i * strides[d], dims, strides,
                 element, d + 1);
  }
}

bool dense(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides,
           std::size_t element) {
  if (strides.empty()) return true;
  auto expected = static_cast<std::int64_t>(element);
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

abi::Error* from_host(abi::ClientBufferFromHostBufferArgs* a) {
  abi::Device* device = nullptr;
  if (abi::Error* error = place(a->device, a->memory, device)) return error;
  const std::size_t element = element_bytes(a->type);
  if (element == 0) {
    return make_error(kUnimplemented,
                      "there is no type " + std::to_string(static_cast<int>(a->type)));
  }
  if (a->host_buffer_semantics < 0 || a->host_buffer_semantics > 3) {
    return make_error(kInvalidArgument, "there are four semantics of host buffers");
  }
  std::vector<std::int64_t> dims(a->dims, a->dims + a->num_dims);
  std::vector<std::int64_t> strides(a->byte_strides, a->byte_strides + a->num_byte_strides);
  const std::size_t size = count(a->dims, a->num_dims) * element;
  const auto* data = static_cast<const std::byte*>(a->data);
  const bool plain = dense(dims, strides, element);
  if (a->host_buffer_semantics >= 2 && plain && size > 0) {
    auto storage = std::make_shared<Storage>();
    storage->data = const_cast<std::byte*>(data);
    storage->size = size;
    storage->immutable = a->host_buffer_semantics == 2;
    storage->released = std::make_shared<EventState>();
    a->done_with_host_buffer = make_event(storage->released);
    a->buffer = make_buffer(device, a->type, std::move(dims), std::move(storage), ready_state());
    return nullptr;
  }
  auto storage = Storage::make(size);
  auto copy = [storage, data, dims, strides, element, plain, size] {
    if (plain) {
      if (size > 0) std::memcpy(storage->data, data, size);
    } else if (size > 0) {
      copy_strided(storage->data, data, dims, strides, element, 0);
    }
  };
  if (a->host_buffer_semantics == 0) {
    copy();
    a->done_with_host_buffer = make_ready_event();
    a->buffer = make_buffer(device, a->type, std::move(dims), std::move(storage), ready_state());
    return nullptr;
  }
  auto ready = std::make_shared<EventState>();
  auto done = std::make_shared<EventState>();
  a->done_with_host_buffer = make_event(done);
  a->buffer = make_buffer(device, a->type, std::move(dims), std::move(storage), ready);
  device->client->worker->post([copy = std::move(copy), ready, done] {
    copy();
    ready->set({});
    done->set({});
  });
  return nullptr;
}

abi::Error* to_host(abi::BufferToHostBufferArgs* a) {
  std::shared_ptr<Storage> storage;
  if (abi::Error* error = live_storage(a->src, storage)) return error;
  if (a->dst == nullptr) {
    a->dst_size = a->src->bytes;
    return nullptr;
  }
  if (a->dst_size < a->src->bytes) {
    return make_error(kInvalidArgument, "the target has " + std::to_string(a->dst_size) +
                                            " bytes, the buffer " + std::to_string(a->src->bytes));
  }
  auto done = std::make_shared<EventState>();
  a->event = make_event(done);
  a->src->device->client->worker->post(
      [storage, ready = a->src->ready, done, dst = a->dst, size = a->src->bytes] {
        const Outcome& outcome = ready->wait();
        if (outcome.code == 0) std::memcpy(dst, storage->data, size);
        done->set(outcome);
      });
  return nullptr;
}

abi::Error* copy_to(abi::Buffer* from, abi::Device* device, abi::Buffer** made) {
  std::shared_ptr<Storage> source;
  if (abi::Error* error = live_storage(from, source)) return error;
  auto target = Storage::make(from->bytes);
  auto ready = std::make_shared<EventState>();
  *made = make_buffer(device, from->type, from->dims, target, ready);
  device->client->worker->post([source, target, before = from->ready, ready] {
    const Outcome& outcome = before->wait();
    if (outcome.code == 0) std::memcpy(target->data, source->data, source->size);
    ready->set(outcome);
  });
  return nullptr;
}

void drop_storage(abi::Buffer* buffer) {
  std::shared_ptr<Storage> storage;
  {
    const std::scoped_lock lock(buffer->mutex);
    storage.swap(buffer->storage);
  }
  if (storage) buffer->device->bytes_in_use -= static_cast<std::int64_t>(buffer->bytes);
}

abi::Error* hold_externally(abi::Buffer* buffer) {
  std::shared_ptr<Storage> storage;
  if (abi::Error* error = live_storage(buffer, storage)) return error;
  const std::scoped_lock lock(buffer->mutex);
  ++buffer->external_references;
  buffer->held = std::move(storage);
  return nullptr;
}

// Releases a buffer that was deleted or donated since, too.
abi::Error* release_externally(abi::Buffer* buffer) {
  std::shared_ptr<Storage> last;
  const std::scoped_lock lock(buffer->mutex);
  if (buffer->external_references == 0)
    return make_error(kInvalidArgument, "there is no external reference to release");
  if (--buffer->external_references == 0) last.swap(buffer->held);
  return nullptr;
}

}  // namespace

void add_buffers(abi::Api& api) {
  add(api, [](abi::BufferDestroyArgs* a) {
    drop_storage(a->buffer);
    delete a->buffer;
  });
  add(api, [](abi::BufferDeleteArgs* a) { drop_storage(a->buffer); });
  add(api, [](abi::BufferIsDeletedArgs* a) {
    const std::scoped_lock lock(a->buffer->mutex);
    a->is_deleted = !a->buffer->storage;
  });
  add(api, [](abi::BufferElementTypeArgs* a) { a->type = a->buffer->type; });
  add(api, [](abi::BufferDimensionsArgs* a) {
    a->dims = a->buffer->dims.data();
    a->num_dims = a->buffer->dims.size();
  });
  add(api, [](abi::BufferUnpaddedDimensionsArgs* a) {
    a->dims = a->buffer->dims.data();
    a->num_dims = a->buffer->dims.size();
  });
  add(api, [](abi::BufferGetMemoryLayoutArgs* a) {
    static const std::vector<std::int64_t> minor_to_major = {7, 6, 5, 4, 3, 2, 1, 0};
    const std::size_t rank = a->buffer->dims.size();
    a->layout = {};
    a->layout.struct_size = abi::kStructSize<abi::MemoryLayout>;
    a->layout.type = abi::LayoutType::kTiled;
    a->layout.tiled.struct_size = abi::kStructSize<abi::TiledLayout>;
    a->layout.tiled.minor_to_major = minor_to_major.data() + (8 - rank);
    a->layout.tiled.minor_to_major_size = rank;
  });
  add(api,
      [](abi::BufferOnDeviceSizeInBytesArgs* a) { a->on_device_size_in_bytes = a->buffer->bytes; });
  add(api, [](abi::BufferDeviceArgs* a) { a->device = a->buffer->device; });
  add(api, [](abi::BufferMemoryArgs* a) { a->memory = &a->buffer->device->memory; });
  add(api, [](abi::BufferIsOnCpuArgs* a) { a->is_on_cpu = true; });
  add(api, [](abi::BufferReadyEventArgs* a) -> abi::Error* {
    std::shared_ptr<Storage> storage;
    if (abi::Error* error = live_storage(a->buffer, storage)) return error;
    a->event = make_event(a->buffer->ready);
    return nullptr;
  });
  add(api, [](abi::BufferIncreaseExternalReferenceCountArgs* a) -> abi::Error* {
    return hold_externally(a->buffer);
  });
  add(api, [](abi::BufferDecreaseExternalReferenceCountArgs* a) -> abi::Error* {
    return release_externally(a->buffer);
  });
  add(api, [](abi::BufferOpaqueDeviceMemoryDataPointerArgs* a) -> abi::Error* {
    std::shared_ptr<Storage> storage;
    if (abi::Error* error = live_storage(a->buffer, storage)) return error;
    a->device_memory_ptr = storage->data;
    return nullptr;
  });
  add(api, [](abi::BufferUnsafePointerArgs* a) -> abi::Error* {
    std::shared_ptr<Storage> storage;
    if (abi::Error* error = live_storage(a->buffer, storage)) return error;
    a->pointer = reinterpret_cast<std::uintptr_t>(storage->data);
    return nullptr;
  });
}

void add_copies(abi::Api& api) {
  add(api, [](abi::ClientBufferFromHostBufferArgs* a) { return from_host(a); });
  add(api, [](abi::BufferToHostBufferArgs* a) { return to_host(a); });
  add(api, [](abi::BufferCopyRawToHostArgs* a) -> abi::Error* {
    std::shared_ptr<Storage> storage;
    if (abi::Error* error = live_storage(a->buffer, storage)) return error;
    if (a->offset < 0 || a->transfer_size < 0 ||
        static_cast<std::size_t>(a->offset + a->transfer_size) > a->buffer->bytes) {
      return make_error(kInvalidArgument, "the range is not inside the buffer");
    }
    auto done = std::make_shared<EventState>();
    a->event = make_event(done);
    a->buffer->device->client->worker->post([storage, ready = a->buffer->ready, done, dst = a->dst,
                                             offset = a->offset, size = a->transfer_size] {
      const Outcome& outcome = ready->wait();
      if (outcome.code == 0) {
        std::memcpy(dst, storage->data + offset, static_cast<std::size_t>(size));
      }
      done->set(outcome);
    });
    return nullptr;
  });
  add(api, [](abi::BufferCopyToDeviceArgs* a) -> abi::Error* {
    return copy_to(a->buffer, a->dst_device, &a->dst_buffer);
  });
  add(api, [](abi::BufferCopyToMemoryArgs* a) -> abi::Error* {
    return copy_to(a->buffer, a->dst_memory->device, &a->dst_buffer);
  });
  add(api, [](abi::ClientCreateUninitializedBufferArgs* a) -> abi::Error* {
    abi::Device* device = nullptr;
    if (abi::Error* error = place(a->device, a->memory, device)) return error;
    a->buffer = make_buffer(device, a->type, {a->dims, a->dims + a->num_dims},
                            Storage::make(count(a->dims, a->num_dims) * element_bytes(a->type)),
                            ready_state());
    return nullptr;
  });
  add(api, [](abi::ClientCreateErrorBufferArgs* a) -> abi::Error* {
    abi::Device* device = nullptr;
    if (abi::Error* error = place(nullptr, a->memory, device)) return error;
    auto ready = std::make_shared<EventState>();
    ready->set({a->error_code, std::string(a->error_message, a->error_message_size)});
    a->buffer = make_buffer(device, a->type, {a->dims, a->dims + a->num_dims},
                            Storage::make(count(a->dims, a->num_dims) * element_bytes(a->type)),
                            std::move(ready));
    return nullptr;
  });
  add(api, [](abi::ClientCreateViewOfDeviceBufferArgs* a) -> abi::Error* {
    abi::Device* device = nullptr;
    if (abi::Error* error = place(a->device, a->memory, device)) return error;
    auto storage = std::make_shared<Storage>();
    storage->data = static_cast<std::byte*>(a->device_buffer_ptr);
    storage->size = count(a->dims, a->num_dims) * element_bytes(a->type);
    storage->immutable = true;
    storage->on_delete = a->on_delete_callback;
    storage->on_delete_arg = a->on_delete_callback_arg;
    a->buffer = make_buffer(device, a->type, {a->dims, a->dims + a->num_dims}, std::move(storage),
                            ready_state());
    return nullptr;
  });
}

void add_transfers(abi::Api& api) {
  add(api, [](abi::ClientCreateBuffersForAsyncHostToDeviceArgs* a) -> abi::Error* {
    auto manager = std::make_unique<abi::TransferManager>();
    if (abi::Error* error = place(nullptr, a->memory, manager->device)) return error;
    for (std::size_t i = 0; i < a->num_shapes; ++i) {
      const abi::ShapeSpec& s = a->shapes[i];
      auto storage = Storage::make(count(s.dims, s.num_dims) * element_bytes(s.type));
      auto ready = std::make_shared<EventState>();
      manager->storages.push_back(storage);
      manager->ready.push_back(ready);
      manager->buffers.emplace_back(
          make_buffer(manager->device, s.type, {s.dims, s.dims + s.num_dims}, storage, ready));
    }
    a->manager = manager.release();
    return nullptr;
  });
  add(api, [](abi::TransferManagerDestroyArgs* a) {
    // The waiters for its buffers shall not wait for ever.
    for (const EventRef& ready : a->manager->ready) {
      ready->set({10, "the transfer manager was destroyed before the last transfer"});
    }
    delete a->manager;
  });
  add(api, [](abi::TransferManagerBufferCountArgs* a) {
    a->buffer_count = a->manager->storages.size();
  });
  add(api, [](abi::TransferManagerDeviceArgs* a) { a->device = a->manager->device; });
  add(api, [](abi::TransferManagerBufferSizeArgs* a) {
    a->buffer_size = a->manager->storages[static_cast<std::size_t>(a->buffer_index)]->size;
  });
  add(api, [](abi::TransferManagerTransferDataArgs* a) -> abi::Error* {
    const auto i = static_cast<std::size_t>(a->buffer_index);
    Storage& storage = *a->manager->storages[i];
    if (static_cast<std::size_t>(a->offset + a->transfer_size) > storage.size) {
      return make_error(kInvalidArgument, "the transfer is not inside the buffer");
    }
    std::memcpy(storage.data + a->offset, a->data, static_cast<std::size_t>(a->transfer_size));
    if (a->is_last_transfer) a->manager->ready[i]->set({});
    a->done = make_ready_event();
    return nullptr;
  });
  add(api, [](abi::TransferManagerRetrieveBufferArgs* a) -> abi::Error* {
    auto& buffer = a->manager->buffers[static_cast<std::size_t>(a->buffer_index)];
    if (!buffer) return make_error(kFailedPrecondition, "the buffer was retrieved before");
    a->buffer = buffer.release();
    return nullptr;
  });
  add(api, [](abi::TransferManagerSetBufferErrorArgs* a) {
    a->manager->ready[static_cast<std::size_t>(a->buffer_index)]->set(
        {a->error_code, std::string(a->error_message, a->error_message_size)});
  });
}

}  // namespace millrace::memory_plugin
