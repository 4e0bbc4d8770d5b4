#include "millrace/collectives/wire.h"

#include <gtest/gtest.h>

#include <random>

namespace millrace::collectives {
namespace {

using Message = RendezvousMessage;
using Kind = Message::Kind;

Subset every(int stride, int size) {
  std::vector<Rank> ranks;
  for (int r = 0; r < size; r += stride) ranks.push_back(Rank{r});
  return std::make_shared<const RankSet>(std::move(ranks));
}

Message message_of(Kind kind, const Subset& subset) {
  Message message;
  message.kind = kind;
  message.key = {"tag", subset->hash(), 7};
  message.subset = subset;
  return message;
}

net::WireBytes ranks_as_bytes(const Subset& subset) {
  net::WireWriter writer;
  encode_ranks(writer, subset->ranks());
  return writer.take();
}

TEST(WireTest, RanksOfALargeGroupTakeFewBytes) {
  EXPECT_LE(ranks_as_bytes(every(1, 65536)).size(), 8u);
  EXPECT_LE(ranks_as_bytes(every(2, 65536)).size(), 8200u);
  EXPECT_LE(ranks_as_bytes(every(1000, 65536)).size(), 210u);
}

TEST(WireTest, AnySetOfRanksIsReadAsItWasWritten) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int size = 1 + static_cast<int>(random() % 500);
    const std::uint64_t density = 1 + random() % 20;
    std::vector<Rank> ranks;
    for (int r = 0; r < size; ++r) {
      if (random() % 20 < density) ranks.push_back(Rank{r});
    }
    net::WireWriter writer;
    encode_ranks(writer, ranks);
    const net::WireBytes bytes = writer.take();
    net::WireReader reader(bytes);
    ASSERT_EQ(decode_ranks(reader, size), ranks);
    ASSERT_TRUE(reader.end("ranks"));
    if (ranks.empty()) continue;
    net::WireReader smaller(bytes);
    static_cast<void>(decode_ranks(smaller, index(ranks.back())));
    ASSERT_TRUE(smaller.failed());
  }
}

TEST(WireTest, ErrorArrivesAsCodeTextAndCulprits) {
  std::vector<Rank> many;
  for (int r = 3; r < 60; ++r) many.push_back(Rank{r});
  const Error plain(ErrorCode::kDataLoss, "scripted");
  for (const Error& error :
       {plain, plain.with_detail(Culprits{Culprits::Kind::kMismatch, {Rank{9}, Rank{2}}}),
        plain.with_context("above").with_detail(Culprits{Culprits::Kind::kMissing, many})}) {
    net::WireWriter writer;
    encode_error(writer, error);
    const net::WireBytes bytes = writer.take();
    net::WireReader reader(bytes);
    const Error read = decode_error(reader, 60);
    ASSERT_TRUE(reader.end("an error"));
    EXPECT_EQ(read.code(), error.code());
    EXPECT_EQ(read.message(), error.message());
    const auto *before = error.detail<Culprits>(), *after = read.detail<Culprits>();
    ASSERT_EQ(before == nullptr, after == nullptr);
    if (before == nullptr) continue;
    EXPECT_EQ(after->kind, before->kind);
    EXPECT_EQ(after->ranks, before->ranks);
  }
}

TEST(WireTest, LongTextOfAnErrorIsCut) {
  net::WireWriter writer;
  encode_error(writer, Error(ErrorCode::kInternal, std::string(10000, 'x')));
  const net::WireBytes bytes = writer.take();
  net::WireReader reader(bytes);
  EXPECT_EQ(decode_error(reader, 1).message().size(), kMostWireText);
}

TEST(WireTest, EveryKindOfMessageIsReadAsItWasWritten) {
  const Subset world = every(1, 100), odd = every(3, 100);
  // Rank 3 has position 1 in `odd`, its children 27 and later; rank 0 is the root.
  Message up = message_of(Kind::kUp, odd);
  for (const int position : {1, 9, 10, 11, 12, 13, 14, 15, 16})
    up.entries.push_back({position, "p" + std::to_string(position)});
  Message outcome = message_of(Kind::kOutcome, odd);
  auto payloads = std::make_shared<std::vector<std::string>>();
  for (int i = 0; i < odd->size(); ++i) payloads->push_back(std::string(sizeof(int), 'a'));
  outcome.payloads = payloads;
  Message failure = message_of(Kind::kOutcome, odd);
  failure.error = Error(ErrorCode::kUnavailable, "rank 9 has failed");
  Message broken = message_of(Kind::kUp, odd);
  broken.error = Error(ErrorCode::kCancelled, "rank 27 has closed the group");
  Message expired = message_of(Kind::kExpired, odd);
  expired.reason = "within 5 s";
  Message answer = message_of(Kind::kAnswer, odd);
  answer.joined = {1, 9, 16};
  const struct {
    Message message;
    int from, to;
  } cases[] = {{up, 3, 0},
               {broken, 3, 0},
               {outcome, 0, 3},
               {failure, 0, 3},
               {expired, 99, 0},
               {answer, 3, 0},
               {message_of(Kind::kQuery, odd), 0, 3}};
  for (const auto& [message, from, to] : cases) {
    const auto bytes = encode(message);
    ASSERT_TRUE(bytes);
    const auto read = decode_rendezvous(*bytes, Rank{from}, Rank{to}, world);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(read->kind, message.kind);
    EXPECT_EQ(read->key, message.key);
    EXPECT_EQ(read->subset->ranks(), odd->ranks());
    EXPECT_EQ(encode(*read).value(), *bytes);
    // Not the other way around, and not cut anywhere.
    EXPECT_FALSE(decode_rendezvous(*bytes, Rank{to}, Rank{from}, world));
    for (std::size_t cut = 0; cut < bytes->size(); ++cut)
      EXPECT_FALSE(decode_rendezvous(std::span(*bytes).first(cut), Rank{from}, Rank{to}, world));
    net::WireBytes longer = *bytes;
    longer.push_back({});
    EXPECT_FALSE(decode_rendezvous(longer, Rank{from}, Rank{to}, world));
  }
}

TEST(WireTest, MessageAboutAllRanksSharesTheirSet) {
  const Subset world = every(1, 65536);
  const auto bytes = encode(message_of(Kind::kQuery, world)).value();
  EXPECT_LE(bytes.size(), 16u);
  EXPECT_EQ(decode_rendezvous(bytes, Rank{0}, Rank{1}, world).value().subset, world);
}

TEST(WireTest, ReportOfAPartThatIsNotCompleteIsRefused) {
  const Subset world = every(1, 20);
  Message up = message_of(Kind::kUp, world);
  const auto read = [&] { return decode_rendezvous(encode(up).value(), Rank{1}, Rank{0}, world); };
  for (const int position : {1, 9, 10, 11, 12, 13, 14, 15}) up.entries.push_back({position, ""});
  EXPECT_FALSE(read());  // 16 is missing
  up.entries.push_back({15, ""});
  EXPECT_FALSE(read());  // twice
  up.entries.back().position = 17;
  EXPECT_FALSE(read());  // below rank 2
  up.entries.back().position = 16;
  EXPECT_TRUE(read());
}

TEST(WireTest, WhatIsTooLongIsRefusedByItsSender) {
  const Subset world = every(1, 2);
  Message up = message_of(Kind::kUp, world);
  up.entries.push_back({1, std::string(kMostWirePayload + 1, 'x')});
  const auto long_payload = encode(up);
  ASSERT_FALSE(long_payload);
  EXPECT_EQ(long_payload.error().code(), ErrorCode::kResourceExhausted);
  up.entries.clear();
  up.key.tag = std::string(kMostTag + 1, 'x');
  EXPECT_FALSE(encode(up));
}

TEST(WireTest, NumberHasOneForm) {
  const std::byte padded[] = {std::byte{0x81}, std::byte{0x00}};
  net::WireReader reader(padded);
  static_cast<void>(reader.number(1000));
  EXPECT_TRUE(reader.failed());
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}}) {
    net::WireWriter writer;
    writer.number(value);
    const net::WireBytes bytes = writer.take();
    net::WireReader again(bytes);
    EXPECT_EQ(again.number(~std::uint64_t{0}), value);
    EXPECT_TRUE(again.end("a number"));
  }
}

}  // namespace
}  // namespace millrace::collectives
