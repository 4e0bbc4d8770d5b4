#include "millrace/tools/launch/rank_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace millrace::launch {
namespace {

constexpr std::chrono::hours kForEver(1);

TimePoint after(Duration time) { return steady_clock().now() + time; }

// The state of the first thread: Z once it has ended, though another thread lives.
char state_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string stat(std::istreambuf_iterator<char>(file), {});
  return stat[stat.rfind(')') + 2];
}

RankProcess process_of(int pid) {
  RankProcess process;
  process.pid = pid;
  process.end = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return process;
}

TEST(RankProcessTest, AProcessThatIsNotEndingIsNotWaitedFor) {
  const int pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  const RankProcess process = process_of(pid);
  EXPECT_FALSE(end_of_ending(process, after(kForEver)));
  ::kill(pid, SIGKILL);
  EXPECT_EQ(reap(process).signal, SIGKILL);
}

TEST(RankProcessTest, AProcessThatIsEndingIsWaitedForUntilTheDeadline) {
#if defined(MILLRACE_TSAN)
  GTEST_SKIP() << "a thread in a fork's child";
#endif
  int line[2];
  ASSERT_EQ(::pipe(line), 0);
  const int pid = ::fork();
  if (pid == 0) {
    std::thread([&line] {
      char byte = 0;
      ::_exit(::read(line[0], &byte, 1) == 1 ? 3 : 4);
    }).detach();
    ::syscall(SYS_exit, 0);  // of this thread alone
  }
  const RankProcess process = process_of(pid);
  while (state_of(pid) != 'Z') std::this_thread::yield();
  EXPECT_FALSE(end_of(process));
  EXPECT_FALSE(end_of_ending(process, after(std::chrono::milliseconds(1))));
  ASSERT_EQ(::write(line[1], "x", 1), 1);
  const std::optional<ProcessEnd> end = end_of_ending(process, after(kForEver));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit, 3);
  EXPECT_EQ(reap(process).exit, 3);
  ::close(line[0]);
  ::close(line[1]);
}

}  // namespace
}  // namespace millrace::launch
