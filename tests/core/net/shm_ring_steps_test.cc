// Every order in which the steps of both ends of a ring can come.
//
// Both ends run the code of shm_ring.h on words whose every access is a step. A step is made by
// running its end from the start once more: accesses that were made give what they gave, the first
// new one is made, and the second new one stops the run. So two states that look alike are one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "millrace/core/net/shm_ring.h"

namespace millrace::net {
namespace {

struct Stop {};

struct Memory {
  std::array<std::uint64_t, 8> words = {};
  std::array<std::uint64_t, 2> bytes =
      {};               // in the socket: to the reader or the first, to the other
  bool closed = false;  // the writer's end of it
  auto operator<=>(const Memory&) const = default;
};

using Log = std::vector<std::uint64_t>;

struct Steps {
  Memory& memory;
  Log& log;
  std::size_t at = 0;
  bool stepped = false;
  // can: whether the step can be made now.
  template <class Access>
  std::uint64_t step(const Access& access, bool can = true) {
    if (at < log.size()) return log[at++];
    if (stepped || !can) throw Stop();
    stepped = true;
    log.push_back(access(memory));
    return log[at++];
  }
};

struct SteppedWord {
  Steps& steps;
  std::size_t index;
  std::uint64_t load() const {
    return steps.step([this](Memory& m) { return m.words[index]; });
  }
  void store(std::uint64_t value) {
    steps.step([this, value](Memory& m) { return m.words[index] = value; });
  }
  std::uint64_t exchange(std::uint64_t value) {
    return steps.step([this, value](Memory& m) { return std::exchange(m.words[index], value); });
  }
};

void wake(Steps& steps, std::size_t who) {
  steps.step([who](Memory& m) { return ++m.bytes[who]; });
}

// Takes the bytes that are there; gives how many.
std::uint64_t sleep(Steps& steps, std::size_t who) {
  const bool wakes = steps.memory.bytes[who] > 0 || (who == 0 && steps.memory.closed);
  return steps.step([who](Memory& m) { return std::exchange(m.bytes[who], 0); }, wakes);
}

// What the streams do, of one direction: write, or sleep until there is room, and close at the end.
void write_all(Steps& steps, std::size_t size, std::size_t left) {
  RingWords<SteppedWord> words{{steps, 0}, {steps, 1}, {steps, 2}, {steps, 3}};
  RingWriter writer(words, size);
  std::uint64_t woken = 0;
  while (left > 0) {
    const std::size_t room = std::min(writer.room(1).value(), left);
    if (room > 0) {
      left -= room;
      if (writer.publish(room)) wake(steps, 0);
      continue;
    }
    while (writer.may_sleep().value()) {
      woken += sleep(steps, 1);
      EXPECT_LE(woken, writer.asked());  // SR-3
    }
  }
  steps.step([](Memory& m) { return m.closed = true; });
}

// Reads one byte at a time until the other end has closed; gives how many there were.
std::size_t read_all(Steps& steps, std::size_t size) {
  RingWords<SteppedWord> words{{steps, 0}, {steps, 1}, {steps, 2}, {steps, 3}};
  RingReader reader(words, size);
  std::size_t read = 0;
  std::uint64_t woken = 0;
  for (bool gone = false;;) {
    if (reader.available().value() > 0) {
      ++read;
      if (reader.release(1)) wake(steps, 1);
      continue;
    }
    if (gone) return read;
    while (!gone && reader.may_sleep().value()) {
      woken += sleep(steps, 0);
      EXPECT_LE(woken, reader.asked());  // SR-3
      gone = steps.step([](Memory& m) { return m.closed ? 1u : 0u; }) != 0;
    }
  }
}

// Both at once, as an end does that has one socket for its two waits.
void talk(Steps& steps, std::size_t end, std::size_t to_write, std::size_t to_read) {
  const auto words = [&steps](std::size_t ring) {
    const std::size_t first = 4 * ring;
    return RingWords<SteppedWord>{
        {steps, first}, {steps, first + 1}, {steps, first + 2}, {steps, first + 3}};
  };
  RingWords<SteppedWord> out = words(end), in = words(1 - end);
  RingWriter writer(out, 1);
  RingReader reader(in, 1);
  std::uint64_t woken = 0;
  while (to_write + to_read > 0) {
    if (to_write > 0 && writer.room(1).value() > 0) {
      --to_write;
      if (writer.publish(1)) wake(steps, 1 - end);
    } else if (to_read > 0 && reader.available().value() > 0) {
      --to_read;
      if (reader.release(1)) wake(steps, 1 - end);
    } else {
      const bool reads_sleep = to_read == 0 || reader.may_sleep().value();
      const bool writes_sleep = to_write == 0 || writer.may_sleep().value();
      if (!reads_sleep || !writes_sleep) continue;
      woken += sleep(steps, end);
      EXPECT_LE(woken, writer.asked() + reader.asked());  // SR-3
    }
  }
}

using State = std::tuple<Memory, Log, Log>;
using End = std::function<void(Steps&)>;
enum class Step { kNone, kMade, kEnded };

Step advance(State& state, std::size_t number, const End& end) {
  auto& [memory, first, second] = state;
  Steps steps{memory, number == 0 ? first : second};
  try {
    end(steps);
  } catch (const Stop&) {
    return steps.stepped ? Step::kMade : Step::kNone;
  }
  return steps.stepped ? Step::kMade : Step::kEnded;
}

// Every order of the steps of both ends.
void try_all(const std::array<End, 2>& ends) {
  std::set<State> seen = {State()};
  std::vector<State> left = {State()};
  bool all_ended = false;
  while (!left.empty()) {
    const State state = std::move(left.back());
    left.pop_back();
    bool moved = false, ended = true;
    for (std::size_t number = 0; number < 2; ++number) {
      State next = state;
      const Step step = advance(next, number, ends[number]);
      ended = ended && step == Step::kEnded;
      moved = moved || step == Step::kMade;
      if (step == Step::kMade && seen.insert(next).second) left.push_back(std::move(next));
    }
    all_ended = all_ended || ended;
    ASSERT_TRUE(moved || ended) << "an end sleeps for ever, after " << seen.size() << " states";
  }
  EXPECT_TRUE(all_ended);
}

TEST(ShmRingTest, NoOrderOfStepsLosesAWakeUpOrAByteBeforeTheEnd) {  // SR-2, SR-3
  for (const auto& [size, bytes] : {std::pair{1u, 2u}, std::pair{2u, 3u}, std::pair{4u, 5u}}) {
    try_all({[=](Steps& steps) { write_all(steps, size, bytes); },
             [=](Steps& steps) { EXPECT_EQ(read_all(steps, size), bytes); }});
  }
}

TEST(ShmRingTest, NoOrderOfStepsLosesAWakeUpWhereBothWaitsShareASocket) {  // SR-2, SR-3
  try_all({[](Steps& steps) { talk(steps, 0, 2, 0); }, [](Steps& steps) { talk(steps, 1, 0, 2); }});
  try_all({[](Steps& steps) { talk(steps, 0, 1, 1); }, [](Steps& steps) { talk(steps, 1, 1, 1); }});
  try_all({[](Steps& steps) { talk(steps, 0, 2, 1); }, [](Steps& steps) { talk(steps, 1, 1, 2); }});
}

}  // namespace
}  // namespace millrace::net
