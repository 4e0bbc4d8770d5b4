// A buffer whose contents will never come: made by PJRT_Client_CreateErrorBuffer or, where a plugin
// lacks it, by a transfer that fails.
#pragma once

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

inline constexpr int kErrorCode = 11;  // OUT_OF_RANGE
inline constexpr std::string_view kErrorText = "an error for a check";

// Of kLength floats, on the first device.
Result<HeldBuffer> error_buffer(Rig& rig);
// Ok if the status is that error.
Status expect_that_error(const Status& status, std::string_view where);

}  // namespace millrace::conform
