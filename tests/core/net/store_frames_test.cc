#include "millrace/core/net/store_frames.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace millrace::net {
namespace {

StoreRequest request(FrameKind kind, std::string key, std::size_t value = 0) {
  return {.kind = kind, .number = 7, .key = std::move(key), .value = Bytes(value, std::byte{9})};
}

TEST(StoreFramesTest, RequestsReadBackAsTheyWereMade) {
  for (const StoreRequest& made :
       {request(FrameKind::kStoreGet, "a/b"), request(FrameKind::kStoreTryGet, ""),
        request(FrameKind::kStorePut, std::string("nul\0in", 6), 1000),
        request(FrameKind::kStorePut, std::string(kMostKeyBytes, 'k'), kMostValueBytes),
        request(FrameKind::kStoreWithdraw, "")}) {
    const auto read = decode_store_request(encode(made));
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(read->kind, made.kind);
    EXPECT_EQ(read->number, 7u);
    EXPECT_EQ(read->key, made.key);
    EXPECT_EQ(read->value, made.value);
  }
}

TEST(StoreFramesTest, AnswersReadBackAsTheyWereMade) {
  auto read = decode_store_answer(encode(StoreAnswer{.number = 3, .what = Bytes(5)}));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->number, 3u);
  EXPECT_EQ(std::get<Bytes>(read->what).size(), 5u);
  read = decode_store_answer(encode(StoreAnswer{.number = 4, .what = StoreDone{}}));
  EXPECT_TRUE(std::holds_alternative<StoreDone>(read->what));
  read = decode_store_answer(
      encode(StoreAnswer{.what = Error(ErrorCode::kNotFound, std::string(9000, 'x'))}));
  const Error& error = std::get<Error>(read->what);
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.message().size(), kMostErrorBytes);
}

TEST(StoreFramesTest, RequestThatNoEncoderMakesIsRefused) {
  using Change = std::function<void(Frame&)>;
  const std::vector<std::pair<FrameKind, Change>> changes = {
      {FrameKind::kStoreGet, [](Frame& f) { f.header.kind = FrameKind::kStoreValue; }},
      {FrameKind::kStoreGet, [](Frame& f) { f.header.flags = 1; }},
      {FrameKind::kStoreGet, [](Frame& f) { f.header.epoch = 1; }},
      {FrameKind::kStoreGet, [](Frame& f) { f.header.channel = 1; }},
      {FrameKind::kStoreGet, [](Frame& f) { f.header.words[3] = 1; }},
      {FrameKind::kStoreGet, [](Frame& f) { f.header.words[0] = 1; }},
      {FrameKind::kStoreGet, [](Frame& f) { f.payload.resize(kMostKeyBytes + 1); }},
      {FrameKind::kStorePut, [](Frame& f) { f.header.words[0] = ~std::uint64_t{0}; }},
      {FrameKind::kStorePut, [](Frame& f) { f.header.words[0] = f.payload.size() + 1; }},
      {FrameKind::kStorePut, [](Frame& f) { f.payload.resize(100 + kMostKeyBytes + 1); }},
      {FrameKind::kStoreWithdraw, [](Frame& f) { f.payload.resize(1); }},
  };
  for (const auto& [kind, change] : changes) {
    const bool is_put = kind == FrameKind::kStorePut;
    Frame frame =
        encode(request(kind, kind == FrameKind::kStoreWithdraw ? "" : "key", is_put ? 100 : 0));
    change(frame);
    const auto read = decode_store_request(std::move(frame));
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(StoreFramesTest, AnswerThatNoEncoderMakesIsRefused) {
  Frame frame = encode(StoreAnswer{.what = StoreDone{}});
  frame.payload.resize(1);
  EXPECT_FALSE(decode_store_answer(frame).has_value());
  for (const std::uint64_t code : {0, 17, 1 << 20}) {
    frame = encode(StoreAnswer{.what = Error(ErrorCode::kAborted, "why")});
    frame.header.words[0] = code;
    EXPECT_FALSE(decode_store_answer(frame).has_value());
  }
  frame = encode(StoreAnswer{.what = Bytes(kMostValueBytes)});
  frame.payload.resize(kMostValueBytes + 1);
  EXPECT_FALSE(decode_store_answer(frame).has_value());
  frame = encode(request(FrameKind::kStoreGet, "key"));
  EXPECT_FALSE(decode_store_answer(frame).has_value());
}

TEST(StoreFramesTest, KeyInAMessageIsShortAndPrints) {
  EXPECT_EQ(key_text("a\n\xff"),
            "the key 'a?"
            "?'");
  EXPECT_EQ(key_text(std::string(101, 'k')),
            "the key '" + std::string(100, 'k') + "' and so on, of 101 bytes,");
}

}  // namespace
}  // namespace millrace::net
