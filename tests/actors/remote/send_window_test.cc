#include "millrace/actors/remote/send_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "millrace/actors/remote/credit_return.h"

namespace millrace::actors {
namespace {

TEST(SendWindowTest, OneActorHasItsOwnLimitAndOneMessageAloneAlwaysGoes) {
  LinkBudget budget{.limit = 1000, .most_of_actor = 300};
  SendWindow window;
  EXPECT_TRUE(window.may_send(5000, budget));  // SW-2
  window.sent(200, budget);
  EXPECT_TRUE(window.may_send(100, budget));
  EXPECT_FALSE(window.may_send(101, budget));  // SW-3
  EXPECT_FALSE(window.returned(201, budget));
  EXPECT_TRUE(window.returned(200, budget));
  EXPECT_EQ(budget.used, 0u);
}

TEST(SendWindowTest, SlowActorsLeaveRoomForOthers) {
  LinkBudget budget{.limit = 10000, .most_of_actor = 10000};  // SW-1
  std::vector<SendWindow> slow(25);
  for (std::size_t i = 0; i < slow.size(); ++i) {
    const std::size_t left = budget.left();
    while (slow[i].may_send(10, budget)) slow[i].sent(10, budget);
    EXPECT_LE(slow[i].under_way(), std::max<std::size_t>(10, left / 2 + 5)) << i;
    EXPECT_GE(slow[i].under_way(), 10u) << i;  // SW-2
  }
  EXPECT_LE(budget.used, 10000u + 10 * slow.size());
  for (SendWindow& window : slow) window.end(budget);
  EXPECT_EQ(budget.used, 0u);
}

TEST(CreditReturnTest, ItGoesForManyBytesOrWhenItIsWanted) {
  CreditReturn credit;
  EXPECT_EQ(credit.admitted(100), 0u);  // CR-2
  EXPECT_EQ(credit.admitted(CreditReturn::kAtOnce), CreditReturn::kAtOnce + 100);
  EXPECT_EQ(credit.want(), 0u);
  EXPECT_EQ(credit.admitted(50), 50u);  // CR-1
  EXPECT_EQ(credit.admitted(60), 0u);
  EXPECT_EQ(credit.want(), 60u);
  EXPECT_EQ(credit.admitted(70), 0u) << "it had what it wanted";
}

// Whatever the sizes and the order of events, what waits goes in the end, and none is lost.
TEST(SendWindowTest, ASenderThatAsksForCreditIsNeverStuck) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    LinkBudget budget{.limit = 1 + random() % 200000, .most_of_actor = 1 + random() % 200000};
    SendWindow window;
    CreditReturn credit;
    std::deque<std::size_t> line, there, back;
    bool wanted = false, want_under_way = false;
    std::size_t left = 100, handled = 0;
    const auto pump = [&] {
      while (!line.empty() && window.may_send(line.front(), budget)) {
        window.sent(line.front(), budget);
        there.push_back(line.front());
        line.pop_front();
      }
      if (!line.empty() && !wanted) wanted = want_under_way = true;
    };
    const auto send_back = [&](std::size_t bytes) {
      if (bytes > 0) back.push_back(bytes);
    };
    for (int idle = 0; handled < 100 && idle < 1000; ++idle) {
      const std::uint64_t what = random() % 4;
      if (what == 0 && left > 0) {
        --left;
        line.push_back(1 + random() % (random() % 10 == 0 ? 300000 : 3000));
        pump();
        idle = 0;
      } else if (what == 1 && !there.empty()) {
        const std::size_t bytes = there.front();
        there.pop_front();
        ++handled;
        send_back(credit.admitted(bytes));
        idle = 0;
      } else if (what == 2 && want_under_way) {
        want_under_way = false;
        send_back(credit.want());
        idle = 0;
      } else if (what == 3 && !back.empty()) {
        ASSERT_TRUE(window.returned(back.front(), budget));
        back.pop_front();
        wanted = false;
        pump();
        idle = 0;
      }
    }
    ASSERT_EQ(handled, 100u) << "round " << round;
  }
}

}  // namespace
}  // namespace millrace::actors
