// ShmTransport: streams through memory that two processes of this host share ("shm:/PATH"). They
// meet at a Unix socket as over "unix:/PATH", with the same rules; the one that connects then
// offers the memory. The socket stays, for wake-ups and to see the other's end. Read next:
// shm_stream.h.
#pragma once

#include <memory>

#include "millrace/core/loop/event_loop.h"
#include "millrace/core/net/transport.h"

namespace millrace::net {

// loop outlives the transport, and what that has made. connect() also fails with
// kResourceExhausted: the process has no descriptors or no memory left.
std::unique_ptr<Transport> make_shm_transport(EventLoop& loop);

}  // namespace millrace::net
