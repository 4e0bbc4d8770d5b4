#include "millrace/core/net/link_hello.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>

namespace millrace::net {
namespace {

LinkHello example() {
  LinkHello hello{{3, "node-1", 4711}, {}, 5, 8, 2, "job"};
  hello.incarnation.fill(std::byte{7});
  return hello;
}

bool is_hello(const Frame& frame) { return read_hello(frame).has_value(); }

TEST(LinkHelloTest, WhatIsEncodedIsRead) {
  for (const std::string& job : {std::string(), std::string("j"), std::string(255, 'x')}) {
    LinkHello hello = example();
    hello.job = job;
    hello.from.host = std::string(255, 'h');
    const Frame frame = encode_hello(hello);
    EXPECT_LE(frame.payload.size(), kMostHelloBytes);
    EXPECT_EQ(read_hello(frame).value(), hello);
  }
}

TEST(LinkHelloTest, WhatIsNoHelloIsAnError) {
  const Frame good = encode_hello(example());
  ASSERT_TRUE(is_hello(good));
  const auto with = [&](auto change) {
    Frame frame = good;
    change(frame);
    return is_hello(frame);
  };
  EXPECT_FALSE(with([](Frame& f) { f.header.kind = FrameKind::kHello; }));
  EXPECT_FALSE(with([](Frame& f) { f.header.flags = 1; }));
  EXPECT_FALSE(with([](Frame& f) { f.header.channel = 1; }));
  EXPECT_FALSE(with([](Frame& f) { f.header.sequence = 1; }));
  EXPECT_FALSE(with([](Frame& f) { f.header.words[3] = 1; }));
  EXPECT_FALSE(with([](Frame& f) { f.header.words[1] |= 1ull << 63; })) << "a pid";
  EXPECT_FALSE(with([](Frame& f) { f.payload.pop_back(); }));
  EXPECT_FALSE(with([](Frame& f) { f.payload.push_back({}); }));
  EXPECT_FALSE(with([](Frame& f) { f.payload.clear(); }));
  EXPECT_FALSE(with([](Frame& f) { f.header.words[2] = 256 | (256ull << 32); }));
  EXPECT_FALSE(with([](Frame& f) { f.header.words[2] = ~0ull; }));
  EXPECT_FALSE(with([](Frame& f) { f.payload.back() = std::byte{'\n'}; })) << "a host";
  EXPECT_FALSE(with([](Frame& f) {
    f.header.words[2] &= 0xffffffff;  // no host
    f.payload.resize(sizeof(Incarnation) + 3);
  }));
}

TEST(LinkHelloTest, AnswersAreReadOrAreErrors) {
  const Identity self{.rank = 5, .incarnation = {std::byte{1}}};
  const Frame welcome = encode_welcome(self, 2);
  EXPECT_EQ(read_answer(welcome)->verdict, LinkVerdict::kAccept);
  EXPECT_EQ(read_answer(welcome)->from, self);
  for (int verdict = 0; verdict < 256; ++verdict) {
    const auto read = read_answer(encode_refusal(static_cast<LinkVerdict>(verdict), 2));
    const bool is_one = verdict >= std::to_underlying(LinkVerdict::kTie) &&
                        verdict <= std::to_underlying(LinkVerdict::kClosing);
    EXPECT_EQ(read.has_value(), is_one) << verdict;
    EXPECT_FALSE(to_string(static_cast<LinkVerdict>(verdict)).empty());
  }
  Frame wrong = welcome;
  wrong.payload.pop_back();
  EXPECT_FALSE(read_answer(wrong).has_value());
  wrong = welcome;
  wrong.header.kind = FrameKind::kFirstOfUsers;
  EXPECT_FALSE(read_answer(wrong).has_value());
}

TEST(LinkHelloTest, AProcessIsNamedByWhatIsKnown) {
  EXPECT_EQ(to_string(JobMember{3, "h", 4711}), "rank 3 (host h, pid 4711)");
  EXPECT_EQ(to_string(JobMember{.rank = 3}), "rank 3");
}

}  // namespace
}  // namespace millrace::net
