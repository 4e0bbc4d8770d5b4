#include "millrace/actors/admission.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace millrace::actors {
namespace {

using Verdict = Admission::Verdict;
constexpr MessageType kType{"test", false};

class Item final : public Envelope {
 public:
  explicit Item(std::size_t bytes) : Envelope(kType, bytes) {}
  bool deliver(ActorCell&, Actor&) override { return false; }
  void reject(const Error&) noexcept override {}
  void answer(AsyncValue&) noexcept override {}
};

TEST(AdmissionTest, AdmitsUpToTheLimitAndNotMore) {
  Admission admission(100, 1000);
  EXPECT_EQ(admission.try_admit(60), Verdict::kAdmitted);
  EXPECT_EQ(admission.try_admit(41), Verdict::kFull) << "AD-1";
  EXPECT_EQ(admission.try_admit(35), Verdict::kAdmitted);
  EXPECT_EQ(admission.try_admit(5), Verdict::kAdmitted);
  EXPECT_EQ(admission.load().messages, 3u);
  EXPECT_EQ(admission.load().bytes, 100u);
  EXPECT_FALSE(admission.release(5));
  EXPECT_EQ(admission.load().messages, 2u) << "done, though its room is not released yet";
  EXPECT_EQ(admission.load().bytes, 95u);
  EXPECT_EQ(admission.try_admit(5), Verdict::kFull);
  EXPECT_FALSE(admission.flush());
  EXPECT_EQ(admission.try_admit(5), Verdict::kAdmitted);
  EXPECT_FALSE(admission.release(60));
  EXPECT_EQ(admission.try_admit(60), Verdict::kAdmitted) << "so much room is released at once";
}

TEST(AdmissionTest, OneMessageAloneAlwaysFits) {
  Admission admission(100, 1000);
  EXPECT_EQ(admission.try_admit(5000), Verdict::kAdmitted) << "AD-1";
  EXPECT_EQ(admission.try_admit(1), Verdict::kFull);
  admission.release(5000);
  admission.flush();
  EXPECT_TRUE(admission.empty());
}

TEST(AdmissionTest, RoomIsReleasedAfterSomeMessagesWithoutAFlush) {
  Admission admission(100, 1000);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(admission.try_admit(1), Verdict::kAdmitted);
  EXPECT_EQ(admission.try_admit(1), Verdict::kFull);
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(admission.release(1));
  EXPECT_EQ(admission.try_admit(30), Verdict::kAdmitted);
  EXPECT_EQ(admission.load().messages, 51u);
}

TEST(AdmissionTest, NoMessageOvertakesAWaitingOne) {
  Admission admission(100, 1000);
  Item large(90);
  Item small(5);
  EXPECT_EQ(admission.try_admit(50), Verdict::kAdmitted);
  EXPECT_EQ(admission.wait(&large), Verdict::kWaiting);
  EXPECT_EQ(admission.try_admit(5), Verdict::kFull) << "AD-2";
  EXPECT_EQ(admission.wait(&small), Verdict::kWaiting) << "AD-2";
  EXPECT_TRUE(admission.release(50));
  EXPECT_EQ(admission.next_waiting(), &large);
  EXPECT_EQ(admission.next_waiting(), &small);
  EXPECT_EQ(admission.next_waiting(), nullptr);
  EXPECT_EQ(admission.try_admit(5), Verdict::kAdmitted) << "no message waits any more";
}

TEST(AdmissionTest, WaitingEndsWhenTheFirstFitsAndContinuesAfterIt) {
  Admission admission(100, 1000);
  Item first(80);
  Item second(80);
  admission.try_admit(60);
  admission.try_admit(30);
  EXPECT_EQ(admission.wait(&first), Verdict::kWaiting);
  EXPECT_EQ(admission.wait(&second), Verdict::kWaiting);
  EXPECT_TRUE(admission.release(60));
  EXPECT_EQ(admission.next_waiting(), nullptr) << "80 do not fit beside 30";
  EXPECT_TRUE(admission.release(30));
  EXPECT_EQ(admission.next_waiting(), &first);
  EXPECT_EQ(admission.next_waiting(), nullptr);
  EXPECT_TRUE(admission.release(80)) << "AD-3";
  EXPECT_EQ(admission.next_waiting(), &second);
}

TEST(AdmissionTest, WaitAdmitsAtOnceWhereThereIsRoom) {
  Admission admission(100, 1000);
  Item item(10);
  EXPECT_EQ(admission.wait(&item), Verdict::kAdmitted);
  EXPECT_FALSE(admission.release(10));
}

TEST(AdmissionTest, TheLineItselfIsBounded) {
  Admission admission(100, 150);
  Item first(200);
  Item second(1);
  admission.try_admit(100);
  EXPECT_EQ(admission.wait(&first), Verdict::kWaiting) << "one may always wait";
  EXPECT_EQ(admission.load().waiting_bytes, 200u);
  EXPECT_EQ(admission.wait(&second), Verdict::kFull);
}

// The envelope of a tell that may be withdrawn; the line owns it and deletes it.
class Given final : public Envelope {
 public:
  Given(std::size_t bytes, int& alive) : Envelope(kType, bytes), alive_(alive) {
    accepted = make_ref<Cell<void>>();
    ++alive_;
  }
  ~Given() override { --alive_; }
  bool deliver(ActorCell&, Actor&) override { return false; }
  void reject(const Error&) noexcept override {}
  void answer(AsyncValue&) noexcept override {}

 private:
  int& alive_;
};

TEST(AdmissionTest, WithdrawnMessageLeavesTheLineAndTheOthersStayInOrder) {
  Admission admission(100, 1000);
  admission.try_admit(100);
  int alive = 0;
  std::vector<Given*> all;
  for (int i = 0; i < 9; ++i) {
    all.push_back(new Given(50, alive));
    EXPECT_EQ(admission.wait(all.back()), Verdict::kWaiting);
  }
  for (const int gone : {0, 3, 4, 7, 8}) {  // the first and the last among them
    const Ref<Cell<void>> accepted = all[static_cast<std::size_t>(gone)]->accepted;
    accepted->set({});
    admission.withdraw();
  }
  EXPECT_EQ(alive, 4) << "AD-4: they are more than half";
  EXPECT_EQ(admission.load().waiting_bytes, 200u);
  all.push_back(new Given(50, alive));
  EXPECT_EQ(admission.wait(all.back()), Verdict::kWaiting);
  EXPECT_TRUE(admission.release(100));
  for (const int left : {1, 2}) {
    Envelope* const next = admission.next_waiting();
    EXPECT_EQ(next, all[static_cast<std::size_t>(left)]);
    delete next;
  }
  EXPECT_EQ(admission.next_waiting(), nullptr) << "two of 50 fill it";
  admission.release(50);
  admission.release(50);
  admission.flush();
  for (const int left : {5, 6}) {
    Envelope* const next = admission.next_waiting();
    EXPECT_EQ(next, all[static_cast<std::size_t>(left)]);
    delete next;
  }
  WorkQueue rest = admission.close();
  while (Work* left = rest.pop()) {
    EXPECT_EQ(left, all.back());
    left->drop();
  }
  EXPECT_EQ(alive, 0);
}

TEST(AdmissionTest, WithdrawnMessageTakesNoRoomFromOthersInAFullLine) {
  Admission admission(100, 200);
  admission.try_admit(100);
  int alive = 0;
  std::vector<Given*> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(new Given(50, alive));
    EXPECT_EQ(admission.wait(all.back()), Verdict::kWaiting);
  }
  Item item(50);
  EXPECT_EQ(admission.wait(&item), Verdict::kFull);
  all[2]->accepted->set({});
  admission.withdraw();
  EXPECT_EQ(alive, 4) << "one of four: the line is not searched yet";
  EXPECT_EQ(admission.wait(&item), Verdict::kWaiting);
  EXPECT_EQ(alive, 3);
  EXPECT_EQ(admission.load().waiting_bytes, 200u);
  WorkQueue rest = admission.close();
  while (Work* left = rest.pop()) {
    if (left != &item) left->drop();
  }
  EXPECT_EQ(alive, 0);
}

TEST(AdmissionTest, LineOfWithdrawnMessagesIsEmptyAndAdmitsTheNext) {
  Admission admission(100, 1000);
  admission.try_admit(100);
  int alive = 0;
  auto* const only = new Given(50, alive);
  EXPECT_EQ(admission.wait(only), Verdict::kWaiting);
  const Ref<Cell<void>> accepted = only->accepted;
  accepted->set({});
  admission.withdraw();
  EXPECT_EQ(alive, 0);
  Item item(50);
  EXPECT_EQ(admission.wait(&item), Verdict::kWaiting) << "AD-1: there is no room yet";
  EXPECT_TRUE(admission.release(100)) << "AD-3";
  EXPECT_EQ(admission.next_waiting(), &item);
  EXPECT_EQ(admission.next_waiting(), nullptr);
}

TEST(AdmissionTest, NoticesNeedNoRoom) {
  Admission admission(100, 0);
  admission.try_admit(100);
  EXPECT_EQ(admission.admit_anyway(1000), Verdict::kAdmitted);
  EXPECT_EQ(admission.load().bytes, 1100u);
}

TEST(AdmissionTest, CloseRefusesAndReturnsTheWaitingMessagesInOrder) {
  Admission admission(100, 1000);
  Item first(60);
  Item second(60);
  admission.try_admit(60);
  admission.wait(&first);
  admission.wait(&second);
  WorkQueue waiting = admission.close();
  EXPECT_EQ(waiting.pop(), &first);
  EXPECT_EQ(waiting.pop(), &second);
  EXPECT_TRUE(waiting.empty());
  EXPECT_EQ(admission.try_admit(1), Verdict::kClosed);
  EXPECT_EQ(admission.admit_anyway(1), Verdict::kClosed);
  EXPECT_EQ(admission.wait(&first), Verdict::kClosed);
  EXPECT_FALSE(admission.release(60)) << "no message waits";
}

}  // namespace
}  // namespace millrace::actors
