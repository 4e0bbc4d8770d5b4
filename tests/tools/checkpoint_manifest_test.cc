#include "millrace/tools/train/checkpoint_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "millrace/transfer/formats/file.h"

namespace millrace::train {
namespace {

using ::testing::HasSubstr;

CheckpointManifest sample() {
  CheckpointManifest manifest;
  manifest.run = {.model = "net \"a\"",
                  .programs = {{"grad", 100, 0xffffffff}, {"update", 200, 1}},
                  .items = 60'000,
                  .data = "digits",
                  .batch_size = 128,
                  .devices = 2,
                  .seed = ~std::uint64_t{0},
                  .shuffle = true};
  manifest.step = 500;
  manifest.epoch = 1;
  manifest.epoch_item = 32;
  manifest.ranks.resize(2);
  manifest.ranks[0].epoch_share = {.epoch = 1, .steps = 32, .rows = 2048, .loss_sum = 0.1 + 0.2};
  manifest.ranks[1].run_share = {.epoch = 1, .steps = 500, .rows = 32'000, .loss_sum = 1e300};
  manifest.arrays = {"arrays.safetensors", 123'456'789'012, 0xdeadbeef};
  return manifest;
}

TEST(CheckpointManifestTest, IsReadBackAsItWasWritten) {
  const CheckpointManifest manifest = sample();
  const auto read = CheckpointManifest::parse(manifest.to_text().value());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_TRUE(check_same_run(read->run, manifest.run));
  EXPECT_EQ(read->run.programs, manifest.run.programs);
  EXPECT_EQ(read->step, 500U);
  EXPECT_EQ(read->epoch, 1U);
  EXPECT_EQ(read->epoch_item, 32U);
  ASSERT_EQ(read->ranks.size(), 2U);
  EXPECT_EQ(read->ranks[0].epoch_share.loss_sum, 0.1 + 0.2);
  EXPECT_EQ(read->ranks[1].run_share.loss_sum, 1e300);
  EXPECT_EQ(read->arrays, manifest.arrays);
  EXPECT_EQ(read->to_text(), manifest.to_text().value());
}

TEST(CheckpointManifestTest, AnyFlippedBitOrMissingEndIsNoticed) {
  const std::string text = sample().to_text().value();
  int harmless = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    const auto read = CheckpointManifest::parse(damaged);
    if (read) {
      ++harmless;  // a blank, or a digit of the checksum in the other case
      EXPECT_EQ(read->to_text(), text) << i;
    } else {
      EXPECT_EQ(read.error().code(), ErrorCode::kDataLoss) << i << read.error().to_string();
    }
  }
  EXPECT_LT(harmless, 200);
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_FALSE(CheckpointManifest::parse(text.substr(0, size))) << size;
  }
}

TEST(CheckpointManifestTest, ATextThatIsNoUtf8IsRefusedAndNotReplaced) {
  const auto refused = [](auto change) {
    CheckpointManifest manifest = sample();
    change(manifest);
    const auto text = manifest.to_text();
    return !text && text.error().code() == ErrorCode::kInvalidArgument &&
           text.error().message().contains("no UTF-8");
  };
  EXPECT_TRUE(refused([](CheckpointManifest& m) { m.run.model = "net \xff"; }));
  EXPECT_TRUE(refused([](CheckpointManifest& m) { m.run.data = "digits \xc3"; }));
  EXPECT_TRUE(refused([](CheckpointManifest& m) { m.run.programs[0].name = "\x80"; }));
  CheckpointManifest manifest = sample();
  manifest.run.model = "n\u00e4tze";
  EXPECT_EQ(CheckpointManifest::parse(manifest.to_text().value())->run.model, "n\u00e4tze");
}

// One by an earlier Millrace, with a right checksum: no damage, so that it is not put aside.
TEST(CheckpointManifestTest, AnotherSchemaIsRefusedByNumber) {
  auto whole = nlohmann::ordered_json::parse(sample().to_text().value());
  whole["checkpoint"]["schema"] = 1;
  whole["checkpoint"]["run"].erase("data");
  const std::string content = whole["checkpoint"].dump();
  char checksum[16];
  std::snprintf(checksum, sizeof checksum, "%08x",
                transfer::crc32_of(std::as_bytes(std::span(content))));
  whole["crc32"] = checksum;
  const auto read = CheckpointManifest::parse(whole.dump(1));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kUnimplemented) << read.error().to_string();
  EXPECT_THAT(read.error().message(), HasSubstr("of schema 1; this reads schema 2"));
}

TEST(CheckpointManifestTest, EveryDifferenceOfTheRunsIsNamed) {
  const RunIdentity run = sample().run;
  const auto message = [&](auto change) {
    RunIdentity other = run;
    change(other);
    const Status same = check_same_run(other, run);
    EXPECT_FALSE(same);
    return same ? std::string() : same.error().message();
  };
  EXPECT_THAT(message([](RunIdentity& r) { r.model = "b"; }), HasSubstr("the model is 'b' there"));
  EXPECT_THAT(message([](RunIdentity& r) { r.batch_size = 64; }),
              HasSubstr("batch size is 64 there and 128 here"));
  EXPECT_THAT(message([](RunIdentity& r) { r.devices = 1; }),
              HasSubstr("devices is 1 there and 2 here"));
  EXPECT_THAT(message([](RunIdentity& r) { r.seed = 3; }), HasSubstr("seed is 3 there"));
  EXPECT_THAT(message([](RunIdentity& r) { r.items = 3; }), HasSubstr("images is 3 there"));
  EXPECT_THAT(message([](RunIdentity& r) { r.data = "clothes"; }),
              HasSubstr("the data is 'clothes' there and 'digits' here"));
  EXPECT_THAT(message([](RunIdentity& r) { r.deterministic = true; }),
              HasSubstr("--deterministic is yes there and no here"));
  EXPECT_THAT(message([](RunIdentity& r) { r.shuffle = false; }), HasSubstr("shuffling is no"));
  EXPECT_THAT(message([](RunIdentity& r) { r.same_shard = true; }), HasSubstr("shard"));
  EXPECT_THAT(message([](RunIdentity& r) { r.programs[1].crc32 = 0; }), HasSubstr("programs"));
  const std::string both = message([](RunIdentity& r) { r.seed = r.items = 3; });
  EXPECT_THAT(both, HasSubstr("seed"));
  EXPECT_THAT(both, HasSubstr("images"));
}

}  // namespace
}  // namespace millrace::train
