#include "millrace/core/net/socket_connect.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/ref.h"

namespace millrace::net {
namespace {

constexpr Duration kBacklogFullPause = std::chrono::milliseconds(5);

// A connect() that is under way, kept by what it waits for. Confined to the loop.
class Connecting final : public RefCounted {
 public:
  Connecting(EventLoop& loop, SocketAddress address, std::string_view text, Descriptor socket,
             MakeStream make)
      : loop_(loop),
        address_(std::move(address)),
        text_(text),
        socket_(std::move(socket)),
        make_(std::move(make)) {}

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
    complete(make_(loop_, std::move(socket_), std::move(peer)));
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
  const MakeStream make_;
  std::unique_ptr<DescriptorWatch> watch_;
  std::optional<TimerQueue::Id> retry_;
  std::optional<Promise<std::unique_ptr<ByteStream>>> promise_{std::in_place};
};

}  // namespace

Future<std::unique_ptr<ByteStream>> connect_to(EventLoop& loop, const SocketAddress& address,
                                               std::string_view text, MakeStream make,
                                               const CallOptions& call) {
  MILLRACE_TRY_STATUS(check_in_time(call, loop.timers().clock(), "the connect"));
  MILLRACE_TRY(Descriptor socket, make_socket(address));
  return make_ref<Connecting>(loop, address, text, std::move(socket), std::move(make))->start(call);
}

}  // namespace millrace::net
