#include "millrace/transfer/staging_ledger.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace millrace::transfer {
namespace {

using Region = StagingLedger::Region;

// Stands for mapped memory: the ledger never looks at it.
std::byte* address(int i) { return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(i)); }

TEST(StagingLedgerTest, BlocksAreWholePagesInFourClassesPerPowerOfTwo) {
  struct Row {
    std::size_t requested, block;
  };
  for (const Row& row : {Row{0, 4096}, Row{1, 4096}, Row{4096, 4096}, Row{4097, 8192},
                         Row{16384, 16384}, Row{16385, 20480}, Row{65536, 65536}, Row{65537, 81920},
                         Row{81921, 98304}, Row{1 << 20, 1 << 20},
                         Row{(1 << 20) + 1, (1 << 20) + (1 << 18)}, Row{SIZE_MAX - 1, SIZE_MAX}}) {
    EXPECT_EQ(StagingLedger::block_bytes(row.requested), row.block) << row.requested;
  }
  for (std::size_t n = 20000; n < 300000; n += 37) {
    const std::size_t block = StagingLedger::block_bytes(n);
    EXPECT_GE(block, n);
    EXPECT_LE(block, n + n / 4 + 4096);
    EXPECT_EQ(StagingLedger::block_bytes(block), block);
  }
}

TEST(StagingLedgerTest, BlockGivenBackLastIsReusedFirst) {
  StagingLedger ledger(1 << 20);
  for (int i = 1; i <= 2; ++i) EXPECT_EQ(ledger.take(8192)->data, nullptr);
  ledger.give_back({address(1), 8192});
  ledger.give_back({address(2), 8192});
  EXPECT_EQ(ledger.take(4096)->data, nullptr);  // another class
  EXPECT_EQ(ledger.take(8192)->data, address(2));
  EXPECT_EQ(ledger.take(8192)->data, address(1));
}

TEST(StagingLedgerTest, WaitsWhenTheBoundIsReachedByWhatIsInUse) {
  StagingLedger ledger(16384);
  ASSERT_TRUE(ledger.take(8192));
  EXPECT_FALSE(ledger.take(12288));
  EXPECT_TRUE(ledger.take(8192));
  EXPECT_FALSE(ledger.take(4096));
  ledger.cancel(8192);
  EXPECT_TRUE(ledger.take(4096));
}

TEST(StagingLedgerTest, CachedBlocksMakeRoomLargestFirst) {
  StagingLedger ledger(32768);
  for (const std::size_t bytes : {4096, 8192, 16384}) ASSERT_TRUE(ledger.take(bytes));
  ledger.give_back({address(1), 4096});
  ledger.give_back({address(2), 8192});
  ledger.give_back({address(3), 16384});

  const auto grant = ledger.take(20480);

  ASSERT_TRUE(grant.has_value());
  EXPECT_EQ(grant->data, nullptr);
  EXPECT_EQ(grant->evicted, std::vector<Region>({{address(3), 16384}}));
  EXPECT_EQ(ledger.cached_bytes(), 12288u);
}

TEST(StagingLedgerTest, TrimForgetsDownToWhatIsKept) {
  StagingLedger ledger(1 << 20);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(ledger.take(4096));
  for (int i = 0; i < 4; ++i) ledger.give_back({address(i + 1), 4096});
  EXPECT_EQ(ledger.trim(8192).size(), 2u);
  EXPECT_EQ(ledger.trim(0).size(), 2u);
  EXPECT_EQ(ledger.cached_bytes(), 0u);
  EXPECT_EQ(ledger.peak_in_use_bytes(), 16384u);
}

// Random use for a while: the invariants of the class hold at every step.
TEST(StagingLedgerTest, StaysWithinItsBoundUnderRandomUse) {
  constexpr unsigned kSeed = 7;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  constexpr std::size_t kMax = 1 << 20;
  StagingLedger ledger(kMax);
  std::mt19937 random(kSeed);
  std::vector<Region> out;
  int made = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0 && !out.empty()) {
      std::swap(out[random() % out.size()], out.back());
      ledger.give_back(out.back());
      out.pop_back();
    } else {
      const std::size_t bytes = StagingLedger::block_bytes(random() % 300000);
      const bool fits = ledger.in_use_bytes() + bytes <= kMax;
      const auto grant = ledger.take(bytes);
      ASSERT_EQ(grant.has_value(), fits);  // L-3
      if (grant) out.push_back({grant->data != nullptr ? grant->data : address(++made), bytes});
    }
    ASSERT_LE(ledger.in_use_bytes() + ledger.cached_bytes(), kMax);  // L-1
  }
}

}  // namespace
}  // namespace millrace::transfer
