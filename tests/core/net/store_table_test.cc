#include "millrace/core/net/store_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

Bytes bytes_of(std::string_view text) {
  const auto* from = reinterpret_cast<const std::byte*>(text.data());
  return {from, from + text.size()};
}

// "1.7 value" of member 1's request 7.
Texts texts(const Result<StoreTable::Answers>& answers) {
  Texts all;
  if (!answers) return {answers.error().message()};
  for (const StoreTable::Answer& answer : *answers) {
    std::string text = std::to_string(answer.to) + "." + std::to_string(answer.number) + " ";
    if (const auto* value = std::get_if<StoreTable::Value>(&answer.what)) {
      text.append(reinterpret_cast<const char*>((*value)->data()), (*value)->size());
    } else if (const auto* error = std::get_if<Error>(&answer.what)) {
      text += error->message();
    } else {
      text += "done";
    }
    all.push_back(text);
  }
  return all;
}

struct StoreTableTest : public ::testing::Test {
  Texts get(StoreTable::Member member, std::uint64_t number, std::string key,
            FrameKind kind = FrameKind::kStoreGet) {
    return texts(table.take(member, {.kind = kind, .number = number, .key = std::move(key)}));
  }
  Texts put(StoreTable::Member member, std::uint64_t number, std::string key,
            std::string_view value) {
    return texts(table.take(member, {.kind = FrameKind::kStorePut,
                                     .number = number,
                                     .key = std::move(key),
                                     .value = bytes_of(value)}));
  }
  StoreTable table{{.keys = 3, .total_bytes = 20, .waiting_of_member = 2}};
};

TEST_F(StoreTableTest, GetWaitsForThePutAndHasOneAnswer) {  // ST-1
  EXPECT_THAT(get(1, 1, "a"), IsEmpty());
  EXPECT_THAT(get(2, 1, "a"), IsEmpty());
  EXPECT_THAT(put(3, 9, "a", "x"), ElementsAre("3.9 done", "1.1 x", "2.1 x"));
  EXPECT_THAT(get(1, 2, "a"), ElementsAre("1.2 x"));
  EXPECT_EQ(table.waiting(), 0u);
}

TEST_F(StoreTableTest, TryGetDoesNotWait) {
  EXPECT_THAT(get(1, 1, "a", FrameKind::kStoreTryGet), ElementsAre("1.1 the key 'a' was not put"));
  EXPECT_EQ(table.keys(), 0u);
  get(2, 1, "a");
  EXPECT_THAT(get(1, 2, "a", FrameKind::kStoreTryGet), ElementsAre("1.2 the key 'a' was not put"));
}

TEST_F(StoreTableTest, KeyKeepsItsFirstValue) {  // ST-2
  EXPECT_THAT(put(1, 1, "a", "x"), ElementsAre("1.1 done"));
  EXPECT_THAT(put(2, 1, "a", "x"), ElementsAre("2.1 done"));
  EXPECT_THAT(put(2, 2, "a", "y"), ElementsAre(HasSubstr("another value already")));
  EXPECT_THAT(get(2, 3, "a"), ElementsAre("2.3 x"));
}

TEST_F(StoreTableTest, WithdrawnGetHasNoAnswerAndLeavesNothing) {  // ST-1
  get(1, 1, "a");
  get(1, 2, "a");
  EXPECT_THAT(get(1, 1, "", FrameKind::kStoreWithdraw), IsEmpty());
  EXPECT_THAT(put(2, 1, "a", "x"), ElementsAre("2.1 done", "1.2 x"));
  EXPECT_THAT(get(1, 2, "", FrameKind::kStoreWithdraw), IsEmpty()) << "the answer is under way";
  get(1, 3, "b");
  get(1, 3, "", FrameKind::kStoreWithdraw);
  EXPECT_EQ(table.keys(), 1u);
  EXPECT_EQ(table.bytes(), 2u);
}

TEST_F(StoreTableTest, MembersEndWithdrawsItsGets) {  // ST-4
  get(1, 1, "a");
  get(1, 2, "b");
  get(2, 1, "b");
  table.end(1);
  EXPECT_EQ(table.keys(), 1u);
  EXPECT_THAT(put(2, 2, "b", "x"), ElementsAre("2.2 done", "2.1 x"));
  table.end(2);
  EXPECT_EQ(table.keys(), 1u) << "what it has put stays";
}

TEST_F(StoreTableTest, WhatIsHeldIsWithinTheLimits) {  // ST-3
  get(1, 1, "a");
  get(1, 2, "b");
  EXPECT_THAT(get(1, 3, "c"), ElementsAre(HasSubstr("waits for 2 keys already")));
  EXPECT_THAT(put(2, 1, "c", "x"), ElementsAre("2.1 done"));
  EXPECT_THAT(get(2, 2, "d"), ElementsAre(HasSubstr("the store has 3 keys")));
  EXPECT_THAT(put(2, 3, "d", ""), ElementsAre(HasSubstr("the store has 3 keys")));
  EXPECT_THAT(put(2, 4, "a", std::string(17, 'v')), ElementsAre(HasSubstr("holds 4 bytes")));
  EXPECT_THAT(put(2, 5, "a", std::string(16, 'v')), ElementsAre("2.5 done", HasSubstr("1.1 v")));
  EXPECT_EQ(table.bytes(), 20u);
}

TEST_F(StoreTableTest, NumberOfARequestThatWaitsIsNotUsedAgain) {
  get(1, 1, "a");
  EXPECT_THAT(get(1, 1, "b"), ElementsAre("a request has the number of one that waits"));
  EXPECT_THAT(put(1, 1, "a", "x"), ElementsAre("a request has the number of one that waits"));
}

}  // namespace
}  // namespace millrace::net
