#include "millrace/core/base/intrusive_stack.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace millrace {
namespace {

struct Entry {
  int thread = 0;
  int number = 0;
  Entry* next = nullptr;
};
using Stack = IntrusiveStack<Entry, &Entry::next>;
constexpr Stack::Word kEmpty = 0, kAsleep = 1, kClosed = 2;

TEST(IntrusiveStackTest, EntriesComeOutTheOldestFirst) {
  Stack stack(kAsleep);
  std::array<Entry, 3> entries{Entry{0, 0}, Entry{0, 1}, Entry{0, 2}};
  EXPECT_EQ(stack.push(&entries[0], kClosed), kAsleep);
  EXPECT_FALSE(stack.replace(kAsleep, kEmpty)) << "an entry stands there";
  EXPECT_TRUE(Stack::holds_entries(stack.push(&entries[1], kClosed)));
  stack.push(&entries[2], kClosed);
  const Entry* entry = Stack::oldest_first(stack.exchange(kEmpty));
  for (int i = 0; i < 3; ++i, entry = entry->next) EXPECT_EQ(entry->number, i);
  EXPECT_EQ(entry, nullptr);
  EXPECT_EQ(Stack::oldest_first(stack.exchange(kEmpty)), nullptr);
}

TEST(IntrusiveStackTest, AClosedStackTakesNothing) {
  Stack stack;
  Entry entry;
  EXPECT_TRUE(stack.replace(kEmpty, kClosed));
  EXPECT_EQ(stack.push(&entry, kClosed), kClosed);
  EXPECT_EQ(stack.word(), kClosed);
}

// Real threads, because the question is whether pushes and takes that meet lose anything.
TEST(IntrusiveStackStressTest, NothingIsLostAndEachThreadKeepsItsOrder) {
  constexpr int kThreads = 3, kEntries = 20000;
  Stack stack;
  std::vector<std::vector<Entry>> entries(kThreads, std::vector<Entry>(kEntries));
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEntries; ++i) {
        entries[t][i] = {t, i, nullptr};
        stack.push(&entries[t][i], kClosed);
      }
    });
  }
  std::array<int, kThreads> seen{};
  for (int left = kThreads * kEntries; left > 0;) {
    for (const Entry* e = Stack::oldest_first(stack.exchange(kEmpty)); e != nullptr; e = e->next) {
      ASSERT_EQ(e->number, seen[e->thread]++);
      --left;
    }
  }
}

}  // namespace
}  // namespace millrace
