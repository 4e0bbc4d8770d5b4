#include "millrace/devices/sim/sim_buffer.h"

#include <string>

#include "millrace/devices/device_scope.h"
#include "millrace/devices/sim/sim_client.h"
#include "millrace/devices/sim/sim_transfer.h"

namespace millrace::devices::sim {
namespace {

std::unexpected<Error> removed_error(const SimBuffer& buffer, const char* what) {
  return fail(ErrorCode::kFailedPrecondition, std::string(what) + " of " +
                                                  buffer.shape().to_string() + " on device " +
                                                  std::to_string(index(buffer.device())) +
                                                  ": the buffer was donated or removed before, or "
                                                  "lost with its device");
}

}  // namespace

SimBuffer::SimBuffer(SimClient& client, DeviceId device, const Shape& shape, Ref<SimBytes> bytes)
    : client_(client),
      device_(device),
      shape_(shape),
      life_((*client_.find(device))->life()),
      bytes_(std::move(bytes)) {
  client_.live_buffers_.fetch_add(1);
  (*client_.find(device_))->add_memory(static_cast<std::int64_t>(size_bytes()));
}

SimBuffer::~SimBuffer() {
  remove();
  client_.live_buffers_.fetch_sub(1);
}

Client& SimBuffer::client() const { return client_; }

Future<void> SimBuffer::ready() const {
  if (removed()) return removed_error(*this, "the ready event");
  return Future<void>(Ref<Cell<void>>(ready_));
}

bool SimBuffer::removed() const {
  return removed_.load() || life_ != (*client_.find(device_))->life();
}

Ref<SimBytes> SimBuffer::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

bool SimBuffer::donate() {
  if (removed_.exchange(true)) return false;
  (*client_.find(device_))->add_memory(-static_cast<std::int64_t>(size_bytes()));
  Ref<SimBytes> bytes;  // goes after the lock
  MutexLock lock(mutex_);
  std::swap(bytes, bytes_);
  return true;
}

void SimBuffer::remove() { donate(); }

Future<void> SimBuffer::copy_to_host(std::span<std::byte> destination, Owner keep_alive) {
  if (DeviceScope::current() == nullptr) client_.check_scope({}, "copy_to_host");
  if (removed()) {
    client_.uses_after_removal_.fetch_add(1);
    return removed_error(*this, "a copy to the host");
  }
  if (destination.size() != size_bytes()) {
    return fail(ErrorCode::kInvalidArgument, "a copy to the host of " + shape_.to_string() +
                                                 " into " + std::to_string(destination.size()) +
                                                 " bytes");
  }
  Scope::Hold hold = client_.scope_.hold();
  if (!hold) return client_.scope_.closed_error();
  auto transfer = make_ref<SimTransfer>(client_, **client_.find(device_), std::move(hold));
  return transfer->fetch(Ref<SimBuffer>::share(this), destination, std::move(keep_alive));
}

Result<HostAccess> SimBuffer::host_access() {
  if (!client_.options_.host_access || !client_.options_.keep_bytes) {
    // Met in every fetch, so it is made once.
    static const Error out_of_sight(ErrorCode::kUnimplemented,
                                    "this simulated device's memory is out of the host's sight");
    return std::unexpected(out_of_sight);
  }
  const Ref<SimBytes> bytes = this->bytes();
  if (!bytes) return removed_error(*this, "host access");
  if (!ready_->complete()) {
    return fail(ErrorCode::kFailedPrecondition,
                "host access of " + shape_.to_string() + " before it is ready");
  }
  {
    MutexLock lock(client_.mutex_);
    const SimDevice& device = **client_.find(device_);
    if (device.failure) return std::unexpected(*device.failure);
  }
  Owner owner(bytes->span().data(), [bytes](const void*) {}, PoolAllocator<std::byte>());
  return HostAccess{bytes->span(), std::move(owner)};
}

}  // namespace millrace::devices::sim
