#include "millrace/tools/commands/train_feed.h"

#include <utility>

namespace millrace::commands {

template <class F>
void TrainingFeed::change(F&& f) {
  {
    const std::lock_guard lock(mutex_);
    f(news_);
    has_news_ = true;
  }
  changed_.notify_one();
}

void TrainingFeed::on_start(const train::TrainingStart& start) {
  change([&](TrainingNews& news) {
    news.start = start;
    steps_ = start.steps;
  });
}

void TrainingFeed::on_step(const train::StepReport& step) {
  change([&](TrainingNews& news) {
    news.step = step;
    steps_done_ = step.step;
  });
}

void TrainingFeed::on_epoch(std::uint64_t epoch, double mean_loss) {
  change([&](TrainingNews& news) { news.epochs.push_back({epoch, mean_loss}); });
}

void TrainingFeed::on_checkpoint(const train::CheckpointReport& checkpoint) {
  change([&](TrainingNews& news) { news.checkpoints.push_back(checkpoint); });
}

void TrainingFeed::on_recovery(const train::RecoveryReport& recovery) {
  change([&](TrainingNews& news) { news.recoveries.push_back(recovery); });
}

void TrainingFeed::end() {
  change([](TrainingNews& news) { news.ended = true; });
}

TrainingNews TrainingFeed::wait_blocking() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return has_news_; });
  has_news_ = news_.ended;
  TrainingNews news = std::exchange(news_, {});
  news_.ended = news.ended;
  return news;
}

std::uint64_t TrainingFeed::steps_done() const {
  const std::lock_guard lock(mutex_);
  return steps_done_;
}

std::string TrainingFeed::progress() const {
  const std::lock_guard lock(mutex_);
  if (steps_done_ == 0) return "before the first step had ended";
  return "after step " + std::to_string(steps_done_) + " of " + std::to_string(steps_);
}

}  // namespace millrace::commands
