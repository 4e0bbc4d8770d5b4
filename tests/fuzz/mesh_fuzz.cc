// A member of the job that sends what it likes: hellos with fields of the input's, then frames of
// any kind, epoch and channel, and an end at any byte. The mesh gives its sinks frames of its epoch
// alone, holds no more than it may, completes every future and ends.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/net/mesh.h"
#include "tests/fuzz/input.h"

using namespace millrace;       // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::net;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint32_t kEpoch = 2;
constexpr std::uint32_t kSelf = 1, kSize = 4;

// Gives the bytes of a member, then ends or stays; takes all that is written.
class MemberStream final : public ByteStream {
 public:
  MemberStream(Bytes bytes, std::size_t piece, bool ends)
      : peer_{.address = "fuzz", .uid = ::geteuid(), .pid = 7},
        bytes_(std::move(bytes)),
        piece_(piece),
        ends_(ends) {}
  const Peer& peer() const override { return peer_; }
  Result<std::optional<std::span<const std::byte>>> try_read(std::size_t most) override {
    const std::size_t count = std::min({most, piece_, bytes_.size() - read_});
    if (count == 0 && !ends_) return std::nullopt;
    return std::span(bytes_).subspan(read_, count);
  }
  void release(std::size_t bytes) override { read_ += bytes; }
  Result<std::size_t> try_write(std::span<const std::byte> head,
                                std::span<const std::byte> body) override {
    return head.size() + body.size();
  }
  Future<unsigned> wait_readable() override { return never_.emplace_back().future(); }
  Future<unsigned> wait_writable() override { return make_ready(1u); }

 private:
  const Peer peer_;
  const Bytes bytes_;
  const std::size_t piece_;
  const bool ends_;
  std::size_t read_ = 0;
  std::deque<Promise<unsigned>> never_;
};

class FuzzTransport final : public Transport {
 public:
  class Listener final : public StreamListener {
   public:
    const std::string& address() const override { return address_; }

   private:
    std::string address_ = "fuzz";
  };
  Executor& home() override { return executor; }
  TimerQueue& timers() override { return queue; }
  Result<std::unique_ptr<StreamListener>> listen(std::string_view, Accept accepts) override {
    accept = std::move(accepts);
    return std::make_unique<Listener>();
  }
  Future<std::unique_ptr<ByteStream>> connect(std::string_view, CallOptions) override {
    return fail(ErrorCode::kUnavailable, "nothing listens");
  }
  void run_for(Duration duration) {
    const TimePoint end = clock.now() + duration;
    for (;;) {
      executor.run_until_idle();
      if (queue.run_due() != 0) continue;
      const auto next = queue.next_deadline();
      if (!next || *next > end) break;
      clock.advance_to(*next);
    }
    clock.advance_to(end);
  }

  ManualClock clock;
  TimerQueue queue{clock};
  SerialExecutor executor{SerialExecutor::InOrder{}};
  Accept accept;
};

void append(Bytes& bytes, const Frame& frame) {
  const HeaderBytes header = encode_header(frame.header, frame.payload.size());
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
}

Frame make_hello(Input& input) {
  LinkHello hello{{input.byte() % 5u, "h", input.byte()}, {}, kSelf, kSize, kEpoch, "job"};
  const std::uint8_t wrong = input.byte();
  if (wrong == 1) hello.to = 0;
  if (wrong == 2) hello.size = 5;
  if (wrong == 3) hello.job = "other";
  if (wrong > 250) hello.epoch = wrong - 250u;
  return encode_hello(hello);
}

Frame make_frame(Input& input) {
  Frame frame;
  const std::uint8_t what = input.byte();
  frame.header.kind = static_cast<FrameKind>(what < 200 ? 32 + what % 3 : 1 + what - 200);
  if (what == 255) return make_hello(input);
  frame.header.epoch = input.byte() < 200 ? kEpoch : input.byte();
  frame.header.channel = input.byte() % 4u;
  frame.header.sequence = input.byte();
  frame.payload.resize(std::size_t{input.byte()} * (what % 2 == 0 ? 1 : 40));
  return frame;
}

Bytes make_stream(Input& input) {
  Bytes bytes;
  append(bytes, make_hello(input));
  const std::uint8_t frames = input.byte() % 40;
  for (int i = 0; i < frames && !input.empty(); ++i) append(bytes, make_frame(input));
  if (input.byte() > 200) bytes.resize(bytes.size() - std::min<std::size_t>(input.byte(), 60));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  FuzzTransport transport;
  LocalKeyValueStore store(transport.timers());
  auto mesh = Mesh::make(transport, store,
                         {.rank = kSelf,
                          .size = kSize,
                          .job = "job",
                          .host = "h",
                          .epoch = kEpoch,
                          .max_payload = 4096,
                          .most_stashed = 8192})
                  .value();
  const auto take = [&](std::uint32_t from, const Frame& frame) -> Future<void> {
    MILLRACE_CHECK(from < kSize && from != kSelf, "a sender is another rank");
    MILLRACE_CHECK(frame.header.epoch == kEpoch, "a sink gets frames of the epoch");
    if (frame.header.sequence == 250) return fail(ErrorCode::kInvalidArgument, "no place");
    if (frame.header.sequence < 200) return {};
    return sleep_until(transport.clock.now() + std::chrono::milliseconds(frame.header.sequence),
                       transport.timers());
  };
  mesh->set_sink({FrameKind::kFirstOfUsers}, take);
  mesh->set_sink({static_cast<FrameKind>(33), 1}, take);
  std::vector<Future<void>> futures{mesh->start("fuzz")};
  std::vector<Future<PeerLoss>> losses;
  transport.run_for(std::chrono::milliseconds(1));
  for (std::uint32_t rank = 0; rank < kSize; ++rank) losses.push_back(mesh->peer_lost(rank));
  for (int i = 0; i < 6 && !input.empty(); ++i) {
    const std::uint8_t what = input.byte();
    if (what > 230) futures.push_back(mesh->send(what % kSize, {{.kind = FrameKind{40}}, {}}));
    const std::size_t piece = 1 + input.byte();
    transport.accept(std::make_unique<MemberStream>(make_stream(input), piece, what % 2 == 0));
    transport.run_for(std::chrono::milliseconds(input.byte()));
  }
  futures.push_back(mesh->close());
  transport.run_for(std::chrono::seconds(40));
  for (const auto& future : futures) {
    MILLRACE_CHECK(future.ready(), "every future completes");
    future.ignore();
  }
  for (const auto& loss : losses) {
    MILLRACE_CHECK(loss.ready(), "every future completes");
    loss.ignore();
  }
  return 0;
}
