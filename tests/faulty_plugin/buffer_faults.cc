// Of what buffers tell of themselves, and of transfers in pieces.
#include "tests/faulty_plugin/faults.h"

namespace millrace::faulty_plugin {

Faults buffer_faults() {
  return {
      {"buffer.element_type",
       [](abi::Api& api) {
         after<abi::BufferElementTypeArgs>(api, [](auto* a) { a->type = abi::BufferType::kS32; });
       }},
      {"buffer.dimensions",
       [](abi::Api& api) {
         after<abi::BufferDimensionsArgs>(api, [](auto* a) { a->num_dims = 1; });
       }},
      {"buffer.unpadded_dimensions",
       [](abi::Api& api) {
         after<abi::BufferUnpaddedDimensionsArgs>(api, [](auto* a) { a->num_dims = 1; });
       }},
      {"buffer.device",
       [](abi::Api& api) {
         after<abi::BufferDeviceArgs>(
             api, [](auto* a) { a->device = a->device->client->device_list[0]; });
       }},
      {"buffer.memory",
       [](abi::Api& api) {
         after<abi::BufferMemoryArgs>(api, [](auto* a) { a->memory = nullptr; });
       }},
      {"buffer.size",
       [](abi::Api& api) {
         after<abi::BufferOnDeviceSizeInBytesArgs>(api,
                                                   [](auto* a) { a->on_device_size_in_bytes = 1; });
       }},
      {"buffer.layout",
       [](abi::Api& api) {
         after<abi::BufferGetMemoryLayoutArgs>(
             api, [](auto* a) { a->layout.type = static_cast<abi::LayoutType>(5); });
       }},
      {"buffer.on_cpu", &refuse<abi::BufferIsOnCpuArgs>},
      {"buffer.raw_copy",
       [](abi::Api& api) {
         instead<abi::BufferCopyRawToHostArgs>(api, [](auto* a) {
           a->offset = 0;
           return healthy(a);
         });
       }},
      {"buffer.external_reference",
       [](abi::Api& api) {
         after<abi::BufferOpaqueDeviceMemoryDataPointerArgs>(api, [](auto* a) {
           static float elsewhere[4] = {};
           a->device_memory_ptr = elsewhere;
         });
       }},
      {"buffer.reference_underflow",
       [](abi::Api& api) {
         instead<abi::BufferDecreaseExternalReferenceCountArgs>(api, [](auto* a) -> abi::Error* {
           delete healthy(a);
           return nullptr;
         });
       }},
      {"buffer.unsafe_pointer",
       [](abi::Api& api) {
         after<abi::BufferUnsafePointerArgs>(api, [](auto* a) { a->pointer = 0; });
       }},
      {"buffer.copy_to_memory",
       [](abi::Api& api) {
         after<abi::BufferCopyToMemoryArgs>(api, [](auto* a) {
           if (a->dst_memory->device == a->buffer->device) spoil_contents(a->dst_buffer);
         });
       }},
      {"buffer.uninitialized",
       [](abi::Api& api) {
         after<abi::ClientCreateUninitializedBufferArgs>(api,
                                                         [](auto* a) { a->buffer->dims = {6}; });
       }},
      {"buffer.view",
       [](abi::Api& api) {
         instead<abi::ClientCreateViewOfDeviceBufferArgs>(api, [](auto* a) {
           a->on_delete_callback = nullptr;
           return healthy(a);
         });
       }},
      {"transfer.sizes",
       [](abi::Api& api) {
         after<abi::TransferManagerBufferSizeArgs>(api, [](auto* a) { a->buffer_size = 1; });
       }},
      {"transfer.pieces",
       [](abi::Api& api) {
         instead<abi::TransferManagerTransferDataArgs>(api, [](auto* a) {
           a->offset = 0;
           return healthy(a);
         });
       }},
      {"transfer.used_before",
       [](abi::Api& api) {
         instead<abi::TransferManagerRetrieveBufferArgs>(api, [](auto* a) {
           return a->manager->ready[0]->ready() ? healthy(a)
                                                : make_error(9, "nothing is there yet");
         });
       }},
      {"transfer.failed",
       [](abi::Api& api) {
         instead<abi::TransferManagerSetBufferErrorArgs>(api, [](auto* a) {
           a->error_code = 0;
           return healthy(a);
         });
       }},
  };
}

}  // namespace millrace::faulty_plugin
