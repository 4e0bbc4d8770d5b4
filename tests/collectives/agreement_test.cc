// Agreements of all ranks against each other, over a network that delivers in an order drawn from a
// seed and carries bytes.
#include "millrace/collectives/agreement.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "millrace/collectives/wire.h"

namespace millrace::collectives {
namespace {

std::size_t sz(int number) { return static_cast<std::size_t>(number); }

AgreementCall call_of(AgreeOp op, std::int64_t value, std::uint64_t about = 1) {
  return {op, value, about, "commit " + std::to_string(about)};
}

class Network {
 public:
  Network(int size, std::uint64_t seed) : size_(size), random_(seed) {
    for (int r = 0; r < size; ++r) ranks_.emplace_back("g", Rank{r}, size, 3);
    sent_.resize(sz(size));
    received_.resize(sz(size));
    done_.resize(sz(size));
  }
  void call(int rank, std::uint64_t sequence, const AgreementCall& call) {
    Agreement::Actions actions;
    ASSERT_TRUE(ranks_[sz(rank)].call(sequence, call, actions));
    take(rank, std::move(actions));
  }
  void deliver_all() {
    while (!wire_.empty()) {
      std::swap(wire_.back(), wire_[random_() % wire_.size()]);
      const Packet packet = std::move(wire_.back());
      wire_.pop_back();
      ++received_[sz(packet.to)];
      Agreement::Actions actions;
      auto message = decode_agreement(packet.bytes, size_);
      ASSERT_TRUE(message) << message.error().to_string();
      ASSERT_TRUE(ranks_[sz(packet.to)].receive(Rank{packet.from}, *std::move(message), actions));
      take(packet.to, std::move(actions));
    }
  }
  void take(int rank, Agreement::Actions actions) {
    sent_[sz(rank)] += actions.sends.size();
    for (auto& [to, message] : actions.sends) wire_.push_back({rank, index(to), encode(message)});
    for (auto& done : actions.done) done_[sz(rank)].push_back(std::move(done));
  }

  struct Packet {
    int from;
    int to;
    net::WireBytes bytes;
  };
  const int size_;
  std::mt19937_64 random_;
  std::vector<Agreement> ranks_;
  std::vector<Packet> wire_;
  std::vector<std::size_t> sent_, received_;
  std::vector<std::vector<std::pair<std::uint64_t, Result<std::int64_t>>>> done_;
};

TEST(AgreementTest, EveryRankGetsTheReductionOfAllNumbers) {  // AG-1, AG-3
  for (const int size : {1, 2, 8, 9, 10, 64, 73, 74, 200}) {
    for (const AgreeOp op : {AgreeOp::kMin, AgreeOp::kMax, AgreeOp::kAnd, AgreeOp::kSum}) {
      Network net(size, sz(size));
      std::int64_t sum = 0, all = -1;
      for (int r = size - 1; r >= 0; --r) {
        const std::int64_t value = 1000 - 3 * r;
        sum += value;
        all &= value;
        net.call(r, 0, call_of(op, value));
      }
      net.deliver_all();
      const std::int64_t expected = op == AgreeOp::kMin   ? 1000 - 3 * (size - 1)
                                    : op == AgreeOp::kMax ? 1000
                                    : op == AgreeOp::kAnd ? all
                                                          : sum;
      for (int r = 0; r < size; ++r) {
        ASSERT_EQ(net.done_[sz(r)].size(), 1u);
        ASSERT_EQ(net.done_[sz(r)][0].second.value(), expected) << to_string(op) << " of " << size;
        ASSERT_LE(net.sent_[sz(r)], 9u);
        ASSERT_LE(net.received_[sz(r)], 9u);
        ASSERT_EQ(net.ranks_[sz(r)].open(), 0u);
      }
    }
  }
}

TEST(AgreementTest, ManyAtOnceInAnyOrderDoNotMix) {  // AG-1
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int size = 1 + static_cast<int>(seed) * 3;
    constexpr std::uint64_t kCalls = 7;
    Network net(size, seed);
    std::vector<std::pair<int, std::uint64_t>> calls;
    for (int r = 0; r < size; ++r) {
      for (std::uint64_t n = 0; n < kCalls; ++n) calls.emplace_back(r, n);
    }
    std::shuffle(calls.begin(), calls.end(), net.random_);
    for (const auto& [rank, n] : calls) {
      net.call(rank, n, call_of(AgreeOp::kSum, static_cast<std::int64_t>(n) + 1, n));
      if (net.random_() % 4 == 0) net.deliver_all();
    }
    net.deliver_all();
    for (int r = 0; r < size; ++r) {
      ASSERT_EQ(net.done_[sz(r)].size(), kCalls);
      for (const auto& [n, value] : net.done_[sz(r)])
        ASSERT_EQ(value.value(), (static_cast<std::int64_t>(n) + 1) * size);
      ASSERT_EQ(net.ranks_[sz(r)].open(), 0u);
    }
  }
}

TEST(AgreementTest, DifferenceNamesBothCallsAndRanksAlikeForAll) {  // AG-2
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int size = 2 + static_cast<int>(random() % 100);
    const int other = static_cast<int>(random() % sz(size));
    Network net(size, seed);
    std::vector<int> order(sz(size));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (const int r : order) net.call(r, 0, call_of(AgreeOp::kMin, 1, r == other ? 2 : 1));
    net.deliver_all();
    const Error& first = net.done_[0].at(0).second.error();
    EXPECT_EQ(first.code(), ErrorCode::kFailedPrecondition);
    EXPECT_NE(first.message().find("agree(min) on commit 1"), std::string::npos);
    EXPECT_NE(
        first.message().find("rank " + std::to_string(other) + " called agree(min) on commit 2"),
        std::string::npos)
        << first.message();
    const auto* culprits = first.detail<Culprits>();
    ASSERT_NE(culprits, nullptr);
    EXPECT_TRUE(std::ranges::find(culprits->ranks, Rank{other}) != culprits->ranks.end());
    for (int r = 0; r < size; ++r)
      ASSERT_EQ(net.done_[sz(r)].at(0).second.error().message(), first.message());
  }
}

TEST(AgreementTest, ReductionThatDiffersIsADifferenceToo) {
  Network net(2, 1);
  net.call(0, 0, call_of(AgreeOp::kMin, 1));
  net.call(1, 0, call_of(AgreeOp::kMax, 1));
  net.deliver_all();
  EXPECT_NE(net.done_[1].at(0).second.error().message().find("agree(max)"), std::string::npos);
}

TEST(AgreementTest, ExpiredCallNamesWhoIsSilentAndWhatItSaidStands) {  // AG-1
  Network net(12, 1);
  for (int r = 0; r < 12; ++r) {
    if (r != 9) net.call(r, 0, call_of(AgreeOp::kSum, 1));
  }
  net.deliver_all();
  for (const int r : {0, 1, 10}) {
    Agreement::Actions actions;
    net.ranks_[sz(r)].expire(0, "within 5 s", actions);
    net.take(r, std::move(actions));
  }
  const Error& root = net.done_[0].at(0).second.error();
  EXPECT_EQ(root.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(root.detail<Culprits>()->ranks, std::vector<Rank>{Rank{1}});  // 9 is below it
  EXPECT_EQ(net.done_[1].at(0).second.error().detail<Culprits>()->ranks,
            std::vector<Rank>{Rank{9}});
  EXPECT_NE(net.done_[10].at(0).second.error().message().find("others have not"),
            std::string::npos);
  net.call(9, 0, call_of(AgreeOp::kSum, 1));
  net.deliver_all();
  for (int r = 0; r < 12; ++r) {
    EXPECT_EQ(net.done_[sz(r)].size(), 1u);
    if (r != 0 && r != 1 && r != 10) {
      EXPECT_EQ(net.done_[sz(r)][0].second.value(), 12);
    }
    EXPECT_EQ(net.ranks_[sz(r)].open(), 0u);
  }
}

TEST(AgreementTest, FailureEndsOpenCallsAndLaterOnes) {  // AG-1
  Agreement rank("g", Rank{0}, 2, 0);
  Agreement::Actions actions;
  ASSERT_TRUE(rank.call(0, call_of(AgreeOp::kMin, 1), actions));
  rank.fail_all(Error(ErrorCode::kUnavailable, "rank 1 has failed"), actions);
  ASSERT_TRUE(rank.call(1, call_of(AgreeOp::kMin, 1), actions));
  ASSERT_EQ(actions.done.size(), 2u);
  for (const auto& [sequence, result] : actions.done)
    EXPECT_EQ(result.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(rank.open(), 0u);
}

AgreementMessage up(std::uint32_t epoch, std::uint64_t sequence) {
  AgreementMessage message;
  message.kind = AgreementMessage::Kind::kUp;
  message.epoch = epoch;
  message.sequence = sequence;
  return message;
}

TEST(AgreementTest, MessageOfAnotherEpochOrOfOneThatIsOverChangesNothing) {  // AG-4
  Agreement rank("g", Rank{0}, 2, 5);
  Agreement::Actions actions;
  ASSERT_TRUE(rank.receive(Rank{1}, up(4, 0), actions));
  ASSERT_TRUE(rank.receive(Rank{1}, up(6, 0), actions));
  EXPECT_EQ(rank.stale(), 2u);
  EXPECT_EQ(rank.open(), 0u);
  ASSERT_TRUE(rank.receive(Rank{1}, up(5, 0), actions));
  AgreementCall call;
  ASSERT_TRUE(rank.call(0, call, actions));
  ASSERT_EQ(actions.done.size(), 1u);
  ASSERT_TRUE(rank.receive(Rank{1}, up(5, 0), actions));
  EXPECT_EQ(rank.stale(), 3u);
  EXPECT_EQ(rank.open(), 0u);
  EXPECT_EQ(rank.call(0, call, actions).error().code(), ErrorCode::kAlreadyExists);
}

TEST(AgreementTest, MessageThatItsSenderHasNoBusinessToSendIsRefused) {  // AG-4
  Agreement rank("g", Rank{1}, 20, 0);  // children 9 .. 16, parent 0
  Agreement::Actions actions;
  AgreementMessage down = up(0, 0);
  down.kind = AgreementMessage::Kind::kDown;
  EXPECT_FALSE(rank.receive(Rank{2}, up(0, 0), actions));
  EXPECT_FALSE(rank.receive(Rank{0}, up(0, 0), actions));
  EXPECT_FALSE(rank.receive(Rank{9}, down, actions));
  EXPECT_FALSE(rank.receive(Rank{0}, down, actions));  // before this rank has reported
  EXPECT_FALSE(rank.receive(Rank{9}, up(0, Agreement::kMostOpen), actions));
  EXPECT_EQ(rank.open(), 0u);
  EXPECT_TRUE(rank.receive(Rank{9}, up(0, 0), actions));
  EXPECT_FALSE(rank.receive(Rank{9}, up(0, 0), actions));  // twice
  EXPECT_EQ(rank.call(Agreement::kMostOpen, call_of(AgreeOp::kMin, 0), actions).error().code(),
            ErrorCode::kResourceExhausted);
  EXPECT_TRUE(actions.sends.empty());
  EXPECT_TRUE(actions.done.empty());
}

}  // namespace
}  // namespace millrace::collectives
