// SocketAddress: the addresses of transports of one host, and sockets for them. Internal to the
// transports. Read next: socket_transport.h.
//
//   unix:/PATH            a Unix socket, in a folder of this user's that others may not enter
//   shm:/PATH             such a socket, by which two processes come to share memory
//   tcp:127.0.0.1:PORT    0: any free port
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"
#include "millrace/core/net/transport.h"

namespace millrace::net {

enum class Scheme { kUnix, kShm, kTcp };

struct SocketAddress {
  Scheme scheme = Scheme::kTcp;
  sockaddr_storage storage = {};
  socklen_t size = 0;
  std::string path = {};  // empty: TCP
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Result<SocketAddress> parse_address(std::string_view text);
// kInvalidArgument: what can be an address is in its words.
std::unexpected<Error> bad_address(std::string_view text);

// kResourceExhausted: no descriptors are left.
Result<Descriptor> make_socket(const SocketAddress& address);
void set_option(const Descriptor& socket, int level, int option);
// Who is at the other end of a connected socket.
Peer peer_of(const Descriptor& socket, const SocketAddress& address, std::string_view text);

}  // namespace millrace::net
