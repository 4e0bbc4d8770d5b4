#include "millrace/tools/serve/unpack_body.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <string>

namespace millrace::serve {
namespace {

Body packed_body(std::string text) {
  auto kept = std::make_shared<std::string>(std::move(text));
  return {std::as_bytes(std::span(*kept)), kept};
}

// window: of deflateInit2; negative: without zlib's header.
std::string deflated(const std::string& text, int window) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string text_of(const Body& body) {
  return {reinterpret_cast<const char*>(body.bytes.data()), body.bytes.size()};
}

TEST(UnpackBodyTest, EveryEncodingIsUnpackedUpToTheLimitAndNotBeyond) {
  struct Row {
    const char* encoding;
    int window;
  };
  for (const Row& row : {Row{"gzip", 15 + 16}, Row{"deflate", 15}, Row{"deflate", -15}}) {
    // Below, at and above the step in which it is unpacked.
    for (const std::size_t size : {0U, 1U, 65535U, 65536U, 65537U, 200000U}) {
      std::string text(size, 'a');
      for (std::size_t i = 0; i < size; i += 7) text[i] = static_cast<char>('a' + i % 23);
      const Body packed = packed_body(deflated(text, row.window));
      const Result<Body> unpacked = unpack_body(packed, row.encoding, size);
      ASSERT_TRUE(unpacked) << row.encoding << size << unpacked.error().to_string();
      EXPECT_EQ(text_of(*unpacked), text) << row.encoding << row.window << " " << size;
      if (size == 0) continue;
      EXPECT_EQ(unpack_body(packed, row.encoding, size - 1).error().code(), ErrorCode::kOutOfRange);
    }
  }
}

// A body of 1 KB that would be 64 MiB is refused long before.
TEST(UnpackBodyTest, ABombIsRefusedAtTheLimit) {
  const Body bomb = packed_body(deflated(std::string(std::size_t{64} << 20, '\0'), 15));
  EXPECT_LT(bomb.bytes.size(), 70000U);
  EXPECT_EQ(unpack_body(bomb, "deflate", 1 << 20).error().code(), ErrorCode::kOutOfRange);
}

TEST(UnpackBodyTest, DamagedBodiesAreRefusedAtEveryByte) {
  for (const int window : {15 + 16, 15, -15}) {
    const std::string whole = deflated("hello hello hello hello", window);
    const char* const encoding = window == 15 + 16 ? "gzip" : "deflate";
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Result<Body> cut = unpack_body(packed_body(whole.substr(0, size)), encoding, 100);
      ASSERT_FALSE(cut) << window << " " << size;
      EXPECT_EQ(cut.error().code(), ErrorCode::kInvalidArgument);
    }
    EXPECT_FALSE(unpack_body(packed_body(whole + "x"), encoding, 100)) << window;
  }
  EXPECT_EQ(unpack_body(packed_body("junk"), "gzip", 22).error().code(),
            ErrorCode::kInvalidArgument);
}

TEST(UnpackBodyTest, OtherEncodingsAreNotKnownAndNoneIsTheBodyItself) {
  EXPECT_EQ(unpack_body(packed_body("x"), "br", 22).error().code(), ErrorCode::kUnimplemented);
  EXPECT_EQ(text_of(*unpack_body(packed_body("x"), "identity", 1)), "x");
  EXPECT_EQ(text_of(*unpack_body(packed_body("x"), "", 1)), "x");
}

}  // namespace
}  // namespace millrace::serve
