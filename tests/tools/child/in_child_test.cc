// Real processes, because those are what is tested.
#include "millrace/tools/child/in_child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
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

TEST(InChildTest, OfTheWorkNothingStaysInThisProcess) {
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

TEST(InChildTest, WhereChildrenAreReapedByNobodyTheirEndIsSeenAllTheSame) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(in_child([] { return std::string("there"); }, kPatience).answer, "there");
  const ChildEnd end = in_child([]() -> std::string { ::_exit(3); }, kPatience);
  ::signal(SIGCHLD, before);
  EXPECT_EQ(end.why_not, "the process ended, nobody is told how");
}

// The child's number may be somebody else's by then, so nothing is sent to it or its group: who is
// in there answers.
TEST(InChildTest, WhereChildrenAreReapedByNobodyTheirGroupIsNotTouched) {
  int there[2], back[2];
  ASSERT_EQ(::pipe2(there, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(back, O_CLOEXEC), 0);
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const ChildEnd end = in_child(
      [&] {
        if (::fork() == 0) {
          ::close(there[1]);
          char byte = 0;
          if (::read(there[0], &byte, 1) == 1 && ::write(back[1], &byte, 1) == 1) ::_exit(0);
          ::_exit(1);
        }
        return std::string("left one");
      },
      kPatience);
  ::signal(SIGCHLD, before);
  EXPECT_EQ(end.answer, "left one");
  ::close(back[1]);
  char byte = 'x';
  EXPECT_EQ(::write(there[1], &byte, 1), 1);
  byte = 0;
  EXPECT_EQ(::read(back[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  for (const int descriptor : {there[0], there[1], back[0]}) ::close(descriptor);
}

// Its end of the pipe is closed when nobody is left who has it.
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
