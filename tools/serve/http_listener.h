// HttpListener and HttpExchange: HTTP/1.1 on libevent's evhttp, with the limits that it lacks: on
// connections (the listener pauses at the limit), on the whole time in which a request arrives, and
// a look at clients that go while they wait for an answer. All of it runs on the thread of the
// base. Read next: inference_server.h, which answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/ref.h"
#include "millrace/tools/serve/infer_body.h"
#include "millrace/tools/serve/tls.h"

struct evbuffer;
struct event_base;
struct evhttp_request;

namespace millrace::serve {

struct HttpOptions {
  std::string address = "127.0.0.1";
  int port = 0;  // 0: any that is free
  std::size_t most_header_bytes = std::size_t{16} << 10;
  std::size_t most_body_bytes = std::size_t{64} << 20;
  std::size_t most_connections = 1024;
  // All requests that are arriving have so much; then a connection that has much of it is closed.
  std::size_t most_arriving_bytes = std::size_t{256} << 20;
  // For which a connection may be idle; in which a request then arrives whole, from its first bytes
  // on; and in which the client takes a part of an answer. Then the connection is closed.
  Duration request_time = std::chrono::seconds(30);
  TlsContext tls = nullptr;  // nullptr: HTTP as it is
};

// A body as it came, in pieces. Thread-safety: external; another thread than the base's may have
// it.
class SentBody {
 public:
  SentBody() = default;
  explicit SentBody(std::shared_ptr<evbuffer> pieces) : pieces_(std::move(pieces)) {}
  std::size_t size() const;
  // Puts the pieces together.
  Body read() const;

 private:
  std::shared_ptr<evbuffer> pieces_;  // nullptr: it is empty
};

class HttpListener;
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// One request until its answer; dropped without one, it answers 500. The listener may go before it:
// then it answers nothing. Thread-safety: confined to the base's thread, but for the stop token and
// the body.
class HttpExchange final : public RefCounted {
 public:
  HttpExchange(HttpListener& listener, evhttp_request* request);

  const std::string& method() const { return method_; }
  const std::string& path() const { return path_; }  // without the query, as it was sent
  // Valid until the answer.
  std::optional<std::string_view> header(const char* name) const;
  // Why another reader of the same bytes may see other requests in them (RFC 9112, 6 and 11.2):
  // such a one is refused, and its connection ends with the answer. nullptr: it is well framed.
  const char* framing_fault() const { return framing_fault_; }
  // Moves the body out; once.
  SentBody take_body();
  // Requested when the client has closed its end.
  std::stop_token gone() const { return gone_; }
  TimePoint begun() const { return begun_; }
  bool answered() const { return request_ == nullptr; }

  // Once; nothing after it. The arrays of the answer are sent from where they lie. ended is called
  // when the last byte is written, or the connection has gone before that.
  void answer(int status, const HttpHeaders& headers, InferAnswer answer,
              std::function<void()> ended = {});

 private:
  friend class HttpListener;
  ~HttpExchange() override;
  void leave();

  HttpListener* listener_;
  evhttp_request* request_;
  const char* const framing_fault_;
  std::string method_;
  std::string path_;
  const TimePoint begun_;
  std::stop_token gone_;
};

// Listens until it is destroyed, with all connections; paused while there are as many as allowed.
// Thread-safety: confined to the base's thread.
class HttpListener {
 public:
  using Handler = std::function<void(Ref<HttpExchange>)>;
  // The base is borrowed. kUnavailable: the address or port is taken or not here.
  static Result<std::unique_ptr<HttpListener>> create(event_base* base, HttpOptions options,
                                                      Handler handler);
  ~HttpListener();
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  int port() const;
  std::size_t connections() const;
  // Requests that have arrived in part, or have no answer, and answers that are not sent whole.
  std::size_t open_exchanges() const;

 private:
  friend class HttpExchange;
  struct Parts;
  explicit HttpListener(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace::serve
