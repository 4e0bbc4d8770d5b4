// Transfers in pieces, to buffers that exist before their contents.
#include "millrace/tools/conform/error_source.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family transfer_family("host.round_trip events.is_ready");

namespace {

Status transfer(Rig& rig, abi::TransferManager* manager, const float* data, std::int64_t first,
                std::int64_t count, bool last) {
  MILLRACE_TRY(const auto args, rig.ask<abi::TransferManagerTransferDataArgs>(
                                    manager, 0, data, first * 4, count * 4, last));
  const HeldEvent done = rig.hold(args.done);
  return rig.wait(done, "PJRT_AsyncHostToDeviceTransferManager_TransferData");
}

MILLRACE_CONFORM(transfer, sizes,
                 "a transfer manager tells its buffers, their bytes and its device") {
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  MILLRACE_TRY(const auto count, rig.ask<abi::TransferManagerBufferCountArgs>(manager.get()));
  if (count.buffer_count != 1) return broken("one buffer is said to be ", count.buffer_count);
  MILLRACE_TRY(const auto size, rig.ask<abi::TransferManagerBufferSizeArgs>(manager.get()));
  if (size.buffer_size < 16) return broken("16 bytes are said to be ", size.buffer_size);
  MILLRACE_TRY(const auto device, rig.ask<abi::TransferManagerDeviceArgs>(manager.get()));
  MILLRACE_TRY(abi::Device* const first, rig.device());
  return expect(device.device == first, "it is not the device of the memory");
}

MILLRACE_CONFORM(transfer, pieces, "pieces arrive where they belong, in any order") {
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  const Floats values = numbers();
  MILLRACE_TRY_STATUS(transfer(rig, manager.get(), &values[2], 2, 2, false));
  MILLRACE_TRY_STATUS(transfer(rig, manager.get(), values.data(), 0, 2, true));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve_buffer(rig, manager));
  return rig.expect(buffer.get(), values, "what came in two pieces");
}

MILLRACE_CONFORM(transfer, used_before, "a buffer can be used before its contents have come",
                 .after = "execute.result") {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve_buffer(rig, manager));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer.get()));
  MILLRACE_TRY(const bool early, rig.is_ready(ready.get()));
  if (early) return broken("it is ready before its contents have come");
  MILLRACE_TRY(const HeldBuffer y, rig.apply(increment.get(), buffer.get()));
  const Floats values = numbers();
  MILLRACE_TRY_STATUS(transfer(rig, manager.get(), values.data(), 0, 4, true));
  return rig.expect(y.get(), numbers(1), "what was computed from it");
}

MILLRACE_CONFORM(transfer, failed, "a buffer whose transfer failed has the error",
                 .after = "events.error_path transfer.used_before") {
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve_buffer(rig, manager));
  MILLRACE_TRY_STATUS(fail_transfer(rig, manager));
  return expect_that_error(rig.wait_ready(buffer.get()), "the buffer");
}

}  // namespace
}  // namespace millrace::conform
