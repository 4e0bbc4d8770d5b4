// HttpClient: one connection to a server on loopback, one request at a time, by blocking calls: for
// what a figure asks beside its load, and to see how a connection ends.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::bench {

struct HttpAnswer {
  int status = 0;
  bool last = false;           // the server says that it closes the connection
  std::size_t json_bytes = 0;  // Inference-Header-Content-Length; 0: none
  std::string body = {};
};

std::string http_get(const std::string& path);
// A POST to /v2/models/MODEL/infer; json_bytes: of the body's front, where binary tensors follow.
std::string http_infer(const std::string& model, std::string_view body, std::size_t json_bytes);

// Thread-safety: confined.
class HttpClient {
 public:
  explicit HttpClient(int port);  // gives up (figure.h) where nothing listens
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // nullopt: the connection has ended before the whole answer.
  std::optional<HttpAnswer> ask(std::string_view request);

 private:
  bool read_more();

  const int socket_;
  std::string come_;
};

}  // namespace millrace::bench
