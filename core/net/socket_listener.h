// Listens at an address of this host and makes a stream of each socket that comes. Internal to the
// transports.
#pragma once

#include <memory>
#include <string_view>

#include "millrace/core/net/socket_address.h"
#include "millrace/core/net/socket_stream.h"

namespace millrace::net {

// The errors of Transport::listen(). A process that has no descriptors left accepts none for a
// while, and does not spin.
Result<std::unique_ptr<StreamListener>> listen_at(EventLoop& loop, const SocketAddress& address,
                                                  std::string_view text, MakeStream make,
                                                  Transport::Accept accept);

}  // namespace millrace::net
