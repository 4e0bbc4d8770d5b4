// Faults of the facts that buffers report, and of transfers in pieces.
#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {

Faults buffer_faults() {
  return {
      {"buffer.element_type",
       after<[](abi::BufferElementTypeArgs* a) { a->type = abi::BufferType::kS32; }>},
      {"buffer.dimensions", after<[](abi::BufferDimensionsArgs* a) { a->num_dims = 1; }>},
      {"buffer.unpadded_dimensions",
       after<[](abi::BufferUnpaddedDimensionsArgs* a) { a->num_dims = 1; }>},
      {"buffer.device",
       after<[](abi::BufferDeviceArgs* a) { a->device = a->device->client->device_list[0]; }>},
      {"buffer.memory", after<[](abi::BufferMemoryArgs* a) { a->memory = nullptr; }>},
      {"buffer.size",
       after<[](abi::BufferOnDeviceSizeInBytesArgs* a) { a->on_device_size_in_bytes = 1; }>},
      {"buffer.layout", after<[](abi::BufferGetMemoryLayoutArgs* a) {
         a->layout.type = static_cast<abi::LayoutType>(5);
       }>},
      {"buffer.on_cpu", &refuse<abi::BufferIsOnCpuArgs>},
      {"buffer.raw_copy", before<[](abi::BufferCopyRawToHostArgs* a) { a->offset = 0; }>},
      {"buffer.external_reference", after<[](abi::BufferOpaqueDeviceMemoryDataPointerArgs* a) {
         static float elsewhere[4] = {};
         a->device_memory_ptr = elsewhere;
       }>},
      {"buffer.reference_underflow",
       instead<[](abi::BufferDecreaseExternalReferenceCountArgs* a) -> abi::Error* {
         delete healthy(a);
         return nullptr;
       }>},
      {"buffer.unsafe_pointer", after<[](abi::BufferUnsafePointerArgs* a) { a->pointer = 0; }>},
      {"buffer.copy_to_memory", after<[](abi::BufferCopyToMemoryArgs* a) {
         if (a->dst_memory->device == a->buffer->device) spoil_contents(a->dst_buffer);
       }>},
      {"buffer.uninitialized",
       after<[](abi::ClientCreateUninitializedBufferArgs* a) { a->buffer->dims = {6}; }>},
      {"buffer.view",
       before<[](abi::ClientCreateViewOfDeviceBufferArgs* a) { a->on_delete_callback = nullptr; }>},
      {"transfer.sizes", after<[](abi::TransferManagerBufferSizeArgs* a) { a->buffer_size = 1; }>},
      {"transfer.pieces", before<[](abi::TransferManagerTransferDataArgs* a) { a->offset = 0; }>},
      {"transfer.used_before", instead<[](abi::TransferManagerRetrieveBufferArgs* a) {
         return a->manager->ready[0]->ready() ? healthy(a) : make_error(9, "nothing is there yet");
       }>},
      {"transfer.failed",
       before<[](abi::TransferManagerSetBufferErrorArgs* a) { a->error_code = 0; }>},
  };
}

}  // namespace millrace::faulty_plugin
