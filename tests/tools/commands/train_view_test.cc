#include "millrace/tools/commands/train_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace millrace::commands {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TrainViewTest : public ::testing::Test {
 protected:
  Sink sink() {
    return [this](std::string_view text) { text_ += text; };
  }
  // What the view writes for the event, `after` the start of the test.
  std::string show(TrainingView& view, const TrainingEvent& event, Duration after) {
    text_.clear();
    view.show(event, TimePoint() + after);
    return text_;
  }
  static train::StepReport step(std::uint64_t number, std::uint64_t epoch = 0) {
    return {.epoch = epoch,
            .step = number,
            .steps = 100,
            .loss = 0.5,
            .images_per_second = 1234,
            .left = 75s};
  }
  static train::TrainingStart start() {
    return {.model = "net",
            .devices = 2,
            .batch_size = 128,
            .steps = 100,
            .items = 6400,
            .compile_time = 1500ms};
  }

  std::string text_;
};

TEST_F(TrainViewTest, BarFillsWithTheShareOfSteps) {
  const auto view = make_bar_view(3, [] { return 100; }, sink());
  EXPECT_EQ(show(*view, step(50, 1), 0s),
            "\x1b[?25l\r\x1b[2Kepoch 2/3 [###############...............] "
            "step 50/100  loss 0.5000  1234 images/s  1:15 left");
}

TEST_F(TrainViewTest, BarIsRedrawnAtMostTenTimesASecondAndAtTheEnd) {
  const auto view = make_bar_view(3, [] { return 100; }, sink());
  EXPECT_FALSE(show(*view, step(1), 0s).empty());
  EXPECT_TRUE(show(*view, step(2), 99ms).empty());
  EXPECT_FALSE(show(*view, step(3), 100ms).empty());
  EXPECT_THAT(show(*view, step(100), 101ms), HasSubstr("step 100/100"));
}

TEST_F(TrainViewTest, BarNeverReachesTheLastColumnOfANarrowTerminal) {
  for (int columns = 1; columns < 120; ++columns) {
    const auto view = make_bar_view(3, [columns] { return columns; }, sink());
    const std::string line = show(*view, step(50), 0s);
    const std::string prefix = "\x1b[?25l\r\x1b[2K";
    EXPECT_LE(line.size() - prefix.size(),
              std::max<std::size_t>(1, static_cast<std::size_t>(columns) - 1));
  }
}

TEST_F(TrainViewTest, CursorComesBackWhenTheBarGoes) {
  auto view = make_bar_view(3, [] { return 100; }, sink());
  show(*view, step(1), 0s);
  text_.clear();
  view->finish();
  EXPECT_EQ(text_, "\r\x1b[2K\x1b[?25h");
  text_.clear();
  view.reset();
  EXPECT_EQ(text_, "");  // once is enough
}

TEST_F(TrainViewTest, LinesComeEveryTenSecondsAndAtTheEndOfEpochs) {
  const auto view = make_line_view(3, sink());
  EXPECT_EQ(show(*view, start(), 0s),
            "training net on 2 devices: 6400 images, 100 steps of 128; compiled in 1.5 s\n");
  EXPECT_EQ(show(*view, step(1), 9999ms), "");
  EXPECT_EQ(show(*view, step(2), 10s),
            "epoch 1/3  step 2/100  loss 0.5000  1234 images/s  1:15 left\n");
  EXPECT_EQ(show(*view, EpochEnd{.epoch = 0, .mean_loss = 0.25}, 15s),
            "epoch 1/3: mean loss 0.2500\n");
  EXPECT_EQ(show(*view, step(3, 1), 24s), "");
  EXPECT_THAT(show(*view, step(4, 1), 25s), StartsWith("epoch 2/3  step 4/100"));
}

TEST_F(TrainViewTest, JsonPrintsTheFirstStepAndThenOneASecond) {
  const auto view = make_json_view(sink());
  const auto first = nlohmann::json::parse(show(*view, step(1), 0s));
  EXPECT_EQ(first["event"], "step");
  EXPECT_EQ(first["step"], 1);
  EXPECT_EQ(first["seconds_left"], 75);
  EXPECT_EQ(show(*view, step(2), 999ms), "");
  EXPECT_THAT(show(*view, step(3), 1s), EndsWith("}\n"));
  const auto begun = nlohmann::json::parse(show(*view, start(), 2s));
  EXPECT_EQ(begun["compile_ms"], 1500);
  EXPECT_EQ(begun["devices"], 2);
}

TEST_F(TrainViewTest, JsonStaysJsonWhenTheLossIsNoNumber) {
  const auto view = make_json_view(sink());
  train::StepReport report = step(1);
  report.loss = std::nan("");
  EXPECT_TRUE(nlohmann::json::parse(show(*view, report, 0s))["loss"].is_null());
}

TEST_F(TrainViewTest, TimesReadAsClocks) {
  EXPECT_EQ(clock_text(7s), "0:07");
  EXPECT_EQ(clock_text(12min + 34s), "12:34");
  EXPECT_EQ(clock_text(1h + 2min + 3s), "1:02:03");
  EXPECT_EQ(clock_text(-1s), "0:00");
}

TEST(TrainingFeedTest, ReaderGetsEverythingInOrderAndTheLastOfStepsInARow) {
  TrainingFeed feed;
  feed.on_start({.model = "net"});
  feed.on_step({.step = 1});
  feed.on_step({.step = 2});
  feed.on_epoch(0, 0.5);
  feed.on_step({.step = 3});
  feed.on_epoch(1, 0.25);
  const TrainingFeed::News news = feed.wait_blocking();
  ASSERT_EQ(news.events.size(), 5U);
  EXPECT_EQ(std::get<train::TrainingStart>(news.events[0]).model, "net");
  EXPECT_EQ(std::get<train::StepReport>(news.events[1]).step, 2U);
  EXPECT_EQ(std::get<EpochEnd>(news.events[2]).epoch, 0U);
  EXPECT_EQ(std::get<train::StepReport>(news.events[3]).step, 3U);
  EXPECT_EQ(std::get<EpochEnd>(news.events[4]).epoch, 1U);
  EXPECT_FALSE(news.ended);
  EXPECT_EQ(feed.steps_done(), 3U);
  feed.end();
  EXPECT_TRUE(feed.wait_blocking().ended);
  EXPECT_TRUE(feed.wait_blocking().ended);
}

train::TrainingStart resumed(std::string from) {
  return {.model = "net",
          .devices = 1,
          .steps = 100,
          .checkpoints = "DIR",
          .resume = true,
          .resumed_from = std::move(from),
          .first_step = 40};
}

TEST_F(TrainViewTest, TheCheckpointOfAResumedRunIsPrinted) {
  const auto view = make_line_view(3, sink());
  EXPECT_THAT(show(*view, resumed("DIR/step-00000040"), 0s),
              EndsWith("resuming from DIR/step-00000040, after 40 of 100 steps\n"));
  EXPECT_THAT(show(*view, resumed(""), 0s),
              EndsWith("no checkpoint in DIR: starting from the beginning\n"));
  EXPECT_THAT(show(*view, start(), 0s), Not(HasSubstr("checkpoint")));
  const auto json = make_json_view(sink());
  const auto event = nlohmann::json::parse(show(*json, resumed("DIR/step-00000040"), 0s));
  EXPECT_EQ(event["first_step"], 40);
  EXPECT_EQ(event["resumed_from"], "DIR/step-00000040");
  EXPECT_TRUE(nlohmann::json::parse(show(*json, resumed(""), 0s))["resumed_from"].is_null());
}

TEST_F(TrainViewTest, ACheckpointIsALineOfItsOwn) {
  const train::CheckpointReport report{
      .step = 48, .path = "DIR/step-00000048", .bytes = 2'540'000, .time = 12ms};
  const std::string line = "checkpoint DIR/step-00000048: 2.5 MB in 12 ms\n";
  EXPECT_EQ(show(*make_line_view(3, sink()), report, 0s), line);
  EXPECT_THAT(show(*make_bar_view(3, [] { return 100; }, sink()), report, 0s), HasSubstr(line));
  const auto event = nlohmann::json::parse(show(*make_json_view(sink()), report, 0s));
  EXPECT_EQ(event["event"], "checkpoint");
  EXPECT_EQ(event["step"], 48);
  EXPECT_EQ(event["bytes"], 2'540'000);
}

TEST_F(TrainViewTest, ARecoveryIsALineOfItsOwn) {
  const train::RecoveryReport report{.devices = {devices::DeviceId{0}, devices::DeviceId{3}},
                                     .error = Error(ErrorCode::kUnavailable, "power cut"),
                                     .step = 45,
                                     .steps_lost = 5,
                                     .recoveries = 2};
  const std::string line =
      "device 0, device 3 were restarted; resuming after step 45 (5 steps are done again): power "
      "cut\n";
  EXPECT_EQ(show(*make_line_view(3, sink()), report, 0s), line);
  EXPECT_THAT(show(*make_bar_view(3, [] { return 100; }, sink()), report, 0s), HasSubstr(line));
  const auto event = nlohmann::json::parse(show(*make_json_view(sink()), report, 0s));
  EXPECT_EQ(event["event"], "recovery");
  EXPECT_EQ(event["devices"], (std::vector{0, 3}));
  EXPECT_EQ(event["step"], 45);
  EXPECT_EQ(event["steps_lost"], 5);
}

TEST_F(TrainViewTest, AChangeOfTheWorldSaysHowManyGoOn) {
  train::RecoveryReport report{.error = Error(ErrorCode::kAborted, "rank 2 is lost"),
                               .step = 100,
                               .steps_lost = 7,
                               .recoveries = 1,
                               .world_size = 3,
                               .time = 250ms};
  EXPECT_EQ(
      show(*make_line_view(3, sink()), report, 0s),
      "going on with 3 ranks after step 100 (7 steps are done again), 0.25 s later: rank 2 is "
      "lost\n");
  auto event = nlohmann::json::parse(show(*make_json_view(sink()), report, 0s));
  EXPECT_EQ(event["world_size"], 3);
  EXPECT_EQ(event["steps_lost"], 7);
  EXPECT_EQ(event["seconds"], 0.25);
  EXPECT_EQ(event["error"], "rank 2 is lost");
  EXPECT_FALSE(event.contains("devices"));
  report.error.reset();
  EXPECT_THAT(show(*make_line_view(3, sink()), report, 0s), HasSubstr("a rank has joined"));
  event = nlohmann::json::parse(show(*make_json_view(sink()), report, 0s));
  EXPECT_TRUE(event["error"].is_null());
}

TEST_F(TrainViewTest, ARankThatJoinsDoesNotTellTheStartAgain) {
  const train::TrainingStart start{.model = "mnist", .joins = true};
  EXPECT_EQ(show(*make_json_view(sink()), start, 0s), "");
  EXPECT_EQ(show(*make_line_view(3, sink()), start, 0s), "");
}

}  // namespace
}  // namespace millrace::commands
