// Machines against each other over a network that delivers in an order drawn from a seed.
#include "millrace/collectives/rendezvous_machine.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>

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

// A rank that has left hears nothing; each rank that it has met, or that sends it something, hears
// of that, behind what it had sent to it (GroupWire does so).
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
  // Like fail, but the news travels like any message: it overtakes others, or is overtaken.
  void spread_failure(int rank) {
    for (int r = 0; r < static_cast<int>(machines_.size()); ++r)
      wire_.push_back({.from = rank, .to = r, .failed = true});
  }
  void leave(int rank) {
    left_.insert(rank);
    for (int r = 0; r < static_cast<int>(machines_.size()); ++r) {
      if (met_.contains({rank, r})) say_left(rank, r);
    }
  }
  void deliver_all() { deliver(std::numeric_limits<std::size_t>::max()); }
  void deliver(std::size_t count) {
    for (; count > 0 && !wire_.empty(); --count) {
      std::swap(wire_.back(), wire_[random_() % wire_.size()]);
      if (wire_.back().left) bring_forward_what_it_sent();
      const Packet packet = std::move(wire_.back());
      wire_.pop_back();
      if (left_.contains(packet.to)) {
        say_left(packet.to, packet.from);
        continue;
      }
      met_.insert({packet.to, packet.from});
      RendezvousMachine::Actions actions;
      if (packet.failed) {
        machine(packet.to).rank_failed(Rank{packet.from}, Error(ErrorCode::kUnavailable, "killed"),
                                       actions);
      } else if (packet.left) {
        machine(packet.to).rank_left(Rank{packet.from}, Error(ErrorCode::kCancelled, "it left"),
                                     actions);
      } else if (packet.message) {
        ++received_[Rank{packet.to}];
        machine(packet.to).receive(*packet.message, actions);
      }
      take(packet.to, std::move(actions));
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
    for (auto& [to, message] : actions.sends) {
      met_.insert({rank, index(to)});
      wire_.push_back({.from = rank, .to = index(to), .message = std::move(message)});
    }
    for (const Rank awaited : actions.awaited) {
      if (met_.insert({rank, index(awaited)}).second)
        wire_.push_back({.from = rank, .to = index(awaited)});
    }
  }
  void say_left(int rank, int to) {
    if (heard_.insert({rank, to}).second) wire_.push_back({.from = rank, .to = to, .left = true});
  }
  void bring_forward_what_it_sent() {
    for (Packet& packet : wire_) {
      if (packet.from == wire_.back().from && packet.to == wire_.back().to && !packet.left)
        return std::swap(packet, wire_.back());
    }
  }
  struct Packet {
    int from = 0, to = 0;
    std::optional<RendezvousMessage> message = {};  // none: a greeting
    bool failed = false, left = false;              // the news of `from` instead
  };
  std::vector<RendezvousMachine> machines_;
  std::vector<Packet> wire_;
  std::set<int> left_;
  std::set<std::pair<int, int>> met_;    // the first knows that the second is there
  std::set<std::pair<int, int>> heard_;  // that the first left
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

TEST(RendezvousMachineTest, DeadlineNamesExactlyTheMissingRanks) {  // RV-3
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

TEST(RendezvousMachineTest, RankThatComesAfterTheDecisionGetsItAtOnce) {  // RV-2
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

TEST(RendezvousMachineTest, FailedRankFailsPendingAndLaterOnesByName) {  // RV-4
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

TEST(RendezvousMachineTest, TheErrorNamesTheRankThatLeftFirst) {  // RV-6
  const auto left = [](RendezvousMachine& machine, int rank, RendezvousMachine::Actions& actions) {
    machine.rank_left(Rank{rank}, Error(ErrorCode::kCancelled, "not " + std::to_string(rank)),
                      actions);
  };
  for (const bool joins_first : {true, false}) {
    RendezvousMachine machine(Rank{1});  // 9, 10 and 11 report to it, and it to 0
    RendezvousMachine::Actions actions;
    if (joins_first) machine.join("t", world(12), "", actions);
    left(machine, 11, actions);
    left(machine, 0, actions);
    left(machine, 9, actions);
    if (!joins_first) machine.join("t", world(12), "", actions);
    ASSERT_EQ(actions.done.size(), 1U);
    EXPECT_EQ(actions.done[0].second.error().message(), "rendezvous 't': not 11");
    EXPECT_EQ(actions.sends.back().second.error->message(), "rendezvous 't': not 11");
  }
}

TEST(RendezvousMachineTest, ARankThatLeavesEndsWhatNeedsItAndNothingElse) {  // RV-6
  Network net(12);
  const auto pair = subset_of({Rank{0}, Rank{7}});
  for (const int r : {7, 0}) net.join(r, "done", pair);
  for (int r = 0; r < 12; ++r) {
    if (r != 1) net.join(r, "needs it", world(12));  // 9, 10 and 11 report to it
  }
  net.leave(7);
  net.deliver_all();
  EXPECT_TRUE(net.done_[0].at(0));  // it had reported before it left
  net.join(1, "needs it", world(12));
  net.leave(1);
  net.deliver_all();
  for (const int r : {0, 2, 8}) EXPECT_EQ(net.done_[r].size(), r == 0 ? 2U : 1U) << r;
  for (const int r : {9, 10, 11}) {
    ASSERT_EQ(net.done_[r].size(), 1U) << r;  // it left before it could hand the outcome down
    EXPECT_EQ(net.done_[r][0].error().message(), "rendezvous 'needs it': it left");
  }
  net.join(0, "later", world(12));
  net.deliver_all();
  ASSERT_EQ(net.done_[0].size(), 3U);
  EXPECT_EQ(net.done_[0][2].error().code(), ErrorCode::kCancelled);
}

// A rank that leaves at any moment, joined or not, and no deadline.
TEST(RendezvousMachineTest, NoRankWaitsForOneThatLeaves) {  // RV-1, RV-6
  int complete = 0, parted = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](int bound) { return static_cast<int>(random() % unsigned(bound)); };
    const int size = 2 + below(90);
    const int leaver = below(std::min(size, 12));  // often one with ranks below it
    Network net(size, seed);
    const int leaves_before = below(2) == 0 ? size : below(size);
    const int joins_at_all = below(2);
    for (int r = 0; r < size; ++r) {
      if (r == leaves_before) net.leave(leaver);
      if (r == leaver && (r >= leaves_before || joins_at_all == 0)) continue;
      net.join(r, "s", world(size));
      net.deliver(static_cast<std::size_t>(below(4)));
    }
    net.deliver(static_cast<std::size_t>(below(3 * size)));
    if (leaves_before == size) net.leave(leaver);
    net.deliver_all();
    int payloads = 0;
    for (int r = 0; r < size; ++r) {
      if (r == leaver) continue;
      ASSERT_EQ(net.done_[r].size(), 1U) << "rank " << r << " of " << size << " without " << leaver;
      payloads += net.done_[r][0] ? 1 : 0;
    }
    if (payloads == size - 1)
      ++complete;
    else if (payloads > 0)
      ++parted;
  }
  EXPECT_GT(complete, 50);
  EXPECT_GT(parted, 5);
}

std::string text_of(const Result<Payloads>& result) {
  if (!result) return result.error().to_string();
  std::string text;
  for (const std::string& payload : **result) text += payload + " ";
  return text;
}

// One rendezvous in an order drawn from a seed, with a rank that comes only after the deadline, or
// one that fails at any time, or both, or neither.
class RandomMeeting {
 public:
  explicit RandomMeeting(std::uint64_t seed) : random_(seed), net_(size_, seed) { run(); }

  // By rank: what its join came to.
  std::vector<std::string> texts() {
    std::vector<std::string> texts;
    for (int r = 0; r < size_; ++r) {
      EXPECT_EQ(net_.done_[r].size(), 1u) << "rank " << r;
      for (const auto& result : net_.done_[r]) texts.push_back(text_of(result));
    }
    EXPECT_EQ(net_.open(), 0u);
    return texts;
  }
  bool complete() { return net_.done_[0].at(0).has_value(); }
  int absent() const { return absent_; }
  int failing() const { return failing_; }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  void run() {
    const Subset all = world(size_);
    RendezvousKey key;
    int joiner = 0;
    for (int r = 0; r < size_; ++r) {
      if (r == fails_before_) net_.spread_failure(failing_);
      if (r == absent_) continue;
      key = net_.join(r, "s", all);
      joiner = r;
      net_.deliver(static_cast<std::size_t>(below(4)));
    }
    net_.deliver(static_cast<std::size_t>(below(2 * size_)));
    if (fails_before_ == size_) net_.spread_failure(failing_);
    net_.deliver_all();
    net_.expire(joiner, key);
    if (below(2) == 0) net_.expire((joiner + 1) % size_, key);
    net_.deliver_all();
    if (absent_ >= 0) net_.join(absent_, "s", all);
    net_.deliver_all();
  }

  std::mt19937_64 random_;
  const int size_ = 2 + below(40);
  const int absent_ = below(2) == 0 ? below(size_) : -1;
  const int failing_ = below(2) == 0 ? below(size_) : -1;
  const int fails_before_ = failing_ < 0 ? -1 : below(2) == 0 ? size_ : below(size_);
  Network net_;
};

TEST(RendezvousMachineTest, AnyOrderWithFaultsCompletesEveryJoinOnceAndAlike) {  // RV-1, RV-5
  int parted = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomMeeting meeting(seed);
    const std::vector<std::string> texts = meeting.texts();
    if (HasFailure()) return;
    const std::string failure =
        "UNAVAILABLE: rank " + std::to_string(meeting.failing()) + " has failed: killed";
    bool alike = true;
    for (const std::string& text : texts) {
      alike = alike && text == texts[0];
      if (meeting.failing() >= 0 && text.starts_with(failure)) continue;
      ASSERT_EQ(text, texts[0]);  // the root's
    }
    if (meeting.failing() < 0) {
      ASSERT_EQ(meeting.complete(), meeting.absent() < 0);
    }
    parted += alike ? 0 : 1;
  }
  // News and decisions did cross, and not always.
  EXPECT_GT(parted, 5);
  EXPECT_LT(parted, 200);
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
