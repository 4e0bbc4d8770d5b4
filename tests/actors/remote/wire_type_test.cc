#include "millrace/actors/remote/wire_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "millrace/actors/remote/message_schema.h"

namespace millrace::actors {
namespace {

using ::testing::HasSubstr;

enum class Color : std::uint8_t { kRed, kGreen };
struct Nothing {};
struct Point {
  std::int32_t x = 0;
  double y = 0;
  static constexpr auto fields() { return field_list("x", &Point::x, "y", &Point::y); }
  bool operator==(const Point&) const = default;
};
struct All {
  bool flag = false;
  std::uint64_t number = 0;
  std::int64_t signed_number = 0;
  float half = 0;
  Color color = Color::kRed;
  std::string text = {};
  std::vector<std::byte> bytes = {};
  std::vector<Point> points = {};
  std::optional<std::string> perhaps = {};
  std::vector<bool> flags = {};
  Point nested = {};
  static constexpr auto fields() {
    return field_list("flag", &All::flag, "number", &All::number, "signed_number",
                      &All::signed_number, "half", &All::half, "color", &All::color, "text",
                      &All::text, "bytes", &All::bytes, "points", &All::points, "perhaps",
                      &All::perhaps, "flags", &All::flags, "nested", &All::nested);
  }
  bool operator==(const All&) const = default;
};

template <class T>
T there_and_back(const T& value) {
  const net::WireBytes bytes = to_wire(value);
  const T read = from_wire<T>(bytes, "a value").value();
  EXPECT_EQ(to_wire(read), bytes);  // RW-2
  return read;
}

template <class T>
std::string described() {
  std::string text;
  WireType<T>::describe(text, 0);
  return text;
}

All some() {
  return {true,
          std::numeric_limits<std::uint64_t>::max(),
          std::numeric_limits<std::int64_t>::min(),
          -1.5f,
          Color::kGreen,
          std::string("a\0b", 3),
          {std::byte{0}, std::byte{255}},
          {{1, 2.5}, {-7, -0.0}},
          "there",
          {true, false, true},
          {std::numeric_limits<std::int32_t>::min(), 1e300}};
}

TEST(WireTypeTest, EachTypeReadsAsItWasWritten) {
  EXPECT_EQ(there_and_back(some()), some());
  EXPECT_EQ(there_and_back(All()), All());
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::int64_t{63}, std::int64_t{-64},
        std::int64_t{64}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(there_and_back(number), number);
  EXPECT_EQ(to_wire(std::int64_t{-1}).size(), 1u);
  EXPECT_EQ(there_and_back(std::int8_t{-128}), -128);
  EXPECT_EQ(there_and_back(std::vector<std::optional<std::uint16_t>>{{}, 65535}).at(1), 65535);
  there_and_back(Nothing());
}

TEST(WireTypeTest, AListOfFieldsHasTheirNamesAndTypes) {
  EXPECT_EQ(
      described<All>(),
      "{flag: bool, number: u64, signed_number: i64, half: f32, color: enum u8, text: string, "
      "bytes: bytes, points: [{x: i32, y: f64}], perhaps: string?, flags: [bool], "
      "nested: {x: i32, y: f64}}");
  EXPECT_EQ(described<Nothing>(), "{}");
}

TEST(WireTypeTest, WhatIsTooShortTooLongOrOutOfRangeIsRefused) {
  const net::WireBytes whole = to_wire(some());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = from_wire<All>(std::span(whole).first(size), "a message");
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code(), ErrorCode::kInvalidArgument);
  }
  net::WireBytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_THAT(from_wire<All>(longer, "a message").error().message(), HasSubstr("more bytes"));
  const auto number = [](std::uint64_t value) {
    net::WireWriter writer;
    writer.number(value);
    return writer.take();
  };
  EXPECT_FALSE(from_wire<std::uint8_t>(number(256), "a number"));
  EXPECT_FALSE(from_wire<bool>(number(2), "a flag"));
  EXPECT_FALSE(from_wire<Color>(number(256), "a color"));
  EXPECT_FALSE(from_wire<Nothing>(number(1), "nothing"));
}

TEST(WireTypeTest, AClaimedLengthTakesNoMemory) {
  net::WireWriter writer;  // RW-1: without a byte behind it
  writer.number(std::uint64_t{1} << 62);
  const net::WireBytes claim = writer.take();
  EXPECT_FALSE(from_wire<std::string>(claim, "a text"));
  EXPECT_FALSE(from_wire<std::vector<std::byte>>(claim, "bytes"));
  EXPECT_FALSE(from_wire<std::vector<Point>>(claim, "points"));
  EXPECT_FALSE(from_wire<std::vector<Nothing>>(claim, "nothings"));
}

TEST(WireTypeTest, RandomBytesAreReadOrRefusedAndWrittenAsTheyCame) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    net::WireBytes bytes(random() % 60);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % (i % 2 == 0 ? 4 : 256));
    const auto read = from_wire<All>(bytes, "a message");
    if (read) {
      EXPECT_EQ(to_wire(*read), bytes);  // RW-2
    }
  }
}

TEST(MessageSchemaTest, ListsThatDifferHaveOtherFingerprints) {
  const MessageSchema& point = message_schema<Point, void>();
  EXPECT_THAT(point.text(), HasSubstr("Point{x: i32, y: f64}"));
  EXPECT_EQ(name_in(point.text()), point.name);
  const MessageSchema& asked = message_schema<Point, std::optional<All>>();
  EXPECT_THAT(asked.text(), HasSubstr("-> {flag: bool"));
  EXPECT_NE(point.fingerprint, asked.fingerprint);
  EXPECT_EQ(name_in(asked.text()), point.name);
  EXPECT_EQ(name_in("Put{x: i32}"), "Put");
  EXPECT_EQ(name_in("app::{anonymous}::Put{x: {y: i32}}"), "app::{anonymous}::Put");
  EXPECT_EQ(fingerprint_of(""), 0xcbf29ce484222325u);
}

}  // namespace
}  // namespace millrace::actors
