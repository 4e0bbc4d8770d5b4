// A client of HTTP on a raw socket, so that it can be wrong in any way; and what it gets back.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/tools/commands/loopback.h"

namespace millrace::testing {

struct Reply {
  int status = 0;  // 0: the connection was closed without one
  std::string head;
  std::string body;

  std::string header(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

class Client {
 public:
  explicit Client(int port) : socket_(connect_to_loopback(port)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  Reply receive() {
    Reply reply;
    std::size_t head_end = std::string::npos;
    while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return reply;
    }
    reply.head = buffer_.substr(0, head_end + 2);
    buffer_.erase(0, head_end + 4);
    reply.status = std::atoi(reply.head.c_str() + reply.head.find(' '));
    const std::string length = reply.header("Content-Length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    while (buffer_.size() < size) {
      if (!read_more()) break;
    }
    reply.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return reply;
  }
  Reply get(const std::string& path, const std::string& headers = "") {
    send("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
    return receive();
  }
  void begin_post(const std::string& path, const std::string& body,
                  const std::string& headers = "") const {
    send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + headers + "\r\n" + body);
  }
  Reply post(const std::string& path, const std::string& body, const std::string& headers = "") {
    begin_post(path, body, headers);
    return receive();
  }
  // Its end is a reset, as of a process that was killed with answers unread.
  void reset_at_end() const {
    const linger none{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  }
  // Sends zeros until the server takes none for that time, or so many; gives how many it took.
  std::size_t push(std::size_t most, int patience_ms) const {
    const std::string zeros(std::size_t{64} << 10, '0');
    std::size_t taken = 0;
    while (taken < most) {
      pollfd socket{.fd = socket_, .events = POLLOUT, .revents = 0};
      if (::poll(&socket, 1, patience_ms) != 1) break;
      const ssize_t sent = ::send(socket_, zeros.data(), zeros.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) break;
      taken += static_cast<std::size_t>(sent);
    }
    return taken;
  }
  // Bytes, or the end, have come in that time.
  bool hears_within(int ms) const {
    pollfd socket{.fd = socket_, .events = POLLIN, .revents = 0};
    return ::poll(&socket, 1, ms) == 1;
  }
  // The server has closed the connection.
  bool closed() { return !read_more(); }

 private:
  bool read_more() {
    char bytes[4096];
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got > 0) buffer_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }
  const int socket_;
  std::string buffer_;
};

}  // namespace millrace::testing
