// Connects to an address of this host. Internal to the transports.
#pragma once

#include <memory>
#include <string_view>

#include "millrace/core/net/socket_address.h"
#include "millrace/core/net/socket_stream.h"

namespace millrace::net {

// As Transport::connect(); make's errors too.
Future<std::unique_ptr<ByteStream>> connect_to(EventLoop& loop, const SocketAddress& address,
                                               std::string_view text, MakeStream make,
                                               const CallOptions& call);

}  // namespace millrace::net
