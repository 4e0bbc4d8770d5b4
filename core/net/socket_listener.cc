#include "millrace/core/net/socket_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/ref.h"

namespace millrace::net {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsInARow = 64;
constexpr Duration kNoDescriptorsPause = std::chrono::milliseconds(100);

// Kept by its wait, and by its handle until that closes it. Confined to the loop.
class Accepting final : public RefCounted {
 public:
  Accepting(EventLoop& loop, SocketAddress address, std::string text, Descriptor socket,
            MakeStream make, Transport::Accept accept)
      : loop_(loop),
        address_(std::move(address)),
        text_(std::move(text)),
        socket_(std::move(socket)),
        make_(std::move(make)),
        accept_(std::move(accept)) {}

  Status open() {
    if (::listen(socket_.get(), kBacklog) != 0) return errno_error("listening at " + text_, errno);
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
      auto stream = make_(loop_, std::move(taken), std::move(peer));
      if (stream) accept_(*std::move(stream));
    }
    if (watch_) wait();
  }

  EventLoop& loop_;
  const SocketAddress address_;
  const std::string text_;
  Descriptor socket_;
  const MakeStream make_;
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

// A Unix socket's mode does not keep others away everywhere; its folder's does.
Status check_folder(const SocketAddress& address) {
  if (address.path.empty()) return {};
  const std::string folder = std::filesystem::path(address.path).parent_path();
  struct stat found = {};
  if (::stat(folder.c_str(), &found) != 0) return errno_error("listening in " + folder, errno);
  if (found.st_uid == ::geteuid() && (found.st_mode & 077) == 0) return {};
  return fail(ErrorCode::kPermissionDenied,
              "listening in " + folder + ": it must be this user's alone (mode 0700)");
}

}  // namespace

Result<std::unique_ptr<StreamListener>> listen_at(EventLoop& loop, const SocketAddress& address,
                                                  std::string_view text, MakeStream make,
                                                  Transport::Accept accept) {
  MILLRACE_TRY_STATUS(check_folder(address));
  MILLRACE_TRY(Descriptor socket, make_socket(address));
  const std::string what = "listening at " + std::string(text);
  if (address.path.empty()) set_option(socket, SOL_SOCKET, SO_REUSEADDR);
  if (::bind(socket.get(), address.get(), address.size) != 0) {
    if (errno == EADDRINUSE) return fail(ErrorCode::kAlreadyExists, what + ": it is in use");
    return errno_error(what, errno);
  }
  std::string name(text);
  if (address.path.empty()) {
    sockaddr_in bound = {};
    socklen_t size = sizeof bound;
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    name = "tcp:127.0.0.1:" + std::to_string(ntohs(bound.sin_port));
  }
  auto accepting = make_ref<Accepting>(loop, address, std::move(name), std::move(socket),
                                       std::move(make), std::move(accept));
  auto listener = std::make_unique<SocketListener>(accepting);  // which takes the name away
  MILLRACE_TRY_STATUS(accepting->open());
  return listener;
}

}  // namespace millrace::net
