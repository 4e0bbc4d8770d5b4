// Transport: streams of bytes between processes. The interfaces; host_transport.h has shared
// memory, Unix sockets and TCP on this host, tests/support/sim_transport.h one in memory. Read
// next: connection.h, frames over a stream; entrance.h, which lets connections in.
//
// All of it belongs to one executor, the home (a loop's thread), and is confined to it; all futures
// complete there, those of a stream never inside a call of the transport's. What a transport makes
// is destroyed before its loop.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/timer_queue.h"

namespace millrace::net {

// Who is at the other end, as far as the system says: over Unix sockets all of it.
struct Peer {
  std::string address = {};  // "unix:/run/x", "tcp:127.0.0.1:4711": for messages
  std::optional<uid_t> uid = {};
  std::optional<pid_t> pid = {};
};

// A stream in both directions that keeps the order of its bytes. Its end closes it. One wait of
// each kind at a time; those under way then complete with kCancelled. Thread-safety: confined.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual const Peer& peer() const = 0;
  // Bytes that came, in one piece, `most` at most; none: the other end has ended the stream;
  // nullopt: none are there yet. They are the stream's, and stay where they are until release();
  // what is not released comes first the next time. An error ends the stream: kUnavailable, it was
  // cut; others say what the other end did wrong, or what this process lacks.
  virtual Result<std::optional<std::span<const std::byte>>> try_read(std::size_t most) = 0;
  // The first so many of the bytes that try_read() gave are not needed any more.
  virtual void release(std::size_t bytes) = 0;
  // How many bytes of both together it took, the first ones; 0: it takes none now.
  virtual Result<std::size_t> try_write(std::span<const std::byte> head,
                                        std::span<const std::byte> body) = 0;
  // Complete when the call is worth another try; that may be so already.
  virtual Future<unsigned> wait_readable() = 0;
  virtual Future<unsigned> wait_writable() = 0;
};

// Its end stops it, and takes its name away. Thread-safety: confined.
class StreamListener {
 public:
  virtual ~StreamListener() = default;
  // Where it listens, for connect(): with the port that it has got.
  virtual const std::string& address() const = 0;
};

// Thread-safety: confined.
class Transport {
 public:
  // Called on the home executor; the listener may be destroyed in it.
  using Accept = std::function<void(std::unique_ptr<ByteStream>)>;

  virtual ~Transport() = default;
  virtual Executor& home() = 0;
  virtual TimerQueue& timers() = 0;
  // kInvalidArgument for an address that is none of the transport's; kAlreadyExists if it is taken;
  // kPermissionDenied.
  virtual Result<std::unique_ptr<StreamListener>> listen(std::string_view address,
                                                         Accept accept) = 0;
  // kUnavailable where nothing listens (it names the address); kPermissionDenied if another user
  // does; kCancelled and kDeadlineExceeded by call.
  virtual Future<std::unique_ptr<ByteStream>> connect(std::string_view address,
                                                      CallOptions call = {}) = 0;
};

}  // namespace millrace::net
