// Feeds bytes of another process to the decoders of a group's messages and, where they are
// messages, to its machine: what is read can be written and read again, and the machine CHECKs
// nothing.
// Each message has in front: its length, its sender, and what it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "millrace/collectives/group_frames.h"
#include "millrace/collectives/rendezvous_machine.h"
#include "millrace/collectives/wire.h"
#include "millrace/core/base/check.h"

using namespace millrace;  // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::collectives;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int kSize = 20;
constexpr Rank kSelf{1};  // has a parent and children

Subset all_ranks() {
  std::vector<Rank> ranks;
  for (int r = 0; r < kSize; ++r) ranks.push_back(Rank{r});
  return std::make_shared<const RankSet>(std::move(ranks));
}

class Target {
 public:
  Target() {
    const RendezvousKey key = machine_.join("t", world_, "mine", actions_);
    machine_.expire(key, "late", actions_);
  }
  void feed(std::span<const std::byte> bytes, Rank from, bool news) {
    if (news) return feed_news(bytes);
    auto message = decode_rendezvous(bytes, from, kSelf, world_);
    if (!message) {
      MILLRACE_CHECK(message.error().code() == ErrorCode::kInvalidArgument, "an error is typed");
      return;
    }
    const auto written = encode(*message);
    MILLRACE_CHECK(written.has_value(), "what was read fits");
    const auto again = decode_rendezvous(*written, from, kSelf, world_);
    MILLRACE_CHECK(again.has_value() && encode(*again).value() == *written, "it is read again");
    machine_.receive(*std::move(message), actions_);
  }
  void finish() {
    machine_.rank_failed(Rank{2}, Error(ErrorCode::kUnavailable, "gone"), actions_);
    for (const auto& [to, message] : actions_.sends)
      MILLRACE_CHECK(encode(message).has_value(), "what is sent fits");
  }

 private:
  void feed_news(std::span<const std::byte> bytes) {
    if (const auto end = read_end(bytes, kSize))
      MILLRACE_CHECK(read_end(encode_end(*end), kSize).has_value(), "an end is read again");
    if (const auto place = read_place(bytes, kSize)) {
      const auto again = read_place(encode_place(*place), kSize);
      MILLRACE_CHECK(again && again->missing == place->missing, "a place is read again");
    }
    if (const auto failed = read_failed(bytes, kSize)) {
      const auto again = read_failed(encode_failed(failed->rank, failed->error), kSize);
      MILLRACE_CHECK(again && again->rank == failed->rank, "a failure is read again");
    }
  }

  const Subset world_ = all_ranks();
  RendezvousMachine machine_{kSelf};
  RendezvousMachine::Actions actions_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Target target;
  std::span<const std::byte> rest{reinterpret_cast<const std::byte*>(data), size};
  while (rest.size() > 2) {
    const auto length = std::min(static_cast<std::size_t>(rest[0]), rest.size() - 2);
    const auto head = static_cast<unsigned>(rest[1]);
    target.feed(rest.subspan(2, length), Rank{static_cast<int>(head / 2 % kSize)}, head % 2 == 1);
    rest = rest.subspan(2 + length);
  }
  target.finish();
  return 0;
}
