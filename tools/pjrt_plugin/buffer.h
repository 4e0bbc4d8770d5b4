// A buffer as PJRT has it: an array of a device, in the memory where its caller wants to see it.
//  - PP-5 an external reference keeps the bytes where they are, also when the buffer is deleted or
//    donated: a program then writes its output elsewhere.
// Read next: put_calls.cc, fetch_calls.cc, execute.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/pjrt/layout.h"
#include "millrace/tools/pjrt_plugin/client.h"

namespace millrace::devices::pjrt::abi {

// Thread-safety: thread-safe.
struct Buffer final : pjrt_plugin::Handle<Buffer>, Pooled {
  Buffer(Ref<pjrt_plugin::ClientBody> of, devices::Buffer bytes, Memory* where,
         Future<void> token_comes = {}, bool is_late = false)
      : body(std::move(of)),
        array(std::move(bytes)),
        memory(where),
        token(std::move(token_comes)),
        late(is_late) {}

  const Ref<pjrt_plugin::ClientBody> body;
  const devices::Buffer array;
  Memory* const memory;
  // A token has it: it stands for the end of a launch, and its array is empty. Others have none.
  const Future<void> token;
  // Its bytes wait for what a caller has yet to bring.
  const bool late;
  BufferType type() const {
    return token.valid() ? BufferType::kToken : to_buffer_type(array.shape().dtype());
  }

  // Waits until the bytes are there. Errors: those of the array, and of one that is deleted.
  Status hold_external();
  Status release_external();
  Result<std::uintptr_t> external_pointer();

 private:
  Mutex mutex_;
  int external_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::optional<HostAccess> access_ MILLRACE_GUARDED_BY(mutex_);  // while external_ > 0
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {

// The caller's, who destroys it.
inline abi::Buffer* make_buffer(ClientBody& body, devices::Buffer array, abi::Memory* memory,
                                bool late = false) {
  return new abi::Buffer(Ref<ClientBody>::share(&body), std::move(array), memory, {}, late);
}

// A token that comes with done.
Result<abi::Buffer*> make_token(ClientBody& body, abi::Memory* memory, Future<void> done);

// An element of less than a byte: the host leaves the bits above it open, the device does not.
bool has_spare_bits(devices::DType type);
// Gives these bits the device's values: those of the sign, or 0.
void set_spare_bits(devices::DType type, std::span<std::byte> bytes);

// The shape that a caller describes. kInvalidArgument for dimensions that are none,
// kUnimplemented for element types and ranks that arrays here cannot have.
Result<devices::Shape> read_shape(abi::BufferType type, const std::int64_t* dims,
                                  std::size_t num_dims);
// kUnimplemented unless the layout, which may be null, is row-major without tiles.
Status check_row_major(const abi::MemoryLayout* layout, const devices::Shape& shape);
// In bytes, of an array in this layout, which may be null; none: it is row-major, or empty.
// kUnimplemented: it has tiles.
Result<std::vector<std::int64_t>> strides_of(const abi::MemoryLayout* layout,
                                             const devices::Shape& shape);
// The memory that a call names, or the default one of the device that it names instead.
// kInvalidArgument where it names none, or one of another client.
Result<abi::Memory*> target_memory(const ClientBody& body, abi::Memory* memory,
                                   abi::Device* device);

void add_buffers(abi::Api& api);
void add_external_references(abi::Api& api);
void add_puts(abi::Api& api);
void add_fetches(abi::Api& api);
void add_transfers(abi::Api& api);
void add_takeovers(abi::Api& api);

}  // namespace millrace::pjrt_plugin
