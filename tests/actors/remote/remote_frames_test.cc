#include "millrace/actors/remote/remote_frames.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "millrace/core/net/peer_loss.h"

namespace millrace::actors {
namespace {

template <class F>
void refuses_each_part(const net::Bytes& whole, const F& reads) {
  EXPECT_TRUE(reads(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(reads(std::span(whole).first(size))) << size;
  net::Bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(reads(longer));
}

TEST(RemoteFramesTest, WhatWasWrittenIsReadAndNoPartOfIt) {
  const FindRequest find{"store", "app::Store", {"Put{x: i32}", "Get{}"}};
  const FindRequest found = read_find(encode(find)).value();
  EXPECT_EQ(found.name, "store");
  EXPECT_EQ(found.type, "app::Store");
  EXPECT_EQ(found.schemas, find.schemas);
  refuses_each_part(encode(find), [](auto bytes) { return read_find(bytes).has_value(); });

  const FindAnswer answer{77, {{1, ""}, {3, "Put{y: i32}"}}};
  const FindAnswer read = read_find_answer(encode(answer)).value();
  EXPECT_EQ(read.id, 77u);
  EXPECT_EQ(read.other, answer.other);
  refuses_each_part(encode(answer), [](auto bytes) { return read_find_answer(bytes).has_value(); });

  const CastRequest cast{"store", "app::Store", "Get{}", CastRanks::of({1, 2, 5}), {std::byte{9}}};
  const CastRequest asked = read_cast(encode(cast), 6).value();
  EXPECT_EQ(asked.schema, "Get{}");
  EXPECT_EQ(asked.ranks.size(), 3u);
  EXPECT_EQ(asked.message, cast.message);
  EXPECT_FALSE(read_cast(encode(cast), 5)) << "there is no rank 5";
  refuses_each_part(encode(cast), [](auto bytes) { return read_cast(bytes, 6).has_value(); });
}

TEST(RemoteFramesTest, AnErrorKeepsItsCodeWordsAndFacts) {
  const net::JobMember member{3, "node-3", 4711};
  const Error gone = Error(ErrorCode::kUnavailable, "it is gone")
                         .with_detail(ActorGone{7, "store", ExitReason::kFailed})
                         .with_detail(member);
  const Error read = read_error(encode(gone)).value();
  EXPECT_EQ(read.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(read.message(), "it is gone");
  EXPECT_EQ(read.detail<ActorGone>()->name, "store");
  EXPECT_EQ(*read.detail<net::JobMember>(), member);
  refuses_each_part(encode(gone), [](auto bytes) { return read_error(bytes).has_value(); });
  const Error lost = net::PeerLoss{member, net::LossCause::kReset, {}}.error();
  EXPECT_EQ(*read_error(encode(lost))->detail<net::JobMember>(), member);
  const Error long_one(ErrorCode::kInternal, std::string(1 << 20, 'x'));
  EXPECT_EQ(read_error(encode(long_one))->message().size(), kMostErrorBytes);
}

TEST(RemoteFramesTest, AnEndHasAnErrorWhereItIsAFailure) {
  const Exit failed{ExitReason::kFailed, Error(ErrorCode::kInternal, "why")};
  EXPECT_EQ(read_exit(encode(failed))->error->message(), "why");
  EXPECT_EQ(read_exit(encode(Exit{}))->reason, ExitReason::kStopped);
  EXPECT_FALSE(read_exit(encode(Exit{ExitReason::kFailed, {}})));
  refuses_each_part(encode(failed), [](auto bytes) { return read_exit(bytes).has_value(); });
}

}  // namespace
}  // namespace millrace::actors
