#include "millrace/core/net/job_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <vector>

namespace millrace::net {
namespace {

using ::testing::HasSubstr;

const JoinRequest kJoin{.member = {.rank = 3, .host = "alpha", .pid = 4711},
                        .incarnation = {std::byte{1}, std::byte{2}},
                        .ranks = 4,
                        .job = "night"};
const JobFailure kFailure{.member = {.rank = 2, .host = "alpha", .pid = 47},
                          .reason = FailureReason::kExit,
                          .number = 3,
                          .words = "why"};

TEST(JobFramesTest, FramesReadBackAsTheyWereMade) {
  EXPECT_EQ(decode_join(encode(kJoin)).value(), kJoin);
  EXPECT_EQ(decode_failure(encode(kFailure)).value(), kFailure);
  for (const Welcome& welcome :
       {Welcome{.heartbeat = Duration(7)}, Welcome{.elastic = true, .silent_after = Duration(9)}})
    EXPECT_EQ(decode_welcome(encode(welcome)).value(), welcome);
  EXPECT_EQ(decode_failure(encode(kFailure, FrameKind::kJobLost)).value(), kFailure);
  JobFailure negative = kFailure;
  negative.number = -1;
  EXPECT_EQ(decode_failure(encode(negative)).value(), negative);
}

TEST(JobFramesTest, RefusalCarriesItsHolder) {
  const Error error(ErrorCode::kAlreadyExists, "taken");
  const auto plain = decode_refusal(encode_refusal(error));
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(plain->message(), "taken");
  EXPECT_EQ(plain->detail<JobMember>(), nullptr);
  const auto held = decode_refusal(encode_refusal(error.with_detail(kJoin.member)));
  ASSERT_TRUE(held.has_value());
  ASSERT_NE(held->detail<JobMember>(), nullptr);
  EXPECT_EQ(*held->detail<JobMember>(), kJoin.member);
  EXPECT_EQ(held->message(), "taken");
}

TEST(JobFramesTest, LongTextsAreCut) {
  JoinRequest join = kJoin;
  join.member.host = std::string(10000, 'h');
  join.job = std::string(10000, 'j');
  const Frame frame = encode(join);
  EXPECT_EQ(frame.payload.size(), kMostJoinPayload);
  EXPECT_EQ(decode_join(frame).value().job.size(), kMostJobBytes);
  JobFailure failure = kFailure;
  failure.words = std::string(100000, 'w');
  EXPECT_EQ(decode_failure(encode(failure)).value().words.size(), kMostWordBytes);
}

TEST(JobFramesTest, FrameThatNoEncoderMakesIsRefused) {
  using Change = std::function<void(Frame&)>;
  const std::vector<Change> all = {
      [](Frame& f) { f.header.kind = FrameKind::kJobAlive; },
      [](Frame& f) { f.header.flags = 1; },
      [](Frame& f) { f.header.epoch = 1; },
      [](Frame& f) { f.header.sequence = 1; },
      [](Frame& f) { f.header.words[0] = ~std::uint64_t{0}; },
      [](Frame& f) { f.header.words[1] = ~std::uint64_t{0}; },
      [](Frame& f) { f.header.words[2] = ~std::uint64_t{0}; },
      [](Frame& f) { f.header.words[3] = 256; },
      [](Frame& f) { f.header.words[3] = ~std::uint64_t{0}; },
      [](Frame& f) { f.payload.resize(std::size_t{1} << 20); },
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    Frame join = encode(kJoin), failure = encode(kFailure);
    Frame refusal = encode_refusal(Error(ErrorCode::kAborted, "x").with_detail(kJoin.member));
    for (Frame* const frame : {&join, &failure, &refusal}) all[i](*frame);
    EXPECT_FALSE(decode_join(join).has_value()) << i;
    EXPECT_FALSE(decode_failure(failure).has_value()) << i;
    EXPECT_FALSE(decode_refusal(refusal).has_value()) << i;
  }
  Frame welcome = encode(Welcome{.heartbeat = Duration(1)});
  welcome.header.words[0] = ~std::uint64_t{0};
  EXPECT_FALSE(decode_welcome(welcome).has_value());
  welcome.header.words = {1, 2};
  EXPECT_FALSE(decode_welcome(welcome).has_value());
  Frame join = encode(kJoin);
  join.payload.resize(5);
  EXPECT_FALSE(decode_join(join).has_value());
}

TEST(JobFramesTest, FailureSaysWhoAndWhy) {
  JobFailure failure = kFailure;
  EXPECT_EQ(to_error(failure).message(),
            "the job has failed: rank 2 (host alpha, pid 47) ended with exit code 3; last it said: "
            "why");
  EXPECT_EQ(*to_error(failure).detail<JobFailure>(), failure);
  failure.reason = FailureReason::kSignal;
  failure.number = SIGKILL;
  EXPECT_THAT(to_error(failure).message(), HasSubstr("was killed by SIGKILL"));
  failure.reason = FailureReason::kAskedToEnd;
  failure.words.clear();
  EXPECT_EQ(to_error(failure).message(), "the job was asked to end");
}

}  // namespace
}  // namespace millrace::net
