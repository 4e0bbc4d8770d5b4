// Streams through shared memory, beside the Unix socket over which it was offered. The socket
// stays: a byte over it wakes an end that has announced that it sleeps, and its end is the end of
// the other process. While both ends run there are no system calls. Read next: shm_ring.h, the
// rules of positions and sleep; shm_memory.h, the offer. Internal to shm_transport.h.
#pragma once

#include <memory>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/loop/event_loop.h"
#include "millrace/core/net/transport.h"

namespace millrace::net {

// For the process that connected: makes the memory and offers it. kPermissionDenied: another user
// listens there; kResourceExhausted; kUnavailable: the other end is gone already.
Result<std::unique_ptr<ByteStream>> offer_shm_stream(EventLoop& loop, Descriptor socket, Peer peer);
// For the process that listens: the offer comes later, and the stream can be used at once.
Result<std::unique_ptr<ByteStream>> accept_shm_stream(EventLoop& loop, Descriptor socket,
                                                      Peer peer);

}  // namespace millrace::net
