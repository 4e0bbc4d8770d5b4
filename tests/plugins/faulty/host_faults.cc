// Faults of arrays from the host and to it.
#include <cstring>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

using Put = abi::ClientBufferFromHostBufferArgs;

// Lends the array, and says at once that it is returned.
abi::Error* lend_secretly(Put* a) {
  a->host_buffer_semantics = 3;
  abi::Error* error = healthy(a);
  if (error != nullptr) return error;
  delete a->done_with_host_buffer;
  a->done_with_host_buffer = make_ready_event();
  return nullptr;
}

}  // namespace

Faults host_faults() {
  return {
      {"host.round_trip", after<[](Put* a) { spoil_contents(a->buffer); }>},
      {"host.copied_in_call", instead<[](Put* a) {
         const bool that = a->host_buffer_semantics == 0 && a->num_dims == 1 && a->dims[0] == 8192;
         return that ? lend_secretly(a) : healthy(a);
       }>},
      {"host.until_transfer", instead<[](Put* a) {
         return a->host_buffer_semantics == 1 ? lend_secretly(a) : healthy(a);
       }>},
      {"host.zero_copy", instead<[](Put* a) {
         return a->host_buffer_semantics == 2 ? lend_secretly(a) : healthy(a);
       }>},
      {"host.zero_copy_given_back", after<[](Put* a) {
         if (a->host_buffer_semantics != 2) return;
         a->done_with_host_buffer->state = std::make_shared<EventState>();
       }>},
      {"host.mutable_zero_copy", after<[](Put* a) {
         if (a->host_buffer_semantics != 3) return;
         a->buffer->storage = Storage::make(a->buffer->bytes);
       }>},
      {"host.strides", before<[](Put* a) {
         if (a->num_byte_strides == 2) a->num_byte_strides = 0;
       }>},
      {"host.negative_strides", before<[](Put* a) {
         static const std::int64_t still = 0;
         if (a->num_byte_strides == 1 && a->byte_strides[0] < 0) a->byte_strides = &still;
       }>},
      {"host.unaligned", before<[](Put* a) {
         const auto address = reinterpret_cast<std::uintptr_t>(a->data);
         if (a->host_buffer_semantics == 2 && address % 16 != 0) {
           a->data = reinterpret_cast<const void*>(address - address % 16);
         }
       }>},
      {"host.types", after<[](Put* a) {
         if (a->type == abi::BufferType::kU16) a->buffer->storage->own[0] ^= std::byte{0xff};
       }>},
      {"host.scalar", instead<[](Put* a) {
         return a->num_dims == 0 ? make_error(3, "no dimensions") : healthy(a);
       }>},
      {"host.empty", instead<[](Put* a) {
         const bool empty = a->num_dims == 2 && a->dims[1] == 0;
         return empty ? make_error(3, "no elements") : healthy(a);
       }>},
      {"host.large", after<[](Put* a) {
         if (a->buffer->bytes >= 1 << 20) spoil_contents(a->buffer);
       }>},
      {"host.size_query", after<[](abi::BufferToHostBufferArgs* a) {
         if (a->dst == nullptr) a->dst_size = 0;
       }>},
      {"host.small_target", before<[](abi::BufferToHostBufferArgs* a) {
         if (a->dst != nullptr && a->dst_size == 8) a->dst_size = 16;
       }>},
  };
}

}  // namespace millrace::faulty_plugin
