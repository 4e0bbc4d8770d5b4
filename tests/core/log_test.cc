#include "millrace/core/observe/log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/future.h"
#include "millrace/core/base/mutex.h"

namespace millrace {
namespace {

class Collector final : public LogSink {
 public:
  void write(LogLevel level, std::string_view module, std::string_view text) noexcept override {
    MutexLock lock(mutex_);
    lines_.push_back(std::string(to_string(level)) + " " + std::string(module) + ": " +
                     std::string(text));
  }
  std::vector<std::string> lines() {
    MutexLock lock(mutex_);
    return lines_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> lines_ MILLRACE_GUARDED_BY(mutex_);
};

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    set_log_sink(&sink);
    EXPECT_TRUE(set_log_levels(""));
  }
  ~LogTest() override {
    set_log_sink(nullptr);
    EXPECT_TRUE(set_log_levels(""));
  }
  Collector sink;
};
using LogStressTest = LogTest;

TEST_F(LogTest, IsSilentBelowWarningByDefault) {
  log(LogLevel::kInfo, "core", "no");
  log(LogLevel::kWarning, "core", "yes");
  EXPECT_EQ(sink.lines(), (std::vector<std::string>{"warn core: yes"}));
}

TEST_F(LogTest, LevelOfAModuleWinsOverTheGeneralOne) {
  ASSERT_TRUE(set_log_levels("error,pjrt=debug"));
  EXPECT_TRUE(log_enabled(LogLevel::kDebug, "pjrt"));
  EXPECT_FALSE(log_enabled(LogLevel::kTrace, "pjrt"));
  EXPECT_FALSE(log_enabled(LogLevel::kWarning, "core"));
  EXPECT_TRUE(log_enabled(LogLevel::kError, "core"));
}

TEST_F(LogTest, OffSilencesAModule) {
  ASSERT_TRUE(set_log_levels("info,loader=off"));
  EXPECT_FALSE(log_enabled(LogLevel::kError, "loader"));
  EXPECT_TRUE(log_enabled(LogLevel::kInfo, "core"));
}

TEST_F(LogTest, UnknownLevelIsRefusedAndChangesNothing) {
  ASSERT_TRUE(set_log_levels("info"));
  const Status status = set_log_levels("debug,pjrt=loud");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.error().message().find("'loud'"), std::string::npos);
  EXPECT_FALSE(log_enabled(LogLevel::kDebug, "core"));
}

TEST_F(LogTest, TextOfASilentLineIsNotMade) {
  int made = 0;
  const auto text = [&] {
    ++made;
    return std::string("text");
  };
  MILLRACE_LOG(kDebug, "core", text());
  EXPECT_EQ(made, 0);
  MILLRACE_LOG(kError, "core", text());
  EXPECT_EQ(made, 1);
}

TEST_F(LogTest, UnobservedErrorIsLoggedOnce) {
  {
    const Error lost(ErrorCode::kDataLoss, "lost");
    Future<int> dropped(lost), forwarded(lost);
  }
  {
    Future<int> cancelled(Error(ErrorCode::kCancelled, "stopped"));
  }
  {
    Future<int> seen(Error(ErrorCode::kDataLoss, "seen"));
    EXPECT_FALSE(seen.result());
  }
  ASSERT_EQ(sink.lines().size(), 1u);
  EXPECT_NE(sink.lines()[0].find("DATA_LOSS: lost"), std::string::npos);
}

// Real threads: lines and levels come from many.
TEST_F(LogStressTest, LinesOfManyThreadsAreAllThere) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        log(LogLevel::kError, "core", "line");
        const bool even = i % 2 == 0;
        EXPECT_TRUE(set_log_levels(even ? "info" : "warn,pjrt=trace"));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sink.lines().size(), 2000u);
}

}  // namespace
}  // namespace millrace
