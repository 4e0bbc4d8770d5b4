// Real processes, because those are what is tested.
#include "millrace/tools/child/in_child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace millrace {
namespace {

using ::testing::HasSubstr;

constexpr double kPatience = 500;  // seconds, for what is not to wait

TEST(InChildTest, AnswerComesBackWhateverItsBytes) {
  const std::string bytes("a\0\n\xff", 4);
  const ChildEnd end = in_child([&] { return std::string(bytes); }, kPatience);
  EXPECT_EQ(end.answer, bytes);
  EXPECT_EQ(end.why_not, "");
  EXPECT_EQ(in_child([] { return std::string(); }, kPatience).answer, "");
}

TEST(InChildTest, LongestAnswerComesBackAndALongerOneIsRefused) {
  const std::string longest(kMostAnswerBytes, 'x');
  EXPECT_TRUE(in_child([&] { return std::string(longest); }, kPatience).answer == longest);
  const ChildEnd end = in_child([&] { return longest + "y"; }, kPatience);
  EXPECT_FALSE(end.answer);
  EXPECT_EQ(end.why_not, "its answer has 16777217 bytes, and may have 16777216");
}

TEST(InChildTest, WorkLeavesNothingInThisProcess) {
  int touched = 0;
  const pid_t here = ::getpid();
  const ChildEnd end = in_child(
      [&] {
        touched = 1;
        return std::to_string(::getpid() == here ? 1 : 0);
      },
      kPatience);
  EXPECT_EQ(end.answer, "0");
  EXPECT_EQ(touched, 0);
}

TEST(InChildTest, ItsStreamsAreWordsAndNotTheCallers) {
  std::fflush(stdout);  // or what is not written yet is the child's as well
  const ChildEnd end = in_child(
      [] {
        std::fputs("to stdout\n", stdout);
        std::fflush(stdout);
        std::fputs("to stderr\n", stderr);
        return std::string("answer");
      },
      kPatience);
  EXPECT_EQ(end.answer, "answer");
  EXPECT_EQ(end.words, "to stdout\nto stderr\n");
}

TEST(InChildTest, TheLastOfManyWordsAreKept) {
  std::fflush(stdout);  // as above: the thread sanitizer's _exit() writes it
  const ChildEnd end = in_child(
      [] {
        for (int i = 0; i < 100'000; ++i) std::fprintf(stderr, "line %d\n", i);
        return std::string();
      },
      kPatience);
  EXPECT_EQ(end.words.size(), std::size_t{64} << 10);
  EXPECT_EQ(last_line(end.words), "line 99999");
}

TEST(InChildTest, EveryEndWithoutAnAnswerIsNamed) {
  const auto why_not = [](const std::function<std::string()>& work) {
    const ChildEnd end = in_child(work, kPatience);
    EXPECT_FALSE(end.answer);
    return end.why_not;
  };
  EXPECT_EQ(why_not([]() -> std::string { ::_exit(3); }), "the process ended with status 3");
  EXPECT_EQ(why_not([]() -> std::string { ::_exit(0); }), "the process ended with status 0");
  EXPECT_EQ(why_not([]() -> std::string {
              ::raise(SIGKILL);
              return {};
            }),
            "the process was killed by SIGKILL");
  const ChildEnd thrown =
      in_child([]() -> std::string { throw std::runtime_error("thrown by the work"); }, kPatience);
  EXPECT_EQ(thrown.why_not, "the process was killed by SIGABRT");
  EXPECT_THAT(thrown.words, HasSubstr("thrown by the work"));
}

TEST(InChildTest, WorkThatDoesNotEndIsEndedAtTheDeadline) {
  const ChildEnd end = in_child(
      []() -> std::string {
        while (true) ::pause();
      },
      0.25);
  EXPECT_FALSE(end.answer);
  EXPECT_EQ(end.why_not, "no answer within 0.25 s");
}

TEST(InChildTest, AnswerOfWorkThatClosesEveryDescriptorComesBack) {
  const ChildEnd end = in_child(
      [] {
        for (int descriptor = 0; descriptor < 1024; ++descriptor) ::close(descriptor);
        return std::string("there");
      },
      kPatience);
  EXPECT_EQ(end.answer, "there");
}

TEST(InChildTest, WhereTheCallerIgnoresItsChildrenTheirEndIsReportedAllTheSame) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(in_child([] { return std::string("there"); }, kPatience).answer, "there");
  const ChildEnd end = in_child([]() -> std::string { ::_exit(3); }, kPatience);
  // The work finds the signal as the caller has it.
  const ChildEnd seen = in_child(
      [] {
        struct sigaction action{};
        ::sigaction(SIGCHLD, nullptr, &action);
        return std::string(action.sa_handler == SIG_IGN ? "ignored" : "not ignored");
      },
      kPatience);
  ::signal(SIGCHLD, before);
  EXPECT_EQ(end.why_not, "the process ended with status 3");
  EXPECT_EQ(seen.answer, "ignored");
}

// As in a container whose first process this is: the orphans of its older children become its own.
TEST(InChildTest, AnOrphanOfAnOlderChildOfThisProcessRunsOn) {
  int before = 0;
  ASSERT_EQ(::prctl(PR_GET_CHILD_SUBREAPER, &before), 0);
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ready[2], go[2], orphaned[2], there[2], back[2];
  for (int* ends : {ready, go, orphaned, there, back}) ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t older = ::fork();
  if (older == 0) {
    char byte = 0;
    if (::fork() != 0) ::_exit(::read(go[0], &byte, 1) == 1 ? 0 : 1);
    sigset_t end_of_parent;
    ::sigemptyset(&end_of_parent);
    ::sigaddset(&end_of_parent, SIGUSR1);
    ::sigprocmask(SIG_BLOCK, &end_of_parent, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGUSR1);
    int number = 0;
    const bool told = ::write(ready[1], &byte, 1) == 1 && ::sigwait(&end_of_parent, &number) == 0 &&
                      ::write(orphaned[1], &byte, 1) == 1;
    ::close(there[1]);
    if (told && ::read(there[0], &byte, 1) == 1 && ::write(back[1], &byte, 1) == 1) ::_exit(0);
    ::_exit(1);
  }
  ASSERT_GT(older, 0);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const ChildEnd end = in_child(
      [&]() -> std::string {
        char of_work = 0;
        const bool done = ::write(go[1], &of_work, 1) == 1 && ::read(orphaned[0], &of_work, 1) == 1;
        return done ? "orphaned" : "";
      },
      kPatience);
  EXPECT_EQ(end.answer, "orphaned");
  ::close(back[1]);
  byte = 'x';
  EXPECT_EQ(::write(there[1], &byte, 1), 1);
  byte = 0;
  EXPECT_EQ(::read(back[0], &byte, 1), 1) << "it was ended";
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(::waitpid(older, nullptr, 0), older);
  EXPECT_GT(::waitpid(-1, nullptr, 0), 0);  // the orphan, which is this process's by now
  ::prctl(PR_SET_CHILD_SUBREAPER, before);
  for (int* ends : {ready, go, orphaned, there}) ::close(ends[1]);
  for (int* ends : {ready, go, orphaned, there, back}) ::close(ends[0]);
}

// A caller that is killed meanwhile: of its work nothing is left either.
TEST(InChildTest, WhatTheWorkStartedEndsWithACallerThatIsKilled) {
  int ends[2], there[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(there, O_CLOEXEC), 0);
  const pid_t caller = ::fork();
  if (caller == 0) {
    in_child(
        [&]() -> std::string {
          if (::fork() == 0) ::setsid();
          const bool told = ::write(there[1], "x", 1) == 1;
          while (told) ::pause();
          return {};
        },
        kPatience);
    ::_exit(0);
  }
  ASSERT_GT(caller, 0);
  char bytes[2];
  for (char& byte : bytes) ASSERT_EQ(::read(there[0], &byte, 1), 1);
  ::kill(caller, SIGKILL);
  EXPECT_EQ(::waitpid(caller, nullptr, 0), caller);
  ::close(ends[1]);
  pollfd polled{.fd = ends[0], .events = POLLIN};
  EXPECT_EQ(::poll(&polled, 1, 300'000), 1) << "a process is left";
  EXPECT_TRUE((polled.revents & POLLHUP) != 0);
  for (const int descriptor : {ends[0], there[0], there[1]}) ::close(descriptor);
}

// The pipe's end is closed when no process is left that has it.
TEST(InChildTest, ProcessesThatItLeavesBehindEndWithIt) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const ChildEnd end = in_child(
      [] {
        if (::fork() == 0) {
          while (true) ::pause();
        }
        return std::string("left one");
      },
      kPatience);
  EXPECT_EQ(end.answer, "left one");
  ::close(ends[1]);
  pollfd polled{.fd = ends[0], .events = POLLIN};
  EXPECT_EQ(::poll(&polled, 1, 300'000), 1) << "a process is left";
  EXPECT_TRUE((polled.revents & POLLHUP) != 0);
  ::close(ends[0]);
}

// Also those that have left its group and session, however deep, after a crash of the child and at
// the deadline.
TEST(InChildTest, DaemonsThatItLeavesBehindEndWithIt) {
  enum class End { kAnswers, kCrashes, kHangs };
  for (const End how : {End::kAnswers, End::kCrashes, End::kHangs}) {
    int ends[2], there[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(there, O_CLOEXEC), 0);
    const ChildEnd end = in_child(
        [&]() -> std::string {
          if (::fork() == 0) {
            ::setsid();
            if (::fork() != 0) ::_exit(0);
            const bool told = ::write(there[1], "x", 1) == 1;
            while (told) ::pause();
          }
          char byte = 0;
          const bool came = ::read(there[0], &byte, 1) == 1;
          if (how == End::kCrashes) ::raise(SIGKILL);
          while (how == End::kHangs) ::pause();
          return came ? "left one" : "";
        },
        how == End::kHangs ? 0.25 : kPatience);
    EXPECT_EQ(end.answer.value_or(""), how == End::kAnswers ? "left one" : "");
    ::close(ends[1]);
    pollfd polled{.fd = ends[0], .events = POLLIN};
    EXPECT_EQ(::poll(&polled, 1, 300'000), 1) << "a process is left";
    EXPECT_TRUE((polled.revents & POLLHUP) != 0);
    for (const int descriptor : {ends[0], there[0], there[1]}) ::close(descriptor);
  }
}

TEST(LastLineTest, IsTheLastThatSaysSomething) {
  EXPECT_EQ(last_line(""), "");
  EXPECT_EQ(last_line("one"), "one");
  EXPECT_EQ(last_line("one\n  two\n\n   \n"), "two");
  EXPECT_EQ(last_line("why\n*** SIGABRT ***\n    @ 0x1 main\n    @ 0x2 (unknown)\n"), "why");
  EXPECT_EQ(last_line("\n\n"), "");
  EXPECT_EQ(last_said("\n\n"), "");
  EXPECT_EQ(last_said("one\ntwo\n"), "; last it said: two");
}

}  // namespace
}  // namespace millrace
