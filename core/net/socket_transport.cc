#include "millrace/core/net/socket_transport.h"

#include <utility>

#include "millrace/core/net/socket_connect.h"
#include "millrace/core/net/socket_listener.h"

namespace millrace::net {
namespace {

class SocketTransport final : public Transport {
 public:
  explicit SocketTransport(EventLoop& loop) : loop_(loop) {}

  Executor& home() override { return loop_; }
  TimerQueue& timers() override { return loop_.timers(); }

  Result<std::unique_ptr<StreamListener>> listen(std::string_view text, Accept accept) override {
    MILLRACE_TRY(const SocketAddress address, parse_address(text));
    if (address.scheme == Scheme::kShm) return bad_address(text);
    return listen_at(loop_, address, text, make_socket_stream, std::move(accept));
  }

  Future<std::unique_ptr<ByteStream>> connect(std::string_view text, CallOptions call) override {
    MILLRACE_TRY(const SocketAddress address, parse_address(text));
    if (address.scheme == Scheme::kShm) return bad_address(text);
    return connect_to(loop_, address, text, make_socket_stream, call);
  }

 private:
  EventLoop& loop_;
};

}  // namespace

std::unique_ptr<Transport> make_socket_transport(EventLoop& loop) {
  return std::make_unique<SocketTransport>(loop);
}

}  // namespace millrace::net
