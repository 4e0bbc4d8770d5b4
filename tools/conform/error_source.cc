#include "millrace/tools/conform/error_source.h"

namespace millrace::conform {
namespace {

constexpr std::int64_t kDims[] = {kLength};

Result<HeldBuffer> created(Rig& rig, abi::Memory* memory) {
  abi::ClientCreateErrorBufferArgs args;
  MILLRACE_TRY(args.client, rig.client());
  args.error_code = kErrorCode;
  args.error_message = kErrorText.data();
  args.error_message_size = kErrorText.size();
  args.dims = kDims;
  args.num_dims = 1;
  args.type = abi::BufferType::kF32;
  args.memory = memory;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.buffer == nullptr) return broken("PJRT_Client_CreateErrorBuffer gives no buffer");
  return rig.hold(args.buffer);
}

Result<HeldBuffer> transferred(Rig& rig, abi::Memory* memory) {
  abi::ShapeSpec shape;
  shape.struct_size = abi::kStructSize<abi::ShapeSpec>;
  shape.dims = kDims;
  shape.num_dims = 1;
  shape.type = abi::BufferType::kF32;
  abi::ClientCreateBuffersForAsyncHostToDeviceArgs create;
  MILLRACE_TRY(create.client, rig.client());
  create.shapes = &shape;
  create.num_shapes = 1;
  create.memory = memory;
  MILLRACE_TRY_STATUS(rig.table().call(create));
  const HeldTransferManager manager(rig.table(), rig.trouble(), create.manager);
  abi::TransferManagerRetrieveBufferArgs retrieve;
  retrieve.manager = manager.get();
  MILLRACE_TRY_STATUS(rig.table().call(retrieve));
  HeldBuffer buffer = rig.hold(retrieve.buffer);
  abi::TransferManagerSetBufferErrorArgs fail;
  fail.manager = manager.get();
  fail.error_code = kErrorCode;
  fail.error_message = kErrorText.data();
  fail.error_message_size = kErrorText.size();
  MILLRACE_TRY_STATUS(rig.table().call(fail));
  return buffer;
}

}  // namespace

Result<HeldBuffer> error_buffer(Rig& rig) {
  MILLRACE_TRY(abi::Device* const device, rig.device());
  MILLRACE_TRY(abi::Memory* const memory, rig.memory(device));
  Result<HeldBuffer> made = created(rig, memory);
  if (made || made.error().code() != ErrorCode::kUnimplemented) return made;
  return transferred(rig, memory);
}

Status expect_that_error(const Status& status, std::string_view where) {
  if (status) return broken(std::string(where) + " tells no error where there is one");
  if (status.error().detail<PluginError>() == nullptr) return status;
  if (status.error().code() != static_cast<ErrorCode>(kErrorCode) ||
      !status.error().message().contains(kErrorText)) {
    return broken(std::string(where) + " tells another error than there is: " +
                  std::string(millrace::to_string(status.error().code())) + ": " +
                  status.error().message());
  }
  return {};
}

}  // namespace millrace::conform
