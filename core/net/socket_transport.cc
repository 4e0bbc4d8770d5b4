#include "millrace/core/net/socket_transport.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/ref.h"

namespace millrace::net {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsInARow = 64;
constexpr Duration kNoDescriptorsPause = std::chrono::milliseconds(100);
constexpr Duration kBacklogFullPause = std::chrono::milliseconds(5);

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  std::string path = {};  // Unix sockets only
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Result<SocketAddress> parse_address(std::string_view text) {
  SocketAddress address;
  if (text.starts_with("unix:/")) {
    auto& unix_address = reinterpret_cast<sockaddr_un&>(address.storage);
    address.path = text.substr(5);
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
  return fail(ErrorCode::kInvalidArgument,
              "the address '" + std::string(text) +
                  "' is neither unix:/PATH (107 bytes at most) nor tcp:127.0.0.1:PORT");
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

class SocketStream final : public ByteStream {
 public:
  static Result<std::unique_ptr<ByteStream>> create(EventLoop& loop, Descriptor socket, Peer peer) {
    MILLRACE_TRY(auto watch, loop.watch(socket.get()));
    return std::unique_ptr<ByteStream>(
        new SocketStream(loop, std::move(socket), std::move(peer), std::move(watch)));
  }

  const Peer& peer() const override { return peer_; }

  Result<std::optional<std::size_t>> try_read(std::span<std::byte> into) override {
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), into.data(), into.size(), 0);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EAGAIN || errno == EWOULDBLOCK) return std::nullopt;
      if (errno != EINTR) return cut("reading from ");
    }
  }

  Result<std::size_t> try_write(std::span<const std::byte> head,
                                std::span<const std::byte> body) override {
    std::array<iovec, 2> parts = {
        iovec{const_cast<std::byte*>(head.data()), head.size()},
        iovec{const_cast<std::byte*>(body.data()), body.size()},
    };
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    for (;;) {
      const ssize_t taken = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
      if (taken >= 0) return static_cast<std::size_t>(taken);
      if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
      if (errno != EINTR) return cut("writing to ");
    }
  }

  Future<unsigned> wait_readable() override { return read_watch_->wait(kReadable); }

  // A watch has one wait at a time, a loop one watch for each descriptor: writing has its own.
  Future<unsigned> wait_writable() override {
    if (!write_watch_) {
      write_socket_ = Descriptor(::fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0));
      if (!write_socket_) return cut("waiting to write to ");
      MILLRACE_TRY(write_watch_, loop_.watch(write_socket_.get()));
    }
    return write_watch_->wait(kWritable);
  }

 private:
  SocketStream(EventLoop& loop, Descriptor socket, Peer peer,
               std::unique_ptr<DescriptorWatch> watch)
      : loop_(loop),
        peer_(std::move(peer)),
        socket_(std::move(socket)),
        read_watch_(std::move(watch)) {}

  std::unexpected<Error> cut(const char* what) const {
    return fail(ErrorCode::kUnavailable, what + peer_.address + ": " + errno_text(errno));
  }

  EventLoop& loop_;
  const Peer peer_;
  const Descriptor socket_;  // outlives its watch
  Descriptor write_socket_;  // the same socket
  std::unique_ptr<DescriptorWatch> read_watch_;
  std::unique_ptr<DescriptorWatch> write_watch_;
};

// Kept by its wait, and by its handle until that closes it. Confined to the loop.
class Accepting final : public RefCounted {
 public:
  Accepting(EventLoop& loop, SocketAddress address, std::string text, Descriptor socket,
            Transport::Accept accept)
      : loop_(loop),
        address_(std::move(address)),
        text_(std::move(text)),
        socket_(std::move(socket)),
        accept_(std::move(accept)) {}

  Status open() {
    MILLRACE_TRY(watch_, loop_.watch(socket_.get()));
    wait();
    return {};
  }
  void close() {
    if (!address_.path.empty()) ::unlink(address_.path.c_str());
    watch_.reset();
    socket_ = Descriptor();
    if (pause_) loop_.timers().cancel(*pause_);
  }
  const std::string& text() const { return text_; }

 private:
  Ref<Accepting> self() { return Ref<Accepting>::share(this); }

  void wait() {
    watch_->wait(kReadable)
        .then(loop_, [self = self()](const Result<unsigned>&) { self->accept_some(); })
        .ignore();
  }

  void accept_some() {
    for (int i = 0; watch_ && i < kAcceptsInARow; ++i) {
      Descriptor taken(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!taken && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
        pause_ = loop_.timers().schedule(loop_.timers().clock().now() + kNoDescriptorsPause,
                                         [self = self()] { self->accept_some(); });
        return;
      }
      if (!taken && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (!taken) continue;  // it is gone already
      Peer peer = peer_of(taken, address_, text_);
      auto stream = SocketStream::create(loop_, std::move(taken), std::move(peer));
      if (stream) accept_(*std::move(stream));
    }
    if (watch_) wait();
  }

  EventLoop& loop_;
  const SocketAddress address_;
  const std::string text_;
  Descriptor socket_;
  const Transport::Accept accept_;
  std::unique_ptr<DescriptorWatch> watch_;  // until close()
  std::optional<TimerQueue::Id> pause_;
};

class SocketListener final : public StreamListener {
 public:
  explicit SocketListener(Ref<Accepting> accepting) : accepting_(std::move(accepting)) {}
  ~SocketListener() override { accepting_->close(); }
  const std::string& address() const override { return accepting_->text(); }

 private:
  const Ref<Accepting> accepting_;
};

// A connect() that is under way, kept by what it waits for. Confined to the loop.
class Connecting final : public RefCounted {
 public:
  Connecting(EventLoop& loop, SocketAddress address, std::string_view text, Descriptor socket)
      : loop_(loop), address_(std::move(address)), text_(text), socket_(std::move(socket)) {}

  Future<std::unique_ptr<ByteStream>> start(const CallOptions& call) {
    auto result = promise_->future();
    connect();
    if (promise_) {
      detail::limit_wait(call, &loop_.timers(), Ref<AsyncValue>(result.cell()), self(),
                         [](RefCounted& target, detail::WaitEnd end) {
                           static_cast<Connecting&>(target).give_up(end);
                         });
    }
    return result;
  }

 private:
  Ref<Connecting> self() { return Ref<Connecting>::share(this); }
  std::string what() const { return "connecting to " + text_; }

  void connect() {
    if (!promise_) return;
    const int done = ::connect(socket_.get(), address_.get(), address_.size);
    if (done == 0) return finish();
    if (errno == EAGAIN) {  // a Unix socket whose backlog is full
      retry_ = loop_.timers().schedule(loop_.timers().clock().now() + kBacklogFullPause,
                                       [self = self()] { self->connect(); });
      return;
    }
    if (errno != EINPROGRESS && errno != EINTR) return fail_by(errno);
    auto watch = loop_.watch(socket_.get());
    if (!watch) return complete(std::unexpected(watch.error()));
    watch_ = *std::move(watch);
    watch_->wait(kWritable)
        .then(loop_, [self = self()](const Result<unsigned>&) { self->look(); })
        .ignore();
  }

  void look() {
    if (!promise_) return;
    watch_.reset();
    int number = 0;
    socklen_t size = sizeof number;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &number, &size);
    number == 0 ? finish() : fail_by(number);
  }

  void finish() {
    Peer peer = peer_of(socket_, address_, text_);
    complete(SocketStream::create(loop_, std::move(socket_), std::move(peer)));
  }

  void fail_by(int number) {
    const bool denied = number == EACCES || number == EPERM;
    complete(fail(denied ? ErrorCode::kPermissionDenied : ErrorCode::kUnavailable,
                  what() + ": " + errno_text(number)));
  }

  void give_up(detail::WaitEnd end) {
    post(loop_, [self = self(), end] {
      self->complete(std::unexpected(detail::wait_error(end, "while " + self->what())));
    });
  }

  void complete(Result<std::unique_ptr<ByteStream>> result) {
    if (!promise_) return;
    auto promise = *std::exchange(promise_, std::nullopt);
    watch_.reset();
    if (retry_) loop_.timers().cancel(*retry_);
    promise.set(std::move(result));
  }

  EventLoop& loop_;
  const SocketAddress address_;
  const std::string text_;
  Descriptor socket_;
  std::unique_ptr<DescriptorWatch> watch_;
  std::optional<TimerQueue::Id> retry_;
  std::optional<Promise<std::unique_ptr<ByteStream>>> promise_{std::in_place};
};

class SocketTransport final : public Transport {
 public:
  explicit SocketTransport(EventLoop& loop) : loop_(loop) {}

  Executor& home() override { return loop_; }
  TimerQueue& timers() override { return loop_.timers(); }

  Result<std::unique_ptr<StreamListener>> listen(std::string_view text, Accept accept) override {
    MILLRACE_TRY(SocketAddress address, parse_address(text));
    MILLRACE_TRY_STATUS(check_folder(address));
    MILLRACE_TRY(Descriptor socket, make_socket(address));
    const std::string what = "listening at " + std::string(text);
    if (address.path.empty()) set_option(socket, SOL_SOCKET, SO_REUSEADDR);
    if (::bind(socket.get(), address.get(), address.size) != 0) {
      if (errno == EADDRINUSE) return fail(ErrorCode::kAlreadyExists, what + ": it is in use");
      return errno_error(what, errno);
    }
    if (::listen(socket.get(), kBacklog) != 0) return errno_error(what, errno);
    std::string name(text);
    if (address.path.empty()) {
      sockaddr_in bound = {};
      socklen_t size = sizeof bound;
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size);
      name = "tcp:127.0.0.1:" + std::to_string(ntohs(bound.sin_port));
    }
    auto accepting = make_ref<Accepting>(loop_, std::move(address), std::move(name),
                                         std::move(socket), std::move(accept));
    auto listener = std::make_unique<SocketListener>(accepting);
    MILLRACE_TRY_STATUS(accepting->open());
    return listener;
  }

  Future<std::unique_ptr<ByteStream>> connect(std::string_view text, CallOptions call) override {
    MILLRACE_TRY_STATUS(check_in_time(call, timers().clock(), "the connect"));
    MILLRACE_TRY(SocketAddress address, parse_address(text));
    MILLRACE_TRY(Descriptor socket, make_socket(address));
    return make_ref<Connecting>(loop_, std::move(address), text, std::move(socket))->start(call);
  }

 private:
  // A Unix socket's mode does not keep others away everywhere; its folder's does.
  static Status check_folder(const SocketAddress& address) {
    if (address.path.empty()) return {};
    const std::string folder = std::filesystem::path(address.path).parent_path();
    struct stat found = {};
    if (::stat(folder.c_str(), &found) != 0) return errno_error("listening in " + folder, errno);
    if (found.st_uid == ::geteuid() && (found.st_mode & 077) == 0) return {};
    return fail(ErrorCode::kPermissionDenied,
                "listening in " + folder + ": it must be this user's alone (mode 0700)");
  }

  EventLoop& loop_;
};

}  // namespace

std::unique_ptr<Transport> make_socket_transport(EventLoop& loop) {
  return std::make_unique<SocketTransport>(loop);
}

}  // namespace millrace::net
