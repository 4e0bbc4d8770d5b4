#include "bench/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "bench/figure.h"

namespace millrace::bench {
namespace {

// Empty: there is none. head ends with the line break of its last header.
std::string header(const std::string& head, const std::string& name) {
  const std::size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

int connect_to(int port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    give_up("port " + std::to_string(port), "nothing listens there");
  const int on = 1;
  ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

}  // namespace

std::string http_get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

std::string http_infer(const std::string& model, std::string_view body, std::size_t json_bytes) {
  return "POST /v2/models/" + model +
         "/infer HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nInference-Header-Content-Length: " + std::to_string(json_bytes) + "\r\n\r\n" +
         std::string(body);
}

HttpClient::HttpClient(int port) : socket_(connect_to(port)) {}
HttpClient::~HttpClient() { ::close(socket_); }

bool HttpClient::read_more() {
  char bytes[16384];
  const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
  if (got > 0) come_.append(bytes, static_cast<std::size_t>(got));
  return got > 0;
}

std::optional<HttpAnswer> HttpClient::ask(std::string_view request) {
  while (!request.empty()) {
    const ssize_t sent = ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // what the server has said before it closed can still be read
    request.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::size_t end = 0;
  while ((end = come_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return std::nullopt;
  }
  const std::string head = come_.substr(0, end + 2);
  come_.erase(0, end + 4);
  HttpAnswer answer;
  answer.status = std::atoi(head.c_str() + head.find(' '));
  answer.last = header(head, "Connection") == "close";
  answer.json_bytes =
      std::strtoul(header(head, "Inference-Header-Content-Length").c_str(), nullptr, 10);
  const std::size_t size = std::strtoul(header(head, "Content-Length").c_str(), nullptr, 10);
  while (come_.size() < size) {
    if (!read_more()) return std::nullopt;
  }
  answer.body = come_.substr(0, size);
  come_.erase(0, size);
  return answer;
}

}  // namespace millrace::bench
