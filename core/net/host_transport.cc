#include "millrace/core/net/host_transport.h"

#include <utility>

#include "millrace/core/net/shm_transport.h"
#include "millrace/core/net/socket_transport.h"

namespace millrace::net {
namespace {

class HostTransport final : public Transport {
 public:
  explicit HostTransport(EventLoop& loop)
      : sockets_(make_socket_transport(loop)), shm_(make_shm_transport(loop)) {}

  Executor& home() override { return sockets_->home(); }
  TimerQueue& timers() override { return sockets_->timers(); }

  Result<std::unique_ptr<StreamListener>> listen(std::string_view address, Accept accept) override {
    return pick(address).listen(address, std::move(accept));
  }
  Future<std::unique_ptr<ByteStream>> connect(std::string_view address, CallOptions call) override {
    return pick(address).connect(address, std::move(call));
  }

 private:
  Transport& pick(std::string_view address) {
    return address.starts_with("shm:") ? *shm_ : *sockets_;
  }

  const std::unique_ptr<Transport> sockets_;
  const std::unique_ptr<Transport> shm_;
};

}  // namespace

std::unique_ptr<Transport> make_host_transport(EventLoop& loop) {
  return std::make_unique<HostTransport>(loop);
}

}  // namespace millrace::net
