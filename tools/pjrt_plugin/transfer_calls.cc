// Arrays whose bytes their caller brings piece by piece, after they exist; and arrays that hold an
// error. Read next: devices/cpu/late_array.h.
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/mutex.h"
#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/event.h"

namespace millrace::devices::pjrt::abi {

// Thread-safety: thread-safe.
struct TransferManager final : pjrt_plugin::Handle<TransferManager> {
  struct Entry {
    cpu::LateArray array;
    std::size_t size;                // bytes
    std::unique_ptr<Buffer> buffer;  // until it is retrieved
  };
  TransferManager(Ref<pjrt_plugin::ClientBody> of, Memory* where)
      : body(std::move(of)), memory(where) {}

  const Ref<pjrt_plugin::ClientBody> body;  // first: outlives the arrays
  Memory* const memory;
  Mutex mutex;
  std::vector<Entry> entries MILLRACE_GUARDED_BY(mutex);
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

using Entry = abi::TransferManager::Entry;

Result<Entry*> find(abi::TransferManager& manager, int index) MILLRACE_REQUIRES(manager.mutex) {
  if (index >= 0 && static_cast<std::size_t>(index) < manager.entries.size())
    return &manager.entries[static_cast<std::size_t>(index)];
  return fail(ErrorCode::kInvalidArgument, "there is no array " + std::to_string(index) + " of " +
                                               std::to_string(manager.entries.size()));
}

Result<Entry*> find_open(abi::TransferManager& manager, int index)
    MILLRACE_REQUIRES(manager.mutex) {
  MILLRACE_TRY(Entry* const entry, find(manager, index));
  if (entry->array.is_open()) return entry;
  return fail(ErrorCode::kFailedPrecondition,
              "array " + std::to_string(index) + " had its last bytes, or an error, before");
}

Status create(ClientBody& body, abi::ClientCreateBuffersForAsyncHostToDeviceArgs& a) {
  if (a.shapes == nullptr && a.num_shapes != 0)
    return fail(ErrorCode::kInvalidArgument, "the shapes of the arrays are null");
  MILLRACE_TRY(abi::Memory* const memory, target_memory(body, a.memory, nullptr));
  auto manager = std::make_unique<abi::TransferManager>(Ref<ClientBody>::share(&body), memory);
  MutexLock lock(manager->mutex);
  for (std::size_t i = 0; i < a.num_shapes; ++i) {
    const abi::ShapeSpec& spec = a.shapes[i];
    MILLRACE_TRY(const devices::Shape shape, read_shape(spec.type, spec.dims, spec.num_dims));
    const bool has_layout = a.layouts != nullptr && i < a.num_layouts;
    MILLRACE_TRY_STATUS(check_row_major(has_layout ? a.layouts[i] : nullptr, shape));
    MILLRACE_TRY(devices::cpu::LateArray array, body.cpu().make_late(shape, memory->device->id()));
    body.note_late(array.buffer().ready());
    std::unique_ptr<abi::Buffer> buffer(make_buffer(body, array.buffer(), memory, true));
    manager->entries.push_back({std::move(array), shape.size_bytes(), std::move(buffer)});
  }
  a.manager = manager.release();
  return {};
}

Status check_piece(const Entry& entry, const abi::TransferManagerTransferDataArgs& a) {
  const auto size = static_cast<std::int64_t>(entry.size);
  if (a.offset < 0 || a.transfer_size < 0 || a.offset > size || a.transfer_size > size - a.offset) {
    return fail(ErrorCode::kInvalidArgument,
                "bytes " + std::to_string(a.offset) + " and " + std::to_string(a.transfer_size) +
                    " more are not in array " + std::to_string(a.buffer_index) + ", which has " +
                    std::to_string(size));
  }
  if (a.data == nullptr && a.transfer_size != 0)
    return fail(ErrorCode::kInvalidArgument, "the bytes of a transfer are null");
  return {};
}

// Takes the bytes before it returns. With the last ones the array leaves the manager, for a caller
// without the lock to say that it is written: launches that wait for it may run then and there.
Result<std::optional<devices::cpu::LateArray>> transfer(abi::TransferManager& manager,
                                                        abi::TransferManagerTransferDataArgs& a) {
  MutexLock lock(manager.mutex);
  MILLRACE_TRY(Entry* const entry, find_open(manager, a.buffer_index));
  MILLRACE_TRY_STATUS(check_piece(*entry, a));
  if (a.transfer_size != 0) {
    std::memcpy(entry->array.bytes().data() + a.offset, a.data,
                static_cast<std::size_t>(a.transfer_size));
  }
  if (!a.is_last_transfer) return std::optional<devices::cpu::LateArray>();
  const devices::DType type = entry->array.buffer().shape().dtype();
  if (has_spare_bits(type)) set_spare_bits(type, entry->array.bytes());
  return std::optional(std::move(entry->array));
}

Result<devices::cpu::LateArray> take_literal(abi::TransferManager& manager,
                                             const abi::TransferManagerTransferLiteralArgs& a,
                                             const devices::Shape& shape) {
  MutexLock lock(manager.mutex);
  MILLRACE_TRY(Entry* const entry, find_open(manager, a.buffer_index));
  const devices::Shape& wanted = entry->array.buffer().shape();
  if (!(shape == wanted)) {
    return fail(ErrorCode::kInvalidArgument, "array " + std::to_string(a.buffer_index) + " is " +
                                                 wanted.to_string() + ", the literal " +
                                                 shape.to_string());
  }
  if (a.data == nullptr && entry->size != 0)
    return fail(ErrorCode::kInvalidArgument, "the bytes of a literal are null");
  if (entry->size != 0) std::memcpy(entry->array.bytes().data(), a.data, entry->size);
  if (has_spare_bits(wanted.dtype())) set_spare_bits(wanted.dtype(), entry->array.bytes());
  return std::move(entry->array);
}

Result<devices::cpu::LateArray> take_open(abi::TransferManager& manager, int index) {
  MutexLock lock(manager.mutex);
  MILLRACE_TRY(Entry* const entry, find_open(manager, index));
  return std::move(entry->array);
}

// A whole array at once.
Status transfer_literal(abi::TransferManager& manager, abi::TransferManagerTransferLiteralArgs& a) {
  MILLRACE_TRY(const devices::Shape shape, read_shape(a.type, a.dims, a.num_dims));
  MILLRACE_TRY_STATUS(check_row_major(a.layout, shape));
  MILLRACE_TRY(devices::cpu::LateArray array, take_literal(manager, a, shape));
  array.write();
  a.done = make_event(make_ready());
  return {};
}

void add_questions(abi::Api& api) {
  add<&abi::TransferManagerDeviceArgs::device, "device_out">(
      api, [](abi::TransferManagerDeviceArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        a.device = manager.memory->device;
        return {};
      });
  add<&abi::TransferManagerBufferCountArgs::buffer_count, "buffer_count">(
      api, [](abi::TransferManagerBufferCountArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        MutexLock lock(manager.mutex);
        a.buffer_count = manager.entries.size();
        return {};
      });
  add<&abi::TransferManagerBufferSizeArgs::buffer_size, "buffer_size">(
      api, [](abi::TransferManagerBufferSizeArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        MutexLock lock(manager.mutex);
        MILLRACE_TRY(const Entry* const entry, find(manager, a.buffer_index));
        a.buffer_size = entry->size;
        return {};
      });
}

// An array that never comes, and says why.
Status make_failed(ClientBody& body, abi::ClientCreateErrorBufferArgs& a) {
  if (a.error_code == 0)
    return fail(ErrorCode::kInvalidArgument, "an array that holds an error needs its code");
  MILLRACE_TRY(const devices::Shape shape, read_shape(a.type, a.dims, a.num_dims));
  MILLRACE_TRY(abi::Memory* const memory, target_memory(body, a.memory, nullptr));
  MILLRACE_TRY_STATUS(check_row_major(a.layout, shape));
  MILLRACE_TRY(devices::cpu::LateArray array, body.cpu().make_late(shape, memory->device->id()));
  array.fail(from_caller(a.error_code, a.error_message, a.error_message_size));
  a.buffer = make_buffer(body, array.buffer(), memory);
  return {};
}

}  // namespace

void add_transfers(abi::Api& api) {
  add_questions(api);
  add<&abi::ClientCreateBuffersForAsyncHostToDeviceArgs::manager, "transfer_manager">(
      api, [](abi::ClientCreateBuffersForAsyncHostToDeviceArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        return create(*client.body, a);
      });
  add<&abi::TransferManagerDestroyArgs::manager, "transfer_manager">(
      api, [](abi::TransferManagerDestroyArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        delete &manager;
        return {};
      });
  add<&abi::TransferManagerTransferDataArgs::done, "done_with_h2d_transfer">(
      api, [](abi::TransferManagerTransferDataArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        MILLRACE_TRY(std::optional<devices::cpu::LateArray> whole, transfer(manager, a));
        if (whole) whole->write();
        a.done = make_event(make_ready());
        return {};
      });
  add<&abi::TransferManagerTransferLiteralArgs::done, "done_with_h2d_transfer">(
      api, [](abi::TransferManagerTransferLiteralArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        return transfer_literal(manager, a);
      });
  // It says nothing that a transfer to the CPU could use.
  add<&abi::TransferManagerAddMetadataArgs::num_metadata, "num_metadata">(
      api, [](abi::TransferManagerAddMetadataArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        return {};
      });
  add<&abi::TransferManagerRetrieveBufferArgs::buffer, "buffer_out">(
      api, [](abi::TransferManagerRetrieveBufferArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        MutexLock lock(manager.mutex);
        MILLRACE_TRY(Entry* const entry, find(manager, a.buffer_index));
        if (entry->buffer == nullptr) {
          return fail(ErrorCode::kFailedPrecondition,
                      "array " + std::to_string(a.buffer_index) + " was retrieved before");
        }
        a.buffer = entry->buffer.release();
        return {};
      });
  add<&abi::TransferManagerSetBufferErrorArgs::error_message_size, "error_message_size">(
      api, [](abi::TransferManagerSetBufferErrorArgs& a) -> Status {
        MILLRACE_GIVEN(manager, manager);
        MILLRACE_TRY(devices::cpu::LateArray array, take_open(manager, a.buffer_index));
        array.fail(from_caller(a.error_code, a.error_message, a.error_message_size));
        return {};
      });
  add<&abi::ClientCreateErrorBufferArgs::buffer, "buffer">(
      api, [](abi::ClientCreateErrorBufferArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        return make_failed(*client.body, a);
      });
}

}  // namespace millrace::pjrt_plugin
