// open_client: a PjrtClient whose making may never end. Read next: opening.h.
#pragma once

#include <memory>

#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/pjrt/opening.h"

namespace millrace::devices::pjrt {

// PjrtClient::create on the thread that is lent. Blocks; given up where `opening` says so, as
// OpeningGivenUp (registry.h) tells: then whatever the options point to is still used, but for the
// store. A client that comes after that is destroyed.
Result<std::unique_ptr<PjrtClient>> open_client(const Plugin& plugin, PjrtClientOptions options,
                                                const OpeningOptions& opening);

}  // namespace millrace::devices::pjrt
