#include "millrace/tools/serve/http_listener.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <set>

#include "millrace/core/base/check.h"
#include "millrace/tools/serve/chunk_lines.h"

namespace millrace::serve {
namespace {

timeval timeval_of(Duration time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(),
          .tv_usec = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds).count()};
}

// How often it is looked for connections that evhttp has freed.
constexpr std::chrono::milliseconds kLook(500), kLookWhenFull(10);

struct FreeBuffer {
  void operator()(evbuffer* buffer) const { evbuffer_free(buffer); }
};

// What one connection may have of most_arriving_bytes, whatever others have.
constexpr std::size_t kFewBytes = std::size_t{64} << 10;
// What is beside a body of the largest size: the sizes of its chunks.
constexpr std::size_t kFramingBytes = std::size_t{64} << 10;

bool is_number(const char* text) {
  return *text != '\0' && std::strspn(text, "0123456789") == std::strlen(text);
}

const char* framing_fault_of(evhttp_request* request) {
  int lengths = 0, encodings = 0;
  bool has_length = false;  // that is not 0
  const evkeyvalq* const headers = evhttp_request_get_input_headers(request);
  for (const evkeyval* header = headers->tqh_first; header != nullptr;
       header = header->next.tqe_next) {
    if (std::strpbrk(header->key, " \t") != nullptr) return "a header's name has a blank";
    if (evutil_ascii_strcasecmp(header->key, "Content-Length") == 0) {
      ++lengths;
      if (!is_number(header->value)) return "Content-Length is no number of bytes";
      has_length = std::strspn(header->value, "0") < std::strlen(header->value);
    } else if (evutil_ascii_strcasecmp(header->key, "Transfer-Encoding") == 0) {
      ++encodings;
      if (evutil_ascii_strcasecmp(header->value, "chunked") != 0)
        return "Transfer-Encoding is something else than chunked";
    }
  }
  if (lengths + encodings > 1) return "the request says more than once how long its body is";
  // evhttp reads none, and would take its bytes for the next request.
  if (evhttp_request_get_command(request) == EVHTTP_REQ_HEAD && (encodings > 0 || has_length))
    return "a HEAD has a body";
  return nullptr;
}

const char* method_name(evhttp_cmd_type method) {
  switch (method) {
    case EVHTTP_REQ_GET:
      return "GET";
    case EVHTTP_REQ_HEAD:
      return "HEAD";
    case EVHTTP_REQ_POST:
      return "POST";
    default:
      return "OTHER";
  }
}

}  // namespace

// A connection is known by its buffer event, to which it holds a reference: evhttp says of those
// alone that have made a request that it has freed them. It has freed each whose callbacks are
// gone, and the socket is closed with the last reference, by release().
struct HttpListener::Parts {
  struct Connection {
    Parts* parts = nullptr;
    bufferevent* socket = nullptr;
    event* late = nullptr;             // the request has not arrived in time
    event* closed = nullptr;           // of the client's end; from the first request on
    std::stop_source gone = {};        // requested then
    std::size_t arriving = 0;          // bytes of a request that is not there whole
    ChunkLines chunks = {};            // of that request
    bool sends = false;                // an answer that is not sent whole
    std::function<void()> ended = {};  // of that answer
  };

  event_base* base = nullptr;
  HttpOptions options;
  Handler handler;
  evhttp* http = nullptr;
  evhttp_bound_socket* bound = nullptr;
  std::map<const bufferevent*, Connection*> connections;
  std::set<HttpExchange*> exchanges;  // without an answer
  std::size_t arriving = 0;           // bytes, of all connections
  event* look = nullptr;              // for connections that evhttp has freed
  std::time_t date_second = 0;        // of the date
  std::string date;

  bool full() const { return connections.size() >= options.most_connections; }
  void pause_or_resume() {
    if (bound == nullptr) return;
    evconnlistener* const entrance = evhttp_bound_socket_get_listener(bound);
    full() ? evconnlistener_disable(entrance) : evconnlistener_enable(entrance);
    const timeval soon = timeval_of(full() ? kLookWhenFull : kLook);
    connections.empty() ? event_del(look) : event_add(look, &soon);
  }

  static bufferevent* on_connection(event_base* base, void* argument) {
    auto* const self = static_cast<Parts*>(argument);
    bufferevent* const socket = self->options.tls
                                    ? make_tls_socket(base, self->options.tls)
                                    : bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (socket == nullptr) return nullptr;
    auto* const connection = new Connection{.parts = self, .socket = socket};
    connection->late = event_new(base, -1, 0, &Parts::on_late, connection);
    MILLRACE_CHECK(connection->late != nullptr, "libevent has memory");
    bufferevent_incref(socket);
    evbuffer_add_cb(bufferevent_get_input(socket), &Parts::on_bytes, connection);
    self->connections.emplace(socket, connection);
    self->expect_request(*connection);
    self->pause_or_resume();
    return socket;
  }
  static void on_bytes(evbuffer* input, const evbuffer_cb_info* change, void* argument) {
    auto* const connection = static_cast<Connection*>(argument);
    Parts& self = *connection->parts;
    const HttpOptions& options = self.options;
    // Its first bytes: an idle connection has waited for them in another time.
    if (connection->arriving == 0 && change->n_added > 0 &&
        event_pending(connection->late, EV_TIMEOUT, nullptr) != 0)
      self.expect_request(*connection);
    connection->arriving += change->n_added;
    self.arriving += change->n_added;
    look_at_chunks(*connection, input, change->n_added);
    // evhttp sets a line within a body no limit.
    const bool endless = connection->chunks.open_line() > options.most_header_bytes ||
                         evbuffer_get_length(input) >
                             options.most_header_bytes + options.most_body_bytes + kFramingBytes;
    const bool many =
        self.arriving > options.most_arriving_bytes && connection->arriving > kFewBytes;
    if (!endless && !many) return;
    const evutil_socket_t socket = bufferevent_getfd(connection->socket);
    if (!self.options.tls) {
      constexpr std::string_view kBusy =
          "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
          "Connection: close\r\n\r\n";
      static_cast<void>(::send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
    ::shutdown(socket, SHUT_RDWR);
  }
  // The last bytes of the input, so many, are new.
  static void look_at_chunks(Connection& connection, evbuffer* input, std::size_t added) {
    if (connection.chunks.skip(added)) return;
    std::string bytes(added, '\0');
    evbuffer_ptr at;
    evbuffer_ptr_set(input, &at, evbuffer_get_length(input) - added, EVBUFFER_PTR_SET);
    evbuffer_copyout_from(input, &at, bytes.data(), added);
    connection.chunks.add(bytes);
  }
  // What is left of the input begins the next request.
  static void begin_next(Connection& connection) {
    evbuffer* const input = bufferevent_get_input(connection.socket);
    connection.chunks = {};
    look_at_chunks(connection, input, evbuffer_get_length(input));
  }
  static void arrived(Connection& connection) {
    connection.parts->arriving -= std::exchange(connection.arriving, 0);
  }
  // No descriptors are left: the system says so for as long as a client waits at the door.
  static void on_refused(evconnlistener* entrance, void* argument) {
    evconnlistener_disable(entrance);
    const timeval soon = timeval_of(kLookWhenFull);
    event_add(static_cast<const Parts*>(argument)->look, &soon);
  }
  // All callbacks are gone; one that sends an answer has none for reads.
  static bool freed(bufferevent* socket) {
    bufferevent_data_cb read = nullptr, write = nullptr;
    bufferevent_event_cb event = nullptr;
    bufferevent_getcb(socket, &read, &write, &event, nullptr);
    return read == nullptr && write == nullptr && event == nullptr;
  }
  static void release(Connection* connection) {
    evbuffer_remove_cb(bufferevent_get_input(connection->socket), &Parts::on_bytes, connection);
    arrived(*connection);
    event_free(connection->late);
    if (connection->closed != nullptr) event_free(connection->closed);
    bufferevent_disable(connection->socket, EV_READ | EV_WRITE);
    bufferevent_decref(connection->socket);
    if (connection->ended) connection->ended();
    delete connection;
  }
  static void on_look(evutil_socket_t /*none*/, short /*events*/, void* argument) {
    auto* const self = static_cast<Parts*>(argument);
    std::erase_if(self->connections, [](const auto& entry) {
      if (!freed(entry.second->socket)) return false;
      release(entry.second);
      return true;
    });
    self->pause_or_resume();
  }
  void expect_request(Connection& connection) const {
    const timeval time = timeval_of(options.request_time);
    event_add(connection.late, &time);
  }
  // evhttp sees the end of the stream and frees the connection.
  static void on_late(evutil_socket_t /*none*/, short /*events*/, void* argument) {
    const auto* const connection = static_cast<Connection*>(argument);
    ::shutdown(bufferevent_getfd(connection->socket), SHUT_RDWR);
  }
  // At the first request: a connection has its socket only after on_connection().
  void begin_requests(Connection& connection) const {
    const evutil_socket_t socket = bufferevent_getfd(connection.socket);
    const int on = 1;  // the end of an answer does not wait for acknowledgements
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection.closed = event_new(base, socket, EV_CLOSED, &Parts::on_client_closed, &connection);
    MILLRACE_CHECK(connection.closed != nullptr, "libevent has memory");
    event_add(connection.closed, nullptr);
  }
  static void on_client_closed(evutil_socket_t /*socket*/, short /*events*/, void* argument) {
    static_cast<Connection*>(argument)->gone.request_stop();
  }
  // The header Date is the same for a second, and writing it takes a microsecond.
  const std::string& date_now() {
    const std::time_t now = std::time(nullptr);
    if (std::exchange(date_second, now) != now) {
      char text[50];
      tm parts{};
      evutil_date_rfc1123(text, sizeof text, ::gmtime_r(&now, &parts));
      date = text;
    }
    return date;
  }
  Connection* connection_of(evhttp_request* request) const {
    evhttp_connection* const there = evhttp_request_get_connection(request);
    if (there == nullptr) return nullptr;
    const auto found = connections.find(evhttp_connection_get_bufferevent(there));
    return found == connections.end() ? nullptr : found->second;
  }
  // Either side has said that the connection ends with this answer.
  static bool is_last(evhttp_request* request) {
    const auto says_close = [](const evkeyvalq* headers) {
      const char* const value = evhttp_find_header(headers, "Connection");
      return value != nullptr && evutil_ascii_strcasecmp(value, "close") == 0;
    };
    return says_close(evhttp_request_get_input_headers(request)) ||
           says_close(evhttp_request_get_output_headers(request));
  }
  static void on_sent(evhttp_request* request, void* argument) {
    const auto* const self = static_cast<Parts*>(argument);
    Connection* const connection = self->connection_of(request);
    if (connection == nullptr) return;
    connection->sends = false;
    if (const auto ended = std::exchange(connection->ended, {})) ended();
    if (self->options.tls && is_last(request)) end_tls(connection->socket);
    self->expect_request(*connection);
  }
  static void on_closed(evhttp_connection* /*connection*/, void* argument) {
    event_active(static_cast<const Parts*>(argument)->look, EV_TIMEOUT, 0);
  }
};

HttpExchange::HttpExchange(HttpListener& listener, evhttp_request* request)
    : listener_(&listener),
      request_(request),
      framing_fault_(framing_fault_of(request)),
      method_(method_name(evhttp_request_get_command(request))),
      begun_(steady_clock().now()) {
  const evhttp_uri* const uri = evhttp_request_get_evhttp_uri(request);
  const char* const path = uri == nullptr ? nullptr : evhttp_uri_get_path(uri);
  path_ = path == nullptr ? "" : path;
  auto& parts = *listener.parts_;
  parts.exchanges.insert(this);
  if (auto* const connection = parts.connection_of(request)) {
    evhttp_connection_set_closecb(evhttp_request_get_connection(request),
                                  &HttpListener::Parts::on_closed, &parts);
    event_del(connection->late);
    HttpListener::Parts::arrived(*connection);
    HttpListener::Parts::begin_next(*connection);
    if (connection->closed == nullptr) parts.begin_requests(*connection);
    gone_ = connection->gone.get_token();
  }
}

HttpExchange::~HttpExchange() {
  if (request_ != nullptr)
    answer(500, {{"Content-Type", "application/json"}},
           {.head = error_body("the request was dropped without an answer")});
}

void HttpExchange::leave() {
  if (listener_ != nullptr) listener_->parts_->exchanges.erase(this);
  listener_ = nullptr;
  request_ = nullptr;
}

std::optional<std::string_view> HttpExchange::header(const char* name) const {
  if (request_ == nullptr) return std::nullopt;
  const char* const value = evhttp_find_header(evhttp_request_get_input_headers(request_), name);
  return value == nullptr ? std::nullopt : std::optional<std::string_view>(value);
}

SentBody HttpExchange::take_body() {
  std::shared_ptr<evbuffer> pieces(evbuffer_new(), FreeBuffer());
  if (request_ == nullptr || !pieces) return {};
  evbuffer_add_buffer(pieces.get(), evhttp_request_get_input_buffer(request_));
  return SentBody(std::move(pieces));
}

std::size_t SentBody::size() const { return pieces_ ? evbuffer_get_length(pieces_.get()) : 0; }

Body SentBody::read() const {
  if (size() == 0) return {};
  const auto* const bytes = reinterpret_cast<const std::byte*>(evbuffer_pullup(pieces_.get(), -1));
  return {.bytes = {bytes, size()}, .owner = pieces_};
}

void HttpExchange::answer(int status, const HttpHeaders& headers, InferAnswer answer,
                          std::function<void()> ended) {
  if (request_ == nullptr) return;
  evhttp_request* const request = request_;
  auto& parts = *listener_->parts_;
  leave();
  auto* const connection = parts.connection_of(request);
  if (connection != nullptr) {
    connection->sends = true;
    connection->ended = std::move(ended);
  } else if (ended) {
    ended();
  }
  evkeyvalq* const out = evhttp_request_get_output_headers(request);
  evhttp_add_header(out, "Date", parts.date_now().c_str());
  for (const auto& [name, value] : headers) evhttp_add_header(out, name.c_str(), value.c_str());
  const std::unique_ptr<evbuffer, FreeBuffer> body(evbuffer_new());
  if (method_ == "HEAD") answer = {};
  evbuffer_add(body.get(), answer.head.data(), answer.head.size());
  for (const devices::HostArray& array : answer.tail) {
    if (array.bytes().empty()) continue;
    evbuffer_add_reference(
        body.get(), array.bytes().data(), array.bytes().size(),
        [](const void*, std::size_t, void* kept) { delete static_cast<devices::HostArray*>(kept); },
        new devices::HostArray(array));
  }
  evhttp_request_set_on_complete_cb(request, &HttpListener::Parts::on_sent, &parts);
  evhttp_send_reply(request, status, nullptr, body.get());
  // Until it is sent: what comes meanwhile would be kept, and no time is set for it.
  if (connection != nullptr && connection->sends) bufferevent_disable(connection->socket, EV_READ);
}

HttpListener::HttpListener(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<HttpListener>> HttpListener::create(event_base* base, HttpOptions options,
                                                           Handler handler) {
  const std::string where = options.address + ":" + std::to_string(options.port);
  std::unique_ptr<HttpListener> listener(new HttpListener(std::make_unique<Parts>()));
  Parts& parts = *listener->parts_;
  parts.base = base;
  parts.options = std::move(options);
  parts.handler = std::move(handler);
  parts.http = evhttp_new(base);
  parts.look = event_new(base, -1, 0, &Parts::on_look, &parts);
  if (parts.http == nullptr || parts.look == nullptr)
    return fail(ErrorCode::kResourceExhausted, "listening at " + where + ": no memory");
  evhttp_set_max_headers_size(parts.http, static_cast<ev_ssize_t>(parts.options.most_header_bytes));
  evhttp_set_max_body_size(parts.http, static_cast<ev_ssize_t>(parts.options.most_body_bytes));
  const timeval time = timeval_of(parts.options.request_time);
  evhttp_set_timeout_tv(parts.http, &time);
  evhttp_set_allowed_methods(parts.http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
  evhttp_set_default_content_type(parts.http, nullptr);
  evhttp_set_bevcb(parts.http, &Parts::on_connection, &parts);
  evhttp_set_gencb(
      parts.http,
      [](evhttp_request* request, void* self) {
        auto* const there = static_cast<HttpListener*>(self);
        there->parts_->handler(make_ref<HttpExchange>(*there, request));
      },
      listener.get());
  parts.bound = evhttp_bind_socket_with_handle(parts.http, parts.options.address.c_str(),
                                               static_cast<ev_uint16_t>(parts.options.port));
  if (parts.bound == nullptr) {
    return fail(ErrorCode::kUnavailable, "listening at " + where + ": " + std::strerror(errno) +
                                             "; name an address of this machine and a port that "
                                             "is free");
  }
  evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(parts.bound), &Parts::on_refused);
  return listener;
}

HttpListener::~HttpListener() {
  while (!parts_->exchanges.empty()) (*parts_->exchanges.begin())->leave();
  parts_->bound = nullptr;
  if (parts_->http != nullptr) evhttp_free(parts_->http);
  for (const auto& [socket, connection] : parts_->connections) Parts::release(connection);
  if (parts_->look != nullptr) event_free(parts_->look);
}

int HttpListener::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(evhttp_bound_socket_get_fd(parts_->bound),
                    reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return 0;
  return address.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port)
             : ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::size_t HttpListener::connections() const { return parts_->connections.size(); }
std::size_t HttpListener::open_exchanges() const {
  const auto sends = [](const auto& entry) {
    return entry.second->sends || entry.second->arriving > 0;
  };
  return parts_->exchanges.size() +
         static_cast<std::size_t>(std::ranges::count_if(parts_->connections, sends));
}

}  // namespace millrace::serve
