#include "millrace/core/net/shm_stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "millrace/core/base/copy_past_caches.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/shm_memory.h"
#include "millrace/core/net/spare_bytes.h"

namespace millrace::net {
namespace {

// So that the other end reads while this one writes: a frame of a long message at a time, which may
// then be read where it lies.
constexpr std::size_t kPublishBytes = (std::size_t{64} << 10) + kHeaderBytes;
// 64 MiB took 29 ms through rings of 64 KiB, 13 ms through 128 or 256, 11 ms through 512 and 10 ms
// through 1024 by plain copies (bench/net.cc, two cores). A link costs up to two rings of memory.
constexpr std::size_t kRingBytes = std::size_t{256} << 10;

// Both rings, seen from one end. Thread-safety: confined.
struct Rings {
  // side: 0 for the process that offered the memory.
  Rings(ShmMemory shared, std::size_t side)
      : memory(std::move(shared)),
        out_bytes(memory.bytes(side)),
        in_bytes(memory.bytes(1 - side)),
        out(memory.words(side), memory.ring_bytes()),
        in(memory.words(1 - side), memory.ring_bytes()) {}

  Result<std::span<const std::byte>> readable(std::size_t most) {
    MILLRACE_TRY(const std::size_t there, in.available());
    return std::span<const std::byte>(in_bytes + in.offset(), std::min(there, most));
  }
  // After `at` bytes from where it writes next; there is room.
  void put(std::size_t at, std::span<const std::byte> bytes) {
    std::byte* const to = out_bytes + out.offset() + at;
    if (bytes.size() >= kLeastSpare) return copy_long(to, bytes);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }

  const ShmMemory memory;
  std::byte* const out_bytes;
  const std::byte* const in_bytes;
  RingWriter<ShmWord> out;
  RingReader<ShmWord> in;
  CopyForAnotherCore copy_long;
};

// A stream whose every error is for good. Thread-safety: confined to the loop.
class ShmStream final : public ByteStream, public MemoryWatch {
 public:
  using Waiting = std::optional<Promise<unsigned>>;

  ShmStream(EventLoop& loop, Descriptor socket, Peer peer, std::unique_ptr<DescriptorWatch> watch)
      : loop_(loop), peer_(std::move(peer)), socket_(std::move(socket)), watch_(std::move(watch)) {
    loop_.add(*this);
  }
  ~ShmStream() override {
    loop_.remove(*this);
    watch_.reset();  // which cancels the waits
  }
  ShmStream(const ShmStream&) = delete;
  ShmStream& operator=(const ShmStream&) = delete;

  Status offer() {
    if (peer_.uid != ::geteuid()) return other_user("connecting to ");
    MILLRACE_TRY(ShmMemory::Made made, ShmMemory::create(kRingBytes));
    MILLRACE_TRY_STATUS(send_offer(socket_, kRingBytes, made.file));
    rings_.emplace(std::move(made.memory), 0);
    return {};
  }

  const Peer& peer() const override { return peer_; }

  Result<std::optional<std::span<const std::byte>>> try_read(std::size_t most) override {
    if (failed_) return std::unexpected(*failed_);
    if (!rings_) take_offer();
    if (failed_) return std::unexpected(*failed_);
    if (!rings_) return std::nullopt;
    const auto there = rings_->readable(most);
    if (!there) return fault("reading from ", there.error());
    // What was written before the other end went was there before the look.
    if (there->empty() && !gone_) return std::nullopt;
    return *there;
  }
  void release(std::size_t bytes) override {
    if (rings_->in.release(bytes)) wake();
  }

  Result<std::size_t> try_write(std::span<const std::byte> head,
                                std::span<const std::byte> body) override {
    if (failed_) return std::unexpected(*failed_);
    if (gone_)
      return fail(ErrorCode::kUnavailable,
                  "writing to " + peer_.address + ": the other end is gone");
    if (!rings_) return 0;
    std::size_t taken = 0;
    while (!head.empty() || !body.empty()) {
      const auto room = rings_->out.room(std::min(head.size() + body.size(), kPublishBytes));
      if (!room) return fault("writing to ", room.error());
      const std::size_t most = std::min(*room, kPublishBytes);
      if (most == 0) break;
      const auto of_head = head.first(std::min(head.size(), most));
      const auto of_body = body.first(std::min(body.size(), most - of_head.size()));
      rings_->put(0, of_head);
      rings_->put(of_head.size(), of_body);
      if (rings_->out.publish(of_head.size() + of_body.size())) wake();
      taken += of_head.size() + of_body.size();
      head = head.subspan(of_head.size());
      body = body.subspan(of_body.size());
    }
    return taken;
  }

  Future<unsigned> wait_readable() override {
    if (readable_) return busy();
    if (can_read()) return make_ready(unsigned{kReadable});
    return begin(readable_);
  }
  Future<unsigned> wait_writable() override {
    if (writable_) return busy();
    if (can_write()) return make_ready(unsigned{kWritable});
    return begin(writable_);
  }

  bool ready() const override { return (readable_ && can_read()) || (writable_ && can_write()); }
  void act() override {
    Waiting reads, writes;
    if (readable_ && can_read()) reads.swap(readable_);
    if (writable_ && can_write()) writes.swap(writable_);
    complete(reads, writes);
  }
  bool may_sleep() override {
    if (!rings_ || failed_ || gone_) return !ready();
    const bool reads = readable_ && !rings_->in.may_sleep().value_or(false);
    const bool writes = writable_ && !rings_->out.may_sleep().value_or(false);
    return !reads && !writes;
  }

 private:
  static Error busy() {
    return Error(ErrorCode::kFailedPrecondition,
                 "waiting for a stream: another wait of the kind is going on");
  }
  std::unexpected<Error> fault(const char* what, const Error& why) {
    failed_ = Error(why.code(), what + peer_.address + ": " + std::string(why.message()));
    return std::unexpected(*failed_);
  }
  std::unexpected<Error> other_user(const char* what) const {
    return fail(ErrorCode::kPermissionDenied, what + peer_.address + ": it is another user's");
  }

  void take_offer() {
    auto memory = peer_.uid == ::geteuid()
                      ? receive_offer(socket_)
                      : Result<std::optional<ShmMemory>>(other_user("sharing memory with "));
    if (!memory) {
      failed_ = std::move(memory).error();
    } else if (*memory) {
      rings_.emplace(**std::move(memory), 1);
    }
  }

  // Whether the call is worth another try.
  bool can_read() const {
    if (failed_ || gone_) return true;
    return rings_ && rings_->in.available().value_or(1) > 0;
  }
  bool can_write() const {
    if (failed_ || gone_) return true;
    return rings_ && rings_->out.room(1).value_or(1) > 0;
  }

  Future<unsigned> begin(Waiting& waiting) {
    auto future = waiting.emplace().future();
    if (!armed_) arm();
    return future;
  }
  void arm() {
    armed_ = true;
    watch_->wait(kReadable)
        .then(inline_executor(), [this](const Result<unsigned>& found) { look(found); })
        .ignore();
  }
  // What waits may destroy the stream: it comes last.
  static void complete(Waiting& reads, Waiting& writes) {
    if (reads) reads->set(unsigned{kReadable});
    if (writes) writes->set(unsigned{kWritable});
  }
  void look(const Result<unsigned>& found) {
    armed_ = false;
    Waiting reads, writes;
    if (!found) {
      reads.swap(readable_);
      writes.swap(writable_);
      if (reads) reads->set_error(found.error());
      if (writes) writes->set_error(found.error());
      return;
    }
    rings_ ? drain() : take_offer();
    if (readable_ && can_read()) reads.swap(readable_);
    if (writable_ && can_write()) writes.swap(writable_);
    if (readable_ || writable_) arm();
    complete(reads, writes);
  }

  void drain() {
    std::array<std::byte, 64> bytes = {};
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      woken_ += static_cast<std::uint64_t>(got);
      if (woken_ > rings_->in.asked() + rings_->out.asked()) {
        failed_ = Error(ErrorCode::kUnavailable,
                        "reading from " + peer_.address + ": the other end wakes without a reason");
      }
      return;
    }
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) gone_ = true;
  }
  void wake() {
    const std::byte byte = {};
    ssize_t sent = -1;
    do {
      sent = ::send(socket_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    // A socket that takes no more has bytes enough that wake.
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) gone_ = true;
  }

  EventLoop& loop_;
  const Peer peer_;
  const Descriptor socket_;  // outlives its watch
  std::unique_ptr<DescriptorWatch> watch_;
  mutable std::optional<Rings> rings_;  // from the offer on; to look is to take note of positions
  std::optional<Error> failed_;
  bool gone_ = false;  // the other end
  bool armed_ = false;
  std::uint64_t woken_ = 0;  // times
  Waiting readable_, writable_;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> offer_shm_stream(EventLoop& loop, Descriptor socket,
                                                     Peer peer) {
  MILLRACE_TRY(auto watch, loop.watch(socket.get()));
  auto stream =
      std::make_unique<ShmStream>(loop, std::move(socket), std::move(peer), std::move(watch));
  MILLRACE_TRY_STATUS(stream->offer());
  return stream;
}

Result<std::unique_ptr<ByteStream>> accept_shm_stream(EventLoop& loop, Descriptor socket,
                                                      Peer peer) {
  MILLRACE_TRY(auto watch, loop.watch(socket.get()));
  return std::make_unique<ShmStream>(loop, std::move(socket), std::move(peer), std::move(watch));
}

}  // namespace millrace::net
