// A buffer whose contents will never come: made by PJRT_Client_CreateErrorBuffer or, where a plugin
// lacks it, by a transfer that fails.
#pragma once

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

inline constexpr int kErrorCode = 11;  // OUT_OF_RANGE
inline constexpr std::string_view kErrorText = "an error for a check";

// A buffer of kLength floats, on the first device.
Result<HeldBuffer> error_buffer(Rig& rig);
// A transfer in pieces to one such buffer, which is there before its contents, and which may fail.
Result<HeldTransferManager> make_transfer_manager(Rig& rig);
Result<HeldBuffer> retrieve_buffer(Rig& rig, const HeldTransferManager& manager);
Status fail_transfer(Rig& rig, const HeldTransferManager& manager);
// Ok if the status is that error.
Status expect_that_error(const Status& status, std::string_view where);

}  // namespace millrace::conform
