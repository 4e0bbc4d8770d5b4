// External references: callers that read a buffer's bytes in place (NumPy views, DLPack). Read
// next: buffer.h.
#include "millrace/core/async/blocking.h"
#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"

namespace millrace::devices::pjrt::abi {

Status Buffer::hold_external() {
  const Future<void> ready = array.ready();
  MILLRACE_TRY_STATUS(wait_blocking(ready));
  MutexLock lock(mutex_);
  if (external_ == 0) {
    MILLRACE_TRY(access_, array.host_access());
  }
  ++external_;
  return {};
}

Status Buffer::release_external() {
  std::optional<HostAccess> last;  // goes after the lock: its end may call a caller's function
  MutexLock lock(mutex_);
  if (external_ == 0) {
    return fail(
        ErrorCode::kInvalidArgument,
        "an external reference to " + array.shape().to_string() + " is released, but none is held");
  }
  if (--external_ == 0) last = std::exchange(access_, std::nullopt);
  return {};
}

Result<std::uintptr_t> Buffer::external_pointer() {
  MutexLock lock(mutex_);
  if (access_) return reinterpret_cast<std::uintptr_t>(access_->bytes.data());
  return fail(ErrorCode::kFailedPrecondition,
              "the address of " + array.shape().to_string() +
                  " is asked for without an external reference, which would keep it");
}

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {

void add_external_references(abi::Api& api) {
  add<&abi::BufferIncreaseExternalReferenceCountArgs::buffer, "buffer">(
      api, [](abi::BufferIncreaseExternalReferenceCountArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        return buffer.hold_external();
      });
  add<&abi::BufferDecreaseExternalReferenceCountArgs::buffer, "buffer">(
      api, [](abi::BufferDecreaseExternalReferenceCountArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        return buffer.release_external();
      });
  add<&abi::BufferOpaqueDeviceMemoryDataPointerArgs::device_memory_ptr, "device_memory_ptr">(
      api, [](abi::BufferOpaqueDeviceMemoryDataPointerArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        MILLRACE_TRY(const std::uintptr_t pointer, buffer.external_pointer());
        a.device_memory_ptr = reinterpret_cast<void*>(pointer);
        return {};
      });
  // As XLA's: the caller keeps the buffer alive and undonated while it uses the address.
  add<&abi::BufferUnsafePointerArgs::pointer, "buffer_pointer">(
      api, [](abi::BufferUnsafePointerArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        const Future<void> ready = buffer.array.ready();
        MILLRACE_TRY_STATUS(wait_blocking(ready));
        MILLRACE_TRY(const devices::HostAccess access, buffer.array.host_access());
        a.pointer = reinterpret_cast<std::uintptr_t>(access.bytes.data());
        return {};
      });
}

}  // namespace millrace::pjrt_plugin
