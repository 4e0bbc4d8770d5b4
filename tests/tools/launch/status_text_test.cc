#include "millrace/tools/launch/status_text.h"

#include <gtest/gtest.h>

namespace millrace::launch {
namespace {

using net::RankPhase;

TEST(StatusTextTest, MarksWhoIsBehindAmongThoseWhoLive) {
  const net::JobStatus status{
      .job = "night",
      .host_pid = 7,
      .age = std::chrono::milliseconds(12345),
      .ranks = {
          {.phase = RankPhase::kJoined, .pid = 4712, .groups = {{"world", 13, 12}}},
          {.phase = RankPhase::kSuspect, .pid = 99, .groups = {{"world", 12, 12}, {"half", 1, 1}}},
          {.phase = RankPhase::kEnded, .pid = 5, .groups = {{"world", 20, 3}}},
          {}}};
  EXPECT_EQ(status_text(status, "unix:/x"),
            "job night (pid 7, 12.3 s), unix:/x\n"
            "  rank  pid   state     done/begun\n"
            "  0     4712  joined    world 12/13\n"
            "  1     99    suspect   world 12/12 behind, half 1/1\n"
            "  2     5     ended     world 3/20\n"
            "  3     -     starting\n");
}

// Ranks say how far they are once in a while, each at its own time.
TEST(StatusTextTest, WhoHasSaidSoEarlierIsNotBehind) {
  const net::JobStatus status{
      .turned_away = 2,
      .ranks = {{.phase = RankPhase::kJoined, .groups = {{"train", 520, 517}}},
                {.phase = RankPhase::kJoined, .groups = {{"train", 393, 393}}}}};
  const std::string text = status_text(status, "unix:/x");
  EXPECT_EQ(text.find("behind"), std::string::npos);
  EXPECT_NE(text.find("unix:/x, 2 turned away\n"), std::string::npos);
}

}  // namespace
}  // namespace millrace::launch
