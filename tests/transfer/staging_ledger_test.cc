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

TEST(StagingLedgerTest, BlockReleasedLastIsReusedFirst) {
  StagingLedger ledger(1 << 20);
  for (int i = 1; i <= 2; ++i) EXPECT_EQ(ledger.take(8192).data, nullptr);
  ledger.release({address(1), 8192});
  ledger.release({address(2), 8192});
  EXPECT_EQ(ledger.take(4096).data, nullptr);  // another class
  EXPECT_EQ(ledger.take(8192).data, address(2));
  EXPECT_EQ(ledger.take(8192).data, address(1));
}

TEST(StagingLedgerTest, CachedBlocksMakeRoomLargestFirst) {
  StagingLedger ledger(32768);
  for (const std::size_t bytes : {4096, 8192, 16384}) ledger.take(bytes);
  ledger.release({address(1), 4096});
  ledger.release({address(2), 8192});
  ledger.release({address(3), 16384});

  const auto grant = ledger.take(20480);

  EXPECT_EQ(grant.data, nullptr);
  EXPECT_EQ(grant.evicted, std::vector<Region>({{address(3), 16384}}));
  EXPECT_EQ(ledger.cached_bytes(), 12288u);
}

TEST(StagingLedgerTest, TrimErasesDownToWhatIsKept) {
  StagingLedger ledger(1 << 20);
  for (int i = 0; i < 4; ++i) ledger.take(4096);
  for (int i = 0; i < 4; ++i) ledger.release({address(i + 1), 4096});
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
      ledger.release(out.back());
      out.pop_back();
    } else {
      const std::size_t bytes = StagingLedger::block_bytes(random() % 300000);
      if (ledger.in_use_bytes() + bytes > kMax) continue;
      const auto grant = ledger.take(bytes);
      out.push_back({grant.data != nullptr ? grant.data : address(++made), bytes});
    }
    ASSERT_LE(ledger.in_use_bytes() + ledger.cached_bytes(), kMax);  // L-1
  }
}

}  // namespace
}  // namespace millrace::transfer
