// Feeds bytes of another process to the decoders of a group's messages and, where they are
// messages, to its machines: what is read can be written and read again, and no machine CHECKs.
// Each message has in front: its length, its sender, and what it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "millrace/collectives/agreement.h"
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
    static_cast<void>(agreement_.call(0, {AgreeOp::kSum, 1, 1, "a"}, agreed_));
  }
  void feed(std::span<const std::byte> bytes, Rank from, bool agreement) {
    if (agreement) {
      if (auto message = decode_agreement(bytes, kSize)) {
        MILLRACE_CHECK(std::ranges::equal(encode(*message), bytes), "it is written as it came");
        static_cast<void>(agreement_.receive(from, *std::move(message), agreed_));
      }
      MILLRACE_CHECK(agreement_.open() <= Agreement::kMostOpen, "the limit holds");
      return;
    }
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
    agreement_.fail_all(Error(ErrorCode::kUnavailable, "gone"), agreed_);
    for (const auto& [to, message] : actions_.sends)
      MILLRACE_CHECK(encode(message).has_value(), "what is sent fits");
  }

 private:
  const Subset world_ = all_ranks();
  RendezvousMachine machine_{kSelf};
  Agreement agreement_{"g", kSelf, kSize, 0};
  RendezvousMachine::Actions actions_;
  Agreement::Actions agreed_;
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
