// Transfers in pieces, to buffers that exist before their contents.
#include "millrace/tools/conform/error_source.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

constexpr std::int64_t kDims[] = {kLength};

Result<HeldTransferManager> make_manager(Rig& rig) {
  abi::ShapeSpec shape;
  shape.struct_size = abi::kStructSize<abi::ShapeSpec>;
  shape.dims = kDims;
  shape.num_dims = 1;
  shape.type = abi::BufferType::kF32;
  abi::ClientCreateBuffersForAsyncHostToDeviceArgs args;
  MILLRACE_TRY(args.client, rig.client());
  args.shapes = &shape;
  args.num_shapes = 1;
  MILLRACE_TRY(abi::Device* const first, rig.device());
  MILLRACE_TRY(args.memory, rig.memory(first));
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.manager == nullptr) return broken("there is no transfer manager");
  return HeldTransferManager(rig.table(), rig.trouble(), args.manager);
}

Result<HeldBuffer> retrieve(Rig& rig, abi::TransferManager* manager) {
  abi::TransferManagerRetrieveBufferArgs args;
  args.manager = manager;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.buffer == nullptr) return broken("there is no buffer to retrieve");
  return rig.hold(args.buffer);
}

Status transfer(Rig& rig, abi::TransferManager* manager, const float* data, std::int64_t first,
                std::int64_t count, bool last) {
  abi::TransferManagerTransferDataArgs args;
  args.manager = manager;
  args.data = data;
  args.offset = first * 4;
  args.transfer_size = count * 4;
  args.is_last_transfer = last;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldEvent done = rig.hold(args.done);
  return rig.wait(done, "PJRT_AsyncHostToDeviceTransferManager_TransferData");
}

Status sizes(Rig& rig) {
  MILLRACE_TRY(const HeldTransferManager manager, make_manager(rig));
  abi::TransferManagerBufferCountArgs count;
  count.manager = manager.get();
  MILLRACE_TRY_STATUS(rig.table().call(count));
  if (count.buffer_count != 1) {
    return broken("one buffer is said to be " + std::to_string(count.buffer_count));
  }
  abi::TransferManagerBufferSizeArgs size;
  size.manager = manager.get();
  MILLRACE_TRY_STATUS(rig.table().call(size));
  if (size.buffer_size < 16) {
    return broken("16 bytes are said to be " + std::to_string(size.buffer_size));
  }
  abi::TransferManagerDeviceArgs device;
  device.manager = manager.get();
  MILLRACE_TRY_STATUS(rig.table().call(device));
  MILLRACE_TRY(abi::Device* const first, rig.device());
  return device.device == first ? Status() : broken("it is not the device of the memory");
}

Status pieces(Rig& rig) {
  MILLRACE_TRY(const HeldTransferManager manager, make_manager(rig));
  const Floats values = numbers();
  MILLRACE_TRY_STATUS(transfer(rig, manager.get(), &values[2], 2, 2, false));
  MILLRACE_TRY_STATUS(transfer(rig, manager.get(), values.data(), 0, 2, true));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve(rig, manager.get()));
  MILLRACE_TRY(const Floats got, rig.get(buffer.get()));
  return expect_floats(got, values, "what came in two pieces");
}

Status used_before(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldTransferManager manager, make_manager(rig));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve(rig, manager.get()));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer.get()));
  MILLRACE_TRY(const bool early, rig.is_ready(ready.get()));
  if (early) return broken("it is ready before its contents have come");
  MILLRACE_TRY(const HeldBuffer y, rig.apply(increment.get(), buffer.get()));
  const Floats values = numbers();
  MILLRACE_TRY_STATUS(transfer(rig, manager.get(), values.data(), 0, 4, true));
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  return expect_floats(got, Floats{2, 3, 4, 5}, "what was computed from it");
}

Status failed(Rig& rig) {
  MILLRACE_TRY(const HeldTransferManager manager, make_manager(rig));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve(rig, manager.get()));
  abi::TransferManagerSetBufferErrorArgs args;
  args.manager = manager.get();
  args.error_code = kErrorCode;
  args.error_message = kErrorText.data();
  args.error_message_size = kErrorText.size();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return expect_that_error(rig.wait_ready(buffer.get()), "the buffer");
}

}  // namespace

std::vector<Check> transfer_checks() {
  return after({"host.round_trip", "events.is_ready"},
               {
                   {.name = "transfer.sizes",
                    .wants = "a transfer manager tells its buffers, their bytes and its device",
                    .run = &sizes},
                   {.name = "transfer.pieces",
                    .wants = "pieces arrive where they belong, in any order",
                    .run = &pieces},
                   {.name = "transfer.used_before",
                    .wants = "a buffer can be used before its contents have come",
                    .run = &used_before,
                    .after = {"execute.result"}},
                   {.name = "transfer.failed",
                    .wants = "a buffer whose transfer failed has the error",
                    .run = &failed,
                    .after = {"events.error_path", "transfer.used_before"}},
               });
}

}  // namespace millrace::conform
