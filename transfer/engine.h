// TransferEngine: bytes between host and devices, and between devices, without waiting. It adds to
// Device what every user of it would write again: staging for sources that cannot be lent, credits
// per device in bytes for transfers of either direction, a close() that waits for them, and
// numbers. Order is the device's business (device_actor.h); batches are the loader's. Read next:
// byte_credits.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "millrace/core/call_options.h"
#include "millrace/core/environment.h"
#include "millrace/core/mutex.h"
#include "millrace/core/scope.h"
#include "millrace/devices/device.h"
#include "millrace/transfer/byte_credits.h"
#include "millrace/transfer/staging_pool.h"

namespace millrace::transfer {

// What may be done with the host bytes of an upload.
enum class SourceUse : std::uint8_t {
  kCopy,      // read only until the upload completes; they are copied into staging memory first
  kLend,      // unchanged until the device has copied them; view.owner keeps them alive
  kZeroCopy,  // unchanged as long as the buffer lives, which may be them; view.owner keeps them
              // alive
};

struct UploadOptions {
  SourceUse use = SourceUse::kCopy;
  int memory = -1;  // as in PutOptions
  CallOptions call;
};

struct TransferEngineOptions {
  std::shared_ptr<StagingPool> pool;  // for SourceUse::kCopy; never empty
  std::size_t bytes_in_flight_per_device = std::size_t{256} << 20;
};

// Of one device.
struct TransferStats {
  std::uint64_t uploads = 0;  // that have arrived
  std::uint64_t downloads = 0;
  std::uint64_t copies = 0;  // to this device
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t bytes_copied = 0;
  std::uint64_t staged_bytes = 0;  // of bytes_up, what took the way through staging memory
  std::uint64_t failures = 0;      // cancelled ones included
  std::size_t bytes_in_flight = 0;
  std::size_t peak_bytes_in_flight = 0;
};

class EngineLane;

// States: open -> closing -> closed (Scope). What the options and the environment point to outlives
// it; destroyed after close() has completed. Thread-safety: thread-safe.
class TransferEngine {
 public:
  TransferEngine(const Environment& environment, TransferEngineOptions options);
  ~TransferEngine();

  // Host to device. Completes when the handle exists, on the compute executor; buffer.ready() when
  // the bytes do. kInvalidArgument: kLend and kZeroCopy without an owner. Waits for credits first;
  // kCancelled and kDeadlineExceeded by options until the device has begun, its errors from then
  // on.
  Future<devices::Buffer> upload(const devices::Device& device, const devices::HostView& view,
                                 const UploadOptions& options = {});
  // Device to host; device is the one that has the buffer.
  Future<devices::HostArray> download(const devices::Device& device, const devices::Buffer& buffer,
                                      const CallOptions& options = {});
  // Device to device, of any clients; counted on the destination.
  Future<devices::Buffer> copy(const devices::Buffer& source, const devices::Device& destination,
                               const CallOptions& options = {});

  TransferStats stats(const devices::Device& device) const;
  // Refuses new calls; completes when the bytes of the old ones have arrived or failed. Those that
  // wait for credits get theirs.
  Future<void> close();

 private:
  std::shared_ptr<EngineLane> lane(const devices::Device& device) MILLRACE_EXCLUDES(mutex_);

  const Environment environment_;
  const TransferEngineOptions options_;
  Scope scope_{"the transfer engine"};
  mutable Mutex mutex_;
  std::map<const devices::DeviceActor*, std::shared_ptr<EngineLane>> lanes_
      MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::transfer
