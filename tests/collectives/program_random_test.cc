// Random programs of three processes, on a network of a seed's: every take gets the right bytes,
// and every launch ends when a process is killed, or closes.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "millrace/collectives/program_links.h"
#include "tests/collectives/sim_programs.h"

namespace millrace::collectives {
namespace {

using testing::for_each_seed;
using testing::SimFaults;
using testing::SimPrograms;
using testing::Simulation;

constexpr std::uint32_t kProcesses = 3;
constexpr int kLaunches = 8;

struct Message {
  int edge = 0;
  int from = 0;
  int to = 0;
  std::size_t size = 0;
};

// In an order in which they can all be given and taken: that of the list.
std::vector<Message> random_messages(Simulation& sim) {
  std::vector<Message> messages(1 + sim.below(12));
  for (Message& message : messages) {
    message.edge = static_cast<int>(sim.below(3));
    message.from = static_cast<int>(sim.below(kProcesses));
    message.to = static_cast<int>((static_cast<std::uint64_t>(message.from) + 1 + sim.below(2)) %
                                  kProcesses);
    message.size = sim.chance(0.1) ? sim.below(50'000) : sim.below(500);
  }
  return messages;
}

// What one process does in one launch.
class Run {
 public:
  Run(Simulation& sim, SimPrograms::Launch launch, const std::vector<Message>& messages,
      int process, int number)
      : sim_(sim),
        launch_(std::move(launch)),
        messages_(messages),
        self_(process),
        number_(number) {}

  void start() {
    post(sim_.executor(), [this] { step(); });
  }
  const Future<void>& ended() const { return ended_; }
  std::string to_string() const {
    return "process " + std::to_string(self_) + " in launch " + std::to_string(number_) +
           (begun_ ? ", message " + std::to_string(at_) : ", not begun") + ", waits for " +
           launch_->waits_for();
  }

 private:
  std::string content(std::size_t at) const {
    std::string text(messages_[at].size, '.');
    for (std::size_t i = 0; i < text.size(); ++i)
      text[i] = static_cast<char>(at * 31 + i * 7 + static_cast<std::size_t>(number_) * 101);
    return text;
  }
  void step() {
    const Result<bool> done = go_on();
    if (done && !*done) return launch_->await([this] { start(); });
    launch_->end(done ? Status() : Status(std::unexpected(done.error())));
    promise_.set(done ? Result<void>() : Result<void>(std::unexpected(done.error())));
  }
  Result<bool> go_on() {
    if (!begun_) {
      MILLRACE_TRY(begun_, launch_->begin());
      if (!begun_) return false;
    }
    for (; at_ < messages_.size(); ++at_) {
      const Message& message = messages_[at_];
      if (message.from == self_) {
        MILLRACE_TRY_STATUS(SimPrograms::give(launch_, message.edge, message.to, content(at_)));
      } else if (message.to == self_) {
        std::string text(message.size, '?');
        MILLRACE_TRY(const bool taken, launch_->take(message.edge, message.from,
                                                     std::as_writable_bytes(std::span(text))));
        if (!taken) return false;
        EXPECT_EQ(text, content(at_)) << "PL-1";
      }
    }
    return true;
  }

  Simulation& sim_;
  const SimPrograms::Launch launch_;
  const std::vector<Message>& messages_;
  const int self_;
  const int number_;
  bool begun_ = false;
  std::size_t at_ = 0;
  Promise<void> promise_;
  const Future<void> ended_ = promise_.future();
};

enum class What : std::uint8_t { kNothing, kKill, kClose };

void run_random(Simulation& sim, What what) {
  SimPrograms job(
      sim, kProcesses,
      SimFaults{.stalls = sim.chance(0.3) ? 0.05 : 0, .most_room = 300 + sim.below(5000)},
      {.max_payload = 8192 + sim.below(2000)});
  const std::vector<Message> messages = random_messages(sim);
  std::vector<std::unique_ptr<Run>> runs;
  for (std::uint32_t p = 0; p < kProcesses; ++p) {
    const auto link = job.open(p);
    for (int number = 0; number < kLaunches; ++number) {
      runs.push_back(
          std::make_unique<Run>(sim, link->next_launch(), messages, static_cast<int>(p), number));
    }
  }
  for (const auto& run : runs) {
    if (sim.chance(0.1)) sim.run_for(std::chrono::microseconds(sim.below(3000)));
    run->start();
  }
  if (what != What::kNothing) {
    sim.run_for(std::chrono::microseconds(sim.below(30'000)));
    const auto process = static_cast<std::size_t>(sim.below(kProcesses));
    if (what == What::kKill) job.kill(process);
    if (what == What::kClose) job.close(process).ignore();
  }
  sim.on_stuck([&runs] {
    std::string text;
    for (const auto& run : runs)
      if (!run->ended().ready()) text += run->to_string() + "\n";
    return text;
  });
  for (const auto& run : runs) {
    const auto ended = sim.run(run->ended());
    if (ended) continue;
    const ErrorCode code = ended.error().code();
    EXPECT_TRUE((what != What::kNothing && code == ErrorCode::kUnavailable) ||
                (what == What::kClose && code == ErrorCode::kCancelled))
        << ended.error().to_string();
  }
  sim.finish();
}

TEST(ProgramRandomTest, EveryTakeGetsTheRightBytes) {
  for_each_seed(500, [](Simulation& sim) { run_random(sim, What::kNothing); });
}

TEST(ProgramRandomTest, EveryLaunchEndsWhenAProcessIsKilled) {  // PL-3, PL-4
  for_each_seed(500, [](Simulation& sim) { run_random(sim, What::kKill); });
}

TEST(ProgramRandomTest, EveryLaunchEndsWhenAProcessCloses) {  // PL-6
  for_each_seed(200, [](Simulation& sim) { run_random(sim, What::kClose); });
}

}  // namespace
}  // namespace millrace::collectives
