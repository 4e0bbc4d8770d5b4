// Streams over the bytes of a connected socket. Internal to the transports.
#pragma once

#include <functional>
#include <memory>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/loop/event_loop.h"
#include "millrace/core/net/transport.h"

namespace millrace::net {

// Makes a stream of a socket that is connected; the loop outlives it.
using MakeStream = std::function<Result<std::unique_ptr<ByteStream>>(EventLoop&, Descriptor, Peer)>;

Result<std::unique_ptr<ByteStream>> make_socket_stream(EventLoop& loop, Descriptor socket,
                                                       Peer peer);

}  // namespace millrace::net
