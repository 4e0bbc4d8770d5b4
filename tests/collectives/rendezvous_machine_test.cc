// Machines against each other over a network that delivers in an order drawn from a seed.
#include "millrace/collectives/rendezvous_machine.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace millrace::collectives {
namespace {

Subset subset_of(std::vector<Rank> ranks) {
  return std::make_shared<const RankSet>(std::move(ranks));
}
Subset world(int size) {
  std::vector<Rank> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(Rank{r});
  return subset_of(std::move(ranks));
}

class Network {
 public:
  explicit Network(int size, std::uint64_t seed = 1) : random_(seed) {
    for (int r = 0; r < size; ++r) machines_.emplace_back(Rank{r});
  }
  RendezvousKey join(int rank, const std::string& tag, const Subset& subset) {
    RendezvousMachine::Actions actions;
    const auto key = machine(rank).join(tag, subset, "p" + std::to_string(rank), actions);
    take(rank, std::move(actions));
    return key;
  }
  void expire(int rank, const RendezvousKey& key) {
    RendezvousMachine::Actions actions;
    machine(rank).expire(key, "got no answer in time", actions);
    take(rank, std::move(actions));
  }
  void fail(int rank) {
    for (std::size_t r = 0; r < machines_.size(); ++r) {
      RendezvousMachine::Actions actions;
      machines_[r].rank_failed(Rank{rank}, Error(ErrorCode::kUnavailable, "killed"), actions);
      take(static_cast<int>(r), std::move(actions));
    }
  }
  void deliver_all() {
    while (!wire_.empty()) {
      std::swap(wire_.back(), wire_[random_() % wire_.size()]);
      auto [to, message] = std::move(wire_.back());
      wire_.pop_back();
      ++received_[to];
      RendezvousMachine::Actions actions;
      machine(index(to)).receive(std::move(message), actions);
      take(index(to), std::move(actions));
    }
  }
  RendezvousMachine& machine(int rank) { return machines_[static_cast<std::size_t>(rank)]; }
  std::size_t open() const {
    std::size_t n = 0;
    for (const auto& m : machines_) n += m.open();
    return n;
  }

  std::map<int, std::vector<Result<Payloads>>> done_;
  std::map<Rank, int> received_;

 private:
  void take(int rank, RendezvousMachine::Actions actions) {
    for (auto& [key, result] : actions.done) done_[rank].push_back(std::move(result));
    for (auto& send : actions.sends) wire_.push_back(std::move(send));
  }
  std::vector<RendezvousMachine> machines_;
  std::vector<std::pair<Rank, RendezvousMessage>> wire_;
  std::mt19937_64 random_;
};

TEST(RendezvousMachineTest, EverybodyGetsEveryPayloadByPosition) {
  for (const int size : {1, 2, 9, 100}) {
    Network net(size, 42);
    for (int r = size - 1; r >= 0; --r) net.join(r, "epoch", world(size));
    net.deliver_all();
    for (int r = 0; r < size; ++r) {
      ASSERT_EQ(net.done_[r].size(), 1u);
      ASSERT_TRUE(net.done_[r][0]);
      const auto& payloads = **net.done_[r][0];
      for (int p = 0; p < size; ++p)
        ASSERT_EQ(payloads[static_cast<std::size_t>(p)], "p" + std::to_string(p));
    }
    EXPECT_EQ(net.open(), 0u);
  }
}

TEST(RendezvousMachineTest, DeadlineNamesExactlyWhoIsMissing) {
  Network net(30);
  RendezvousKey key;
  for (int r = 0; r < 30; ++r) {
    if (r != 0 && r != 9 && r != 17) key = net.join(r, "end", world(30));
  }
  net.deliver_all();
  net.expire(29, key);
  net.deliver_all();

  const Error& error = net.done_[5].at(0).error();
  EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
  ASSERT_NE(error.detail<Culprits>(), nullptr);
  EXPECT_EQ(error.detail<Culprits>()->ranks, (std::vector<Rank>{Rank{0}, Rank{9}, Rank{17}}));
  EXPECT_NE(error.message().find("ranks 0, 9, 17"), std::string::npos) << error.message();
}

TEST(RendezvousMachineTest, WhoComesAfterTheDecisionGetsItAtOnce) {
  Network net(3);
  const RendezvousKey key = net.join(1, "t", world(3));
  net.expire(1, key);
  net.deliver_all();
  net.join(2, "t", world(3));
  net.join(0, "t", world(3));
  net.deliver_all();
  for (int r = 0; r < 3; ++r) {
    ASSERT_EQ(net.done_[r].size(), 1u) << r;
    EXPECT_EQ(net.done_[r][0].error().code(), ErrorCode::kDeadlineExceeded);
  }
  EXPECT_EQ(net.open(), 0u);
}

TEST(RendezvousMachineTest, SubsetsAndTagsDoNotMix) {
  Network net(4);
  const auto low = subset_of({Rank{0}, Rank{1}});
  const auto high = subset_of({Rank{1}, Rank{2}, Rank{3}});
  net.join(0, "a", low);
  net.join(1, "a", high);
  net.join(2, "a", high);
  net.join(3, "b", high);
  net.deliver_all();
  EXPECT_TRUE(net.done_.empty());
  net.join(3, "a", high);
  net.deliver_all();
  EXPECT_EQ(net.done_.size(), 3u);
  EXPECT_FALSE(net.done_.contains(0));
}

TEST(RendezvousMachineTest, FailedRankFailsPendingAndLaterOnesByName) {
  Network net(12);
  for (int r = 0; r < 12; ++r) {
    if (r != 7) net.join(r, "x", world(12));
  }
  net.fail(7);
  net.deliver_all();
  net.join(3, "y", world(12));
  net.join(1, "z", subset_of({Rank{1}, Rank{2}}));
  net.join(2, "z", subset_of({Rank{1}, Rank{2}}));
  net.deliver_all();

  ASSERT_EQ(net.done_[3].size(), 2u);
  for (const auto& result : net.done_[3]) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().detail<Culprits>()->ranks, std::vector<Rank>{Rank{7}});
  }
  EXPECT_TRUE(net.done_[1].back());
}

TEST(RendezvousMachineTest, AnyOrderWithFaultsCompletesEveryJoinOnceAndAlike) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int size = 2 + static_cast<int>(random() % 40);
    const Subset all = world(size);
    Network net(size, seed);
    const int absent =
        random() % 2 == 0 ? static_cast<int>(random() % static_cast<unsigned>(size)) : -1;
    RendezvousKey key;
    int joiner = 0;
    for (int r = 0; r < size; ++r) {
      if (r == absent) continue;
      key = net.join(r, "s", all);
      joiner = r;
      if (random() % 3 == 0) net.deliver_all();
    }
    net.deliver_all();
    net.expire(joiner, key);
    if (random() % 2 == 0) net.expire((joiner + 1) % size, key);
    net.deliver_all();
    if (absent >= 0) net.join(absent, "s", all);
    net.deliver_all();
    for (int r = 0; r < size; ++r) {
      ASSERT_EQ(net.done_[r].size(), 1u) << "rank " << r;
      ASSERT_EQ(net.done_[r][0].has_value(), absent < 0);
    }
    ASSERT_EQ(net.open(), 0u);
  }
}

TEST(RendezvousMachineTest, SixtyFiveThousandRanksLoadTheRootNoMoreThanItsChildren) {
  constexpr int kSize = 65536;
  Network net(kSize);
  const Subset all = world(kSize);
  for (int r = 0; r < kSize; ++r) net.join(r, "big", all);
  net.deliver_all();
  EXPECT_EQ(net.done_.size(), static_cast<std::size_t>(kSize));
  EXPECT_EQ(net.received_[Rank{0}], 8);
  EXPECT_EQ(net.received_[Rank{1}], 9);
}

}  // namespace
}  // namespace millrace::collectives
