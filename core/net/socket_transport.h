// SocketTransport: streams over Unix sockets ("unix:PATH", in a folder of this user's that others
// may not enter) and TCP on this host ("tcp:127.0.0.1:PORT", 0: any free port). Other addresses
// are refused: what leaves the host is no business of these transports.
#pragma once

#include <memory>

#include "millrace/core/loop/event_loop.h"
#include "millrace/core/net/transport.h"

namespace millrace::net {

// loop outlives the transport, and what that has made. A process that has no descriptors left
// accepts none for a while, and does not spin.
std::unique_ptr<Transport> make_socket_transport(EventLoop& loop);

}  // namespace millrace::net
