#include "millrace/core/net/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "millrace/core/base/errno_code.h"

namespace millrace::net {

std::unexpected<Error> bad_address(std::string_view text) {
  return fail(ErrorCode::kInvalidArgument,
              "the address '" + std::string(text) +
                  "' is none of unix:/PATH, shm:/PATH (a path of 107 bytes at most) and "
                  "tcp:127.0.0.1:PORT, or none that this transport serves");
}

Result<SocketAddress> parse_address(std::string_view text) {
  SocketAddress address;
  const bool shm = text.starts_with("shm:/");
  if (shm || text.starts_with("unix:/")) {
    auto& unix_address = reinterpret_cast<sockaddr_un&>(address.storage);
    address.scheme = shm ? Scheme::kShm : Scheme::kUnix;
    address.path = text.substr(text.find('/'));
    if (address.path.size() < sizeof unix_address.sun_path &&
        address.path.find('\0') == std::string::npos) {
      unix_address.sun_family = AF_UNIX;
      std::memcpy(unix_address.sun_path, address.path.c_str(), address.path.size() + 1);
      address.size = sizeof unix_address;
      return address;
    }
  }
  constexpr std::string_view kTcp = "tcp:127.0.0.1:";
  if (text.starts_with(kTcp)) {
    const std::string_view digits = text.substr(kTcp.size());
    std::uint16_t port = 0;
    const auto [end, wrong] = std::from_chars(digits.begin(), digits.end(), port);
    if (wrong == std::errc() && end == digits.end()) {
      auto& tcp_address = reinterpret_cast<sockaddr_in&>(address.storage);
      tcp_address.sin_family = AF_INET;
      tcp_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      tcp_address.sin_port = htons(port);
      address.size = sizeof tcp_address;
      return address;
    }
  }
  return bad_address(text);
}

Result<Descriptor> make_socket(const SocketAddress& address) {
  const int family = address.storage.ss_family;
  Descriptor made(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return errno_error("making a socket", errno);
  return made;
}

void set_option(const Descriptor& socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket.get(), level, option, &on, sizeof on);  // for speed: it may fail
}

Peer peer_of(const Descriptor& socket, const SocketAddress& address, std::string_view text) {
  Peer peer{.address = std::string(text)};
  ucred who = {};
  socklen_t size = sizeof who;
  if (address.path.empty()) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  } else if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) {
    peer.uid = who.uid;
    peer.pid = who.pid;
  }
  return peer;
}

}  // namespace millrace::net
