#include "millrace/core/net/socket_stream.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/errno_code.h"

namespace millrace::net {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

class SocketStream final : public ByteStream {
 public:
  static Result<std::unique_ptr<ByteStream>> create(EventLoop& loop, Descriptor socket, Peer peer) {
    MILLRACE_TRY(auto watch, loop.watch(socket.get()));
    return std::unique_ptr<ByteStream>(
        new SocketStream(loop, std::move(socket), std::move(peer), std::move(watch)));
  }

  const Peer& peer() const override { return peer_; }

  Result<std::optional<std::span<const std::byte>>> try_read(std::size_t most) override {
    if (!unread_.empty()) return unread_.first(std::min(unread_.size(), most));
    if (drained_) return std::nullopt;
    buffer_.resize(kReadBytes);
    most = std::min(most, buffer_.size());
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), buffer_.data(), most, 0);
      if (got >= 0) {
        unread_ = std::span(buffer_).first(static_cast<std::size_t>(got));
        drained_ = got > 0 && unread_.size() < most;
        return unread_;
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) return std::nullopt;
      if (errno != EINTR) return cut("reading from ");
    }
  }
  void release(std::size_t bytes) override { unread_ = unread_.subspan(bytes); }

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

  Future<unsigned> wait_readable() override {
    drained_ = false;
    return read_watch_->wait(kReadable);
  }

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
  std::vector<std::byte> buffer_;
  std::span<const std::byte> unread_;  // of the buffer
  bool drained_ = false;               // the last read took less than it could
  Descriptor write_socket_;            // the same socket
  std::unique_ptr<DescriptorWatch> read_watch_;
  std::unique_ptr<DescriptorWatch> write_watch_;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> make_socket_stream(EventLoop& loop, Descriptor socket,
                                                       Peer peer) {
  return SocketStream::create(loop, std::move(socket), std::move(peer));
}

}  // namespace millrace::net
