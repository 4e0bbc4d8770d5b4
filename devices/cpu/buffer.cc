#include "millrace/devices/cpu/buffer.h"

#include <cstring>
#include <string>
#include <utility>

#include "millrace/devices/cpu/copy.h"

namespace millrace::devices::cpu {

Ref<CpuArray> CpuBuffer::array() const {
  if (life_ != device_.life()) return nullptr;
  MutexLock lock(mutex_);
  return array_;
}

Ref<CpuArray> CpuBuffer::take() {
  MutexLock lock(mutex_);
  return std::move(array_);
}

std::unexpected<Error> CpuBuffer::removed_error(std::string_view what) const {
  return ::millrace::fail(ErrorCode::kFailedPrecondition,
                          std::string(what) + " of " + shape_.to_string() + " on CPU device " +
                              std::to_string(index(device_.id())) +
                              ": the buffer was donated or removed before, or lost with its "
                              "device");
}

Future<void> CpuBuffer::ready() const {
  const Ref<CpuArray> array = this->array();
  if (!array) return removed_error("the ready event");
  return Future<void>(array->ready());
}

Result<HostAccess> CpuBuffer::host_access() {
  const Ref<CpuArray> array = this->array();
  if (!array) return removed_error("host access");
  if (!array->ready()->complete()) {
    return fail(ErrorCode::kFailedPrecondition,
                "host access of " + shape_.to_string() + " before it is ready");
  }
  if (const Error* error = array->ready()->error()) return std::unexpected(*error);
  MILLRACE_TRY_STATUS(device_.alive());
  const Ref<Block>& block = array->block();
  return HostAccess{{block->data(), shape_.size_bytes()}, make_owner(block)};
}

Future<void> CpuBuffer::copy_to_host(std::span<std::byte> destination, Owner keep_alive) {
  Ref<CpuArray> array = this->array();
  if (!array) return removed_error("a copy to the host");
  if (destination.size() != shape_.size_bytes()) {
    return fail(ErrorCode::kInvalidArgument, "a copy to the host of " + shape_.to_string() +
                                                 " into " + std::to_string(destination.size()) +
                                                 " bytes");
  }
  Scope::Hold hold = device_.scope().hold();
  if (!hold) {  // after close what is there can still be read, here and now
    if (!array->ready()->complete()) return device_.scope().closed_error();
    if (const Error* error = array->ready()->error()) return *error;
    if (!destination.empty()) {
      std::memcpy(destination.data(), array->block()->data(), destination.size());
    }
    return make_ready();
  }
  return copy_out(device_, std::move(hold), std::move(array), destination, std::move(keep_alive));
}

}  // namespace millrace::devices::cpu
