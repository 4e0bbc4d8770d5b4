#include "millrace/actors/mailbox.h"

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

constexpr MessageType kType{"test", false};

class Item final : public Envelope {
 public:
  explicit Item(int number = 0, int sender = 0)
      : Envelope(kType, 1), number(number), sender(sender) {}
  bool deliver(ActorCell&, Actor&) override { return false; }
  void reject(const Error&) noexcept override {}
  void answer(AsyncValue&) noexcept override {}
  const int number;
  const int sender;
};

int number_of(Envelope* envelope) {
  return envelope == nullptr ? -1 : static_cast<Item*>(envelope)->number;
}

TEST(MailboxTest, MessagesComeOutInTheOrderOfTheirPushes) {
  Mailbox mailbox;
  std::array<Item, 4> items{Item(0), Item(1), Item(2), Item(3)};
  mailbox.push(&items[0]);
  mailbox.push(&items[1]);
  EXPECT_EQ(number_of(mailbox.take()), 0);
  mailbox.push(&items[2]);  // while 1 was collected already
  mailbox.push(&items[3]);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(number_of(mailbox.take()), i) << "MB-3";
  EXPECT_EQ(mailbox.take(), nullptr);
}

TEST(MailboxTest, OnlyThePushThatFindsItIdleWakes) {
  Mailbox mailbox;
  std::array<Item, 3> items;
  EXPECT_EQ(mailbox.push(&items[0]), Mailbox::Push::kQueued) << "born awake";
  EXPECT_FALSE(mailbox.go_idle()) << "something is there";
  EXPECT_NE(mailbox.take(), nullptr);
  EXPECT_TRUE(mailbox.go_idle());
  EXPECT_EQ(mailbox.push(&items[1]), Mailbox::Push::kWake) << "MB-2";
  EXPECT_EQ(mailbox.push(&items[2]), Mailbox::Push::kQueued) << "MB-2";
}

TEST(MailboxTest, AnUrgentPushWakesAnIdleActorOnce) {
  Mailbox mailbox;
  std::array<Item, 3> items;
  EXPECT_TRUE(mailbox.go_idle());
  EXPECT_EQ(mailbox.push_urgent(&items[0]), Mailbox::Push::kWake);
  EXPECT_EQ(mailbox.push_urgent(&items[1]), Mailbox::Push::kQueued);
  EXPECT_EQ(mailbox.push(&items[2]), Mailbox::Push::kQueued);
  mailbox.collect_urgent();
  EXPECT_EQ(mailbox.take_urgent(), &items[0]);
  EXPECT_EQ(mailbox.take_urgent(), &items[1]);
  EXPECT_EQ(mailbox.take(), &items[2]);
}

TEST(MailboxTest, MessagesDoNotWakeAHeldActor) {
  Mailbox mailbox;
  std::array<Item, 3> items;
  EXPECT_TRUE(mailbox.go_held());
  EXPECT_EQ(mailbox.push(&items[0]), Mailbox::Push::kQueued);
  EXPECT_EQ(mailbox.push_urgent(&items[1]), Mailbox::Push::kWake);
  EXPECT_EQ(mailbox.push_urgent(&items[2]), Mailbox::Push::kQueued);
  EXPECT_FALSE(mailbox.go_held()) << "urgent entries came";
  EXPECT_EQ(mailbox.take(), &items[0]);
}

TEST(MailboxTest, IdleFailsWhileUrgentEntriesAreThere) {  // MB-1
  Mailbox mailbox;
  Item item;
  mailbox.push_urgent(&item);
  EXPECT_FALSE(mailbox.go_idle());
  mailbox.collect_urgent();
  EXPECT_FALSE(mailbox.go_idle()) << "collected, not taken";
  EXPECT_EQ(mailbox.take_urgent(), &item);
  EXPECT_TRUE(mailbox.go_idle());
}

TEST(MailboxTest, CloseReturnsTheRestInOrderAndTakesNothingMore) {
  Mailbox mailbox;
  std::array<Item, 5> items{Item(0), Item(1), Item(2), Item(3), Item(4)};
  for (int i = 0; i < 3; ++i) mailbox.push(&items[i]);
  EXPECT_EQ(number_of(mailbox.take()), 0);
  mailbox.push(&items[3]);
  Mailbox::Rest rest = mailbox.close();
  for (int i = 1; i < 4; ++i) EXPECT_EQ(rest.messages.pop(), &items[i]);
  EXPECT_TRUE(rest.messages.empty());
  EXPECT_EQ(mailbox.push(&items[4]), Mailbox::Push::kClosed) << "MB-4";
  EXPECT_EQ(mailbox.push_urgent(&items[4]), Mailbox::Push::kClosed) << "MB-4";
}

// Real threads: the races between pushes and going idle or held are the point. "Scheduling" is a
// counter that must be 0 or 1; the thread that raises it runs the owner's part right there.
TEST(MailboxStressTest, NothingIsLostOrDoubledAndOneOwnerRuns) {
  constexpr int kSenders = 4;
  constexpr int kEach = 20'000;
  Mailbox mailbox;
  std::atomic<int> owners{1};
  std::array<int, kSenders> next{};
  std::atomic<int> taken{0};
  const auto own = [&] {
    for (;;) {
      mailbox.collect_urgent();
      while (Work* work = mailbox.take_urgent()) {
        std::unique_ptr<Item> item(static_cast<Item*>(work));
        taken.fetch_add(1);
      }
      while (Envelope* envelope = mailbox.take()) {
        std::unique_ptr<Item> item(static_cast<Item*>(envelope));
        EXPECT_EQ(item->number, next[item->sender]++) << "MB-3";
        taken.fetch_add(1);
      }
      EXPECT_EQ(owners.fetch_sub(1), 1) << "MB-2";
      if (mailbox.go_idle()) return;
      owners.fetch_add(1);
    }
  };
  const auto after = [&](Mailbox::Push push) {
    if (push != Mailbox::Push::kWake) return;
    EXPECT_EQ(owners.fetch_add(1), 0) << "MB-2";
    own();
  };
  own();
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      for (int i = 0; i < kEach; ++i) {
        after(mailbox.push(new Item(i, s)));
        if (i % 8 == s) after(mailbox.push_urgent(new Item(i, s)));
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(taken.load(), kSenders * (kEach + kEach / 8));
}

}  // namespace
}  // namespace millrace::actors
