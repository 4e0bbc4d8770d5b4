// HostTransport: streams between processes of this host; the address says how. "shm:/PATH" is the
// fastest, "unix:/PATH" takes fewest resources, "tcp:127.0.0.1:PORT" goes through proxies. Read
// next: shm_transport.h, socket_transport.h.
#pragma once

#include <memory>

#include "millrace/core/loop/event_loop.h"
#include "millrace/core/net/transport.h"

namespace millrace::net {

// loop outlives the transport, and what that has made.
std::unique_ptr<Transport> make_host_transport(EventLoop& loop);

}  // namespace millrace::net
