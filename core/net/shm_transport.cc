#include "millrace/core/net/shm_transport.h"

#include <utility>

#include "millrace/core/net/shm_stream.h"
#include "millrace/core/net/socket_connect.h"
#include "millrace/core/net/socket_listener.h"

namespace millrace::net {
namespace {

class ShmTransport final : public Transport {
 public:
  explicit ShmTransport(EventLoop& loop) : loop_(loop) {}

  Executor& home() override { return loop_; }
  TimerQueue& timers() override { return loop_.timers(); }

  Result<std::unique_ptr<StreamListener>> listen(std::string_view text, Accept accept) override {
    MILLRACE_TRY(const SocketAddress address, parse_address(text));
    if (address.scheme != Scheme::kShm) return bad_address(text);
    return listen_at(loop_, address, text, accept_shm_stream, std::move(accept));
  }

  Future<std::unique_ptr<ByteStream>> connect(std::string_view text, CallOptions call) override {
    MILLRACE_TRY(const SocketAddress address, parse_address(text));
    if (address.scheme != Scheme::kShm) return bad_address(text);
    return connect_to(loop_, address, text, offer_shm_stream, call);
  }

 private:
  EventLoop& loop_;
};

}  // namespace

std::unique_ptr<Transport> make_shm_transport(EventLoop& loop) {
  return std::make_unique<ShmTransport>(loop);
}

}  // namespace millrace::net
