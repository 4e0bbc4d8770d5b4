#include "millrace/tools/conform/error_source.h"

namespace millrace::conform {
namespace {

constexpr std::int64_t kDims[] = {kLength};

Result<HeldBuffer> created(Rig& rig) {
  MILLRACE_TRY(abi::Memory* const memory, rig.memory());
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientCreateErrorBufferArgs>(
                                    kErrorCode, kErrorText.data(), kErrorText.size(), kDims,
                                    std::size_t{1}, abi::BufferType::kF32, nullptr, memory));
  if (args.buffer == nullptr) return broken("PJRT_Client_CreateErrorBuffer gives no buffer");
  return rig.hold(args.buffer);
}

}  // namespace

Result<HeldTransferManager> make_transfer_manager(Rig& rig) {
  abi::ShapeSpec shape{{}, kDims, 1, abi::BufferType::kF32};
  shape.struct_size = abi::kStructSize<abi::ShapeSpec>;
  MILLRACE_TRY(abi::Memory* const memory, rig.memory());
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientCreateBuffersForAsyncHostToDeviceArgs>(
                                    &shape, std::size_t{1}, nullptr, std::size_t{0}, memory));
  if (args.manager == nullptr) return broken("there is no transfer manager");
  return rig.hold(args.manager);
}

Result<HeldBuffer> retrieve_buffer(Rig& rig, const HeldTransferManager& manager) {
  MILLRACE_TRY(const auto args, rig.ask<abi::TransferManagerRetrieveBufferArgs>(manager.get(), 0));
  if (args.buffer == nullptr) return broken("there is no buffer to retrieve");
  return rig.hold(args.buffer);
}

Status fail_transfer(Rig& rig, const HeldTransferManager& manager) {
  return rig.call<abi::TransferManagerSetBufferErrorArgs>(manager.get(), 0, kErrorCode,
                                                          kErrorText.data(), kErrorText.size());
}

Result<HeldBuffer> error_buffer(Rig& rig) {
  Result<HeldBuffer> made = created(rig);
  if (made || made.error().code() != ErrorCode::kUnimplemented) return made;
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  MILLRACE_TRY(HeldBuffer buffer, retrieve_buffer(rig, manager));
  MILLRACE_TRY_STATUS(fail_transfer(rig, manager));
  return buffer;
}

Status expect_that_error(const Status& status, std::string_view where) {
  if (status) return broken(where, " tells no error where there is one");
  if (status.error().detail<PluginError>() == nullptr) return status;
  if (status.error().code() != static_cast<ErrorCode>(kErrorCode) ||
      !status.error().message().contains(kErrorText)) {
    return broken(where, " tells another error than there is: ",
                  millrace::to_string(status.error().code()), ": ", status.error().message());
  }
  return {};
}

}  // namespace millrace::conform
