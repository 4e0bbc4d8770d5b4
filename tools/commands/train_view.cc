#include "millrace/tools/commands/train_view.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"

namespace millrace::commands {

namespace {

using train::CheckpointReport;
using train::RecoveryReport;
using train::StepReport;
using train::TrainingStart;
using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr Duration kRedrawEvery = 100ms;
constexpr Duration kLineEvery = 10s;
constexpr Duration kJsonEvery = 1s;
constexpr std::string_view kClearLine = "\r\x1b[2K";
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";

auto number(std::uint64_t value) { return static_cast<unsigned long long>(value); }

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// True at most once per interval, and the first time.
class Every {
 public:
  explicit Every(Duration interval) : interval_(interval) {}
  bool due(TimePoint now) {
    if (last_ && now - *last_ < interval_) return false;
    last_ = now;
    return true;
  }
  void reset(TimePoint now) { last_ = now; }

 private:
  const Duration interval_;
  std::optional<TimePoint> last_;
};

// What a run that resumes from a checkpoint has found.
std::string resume_text(const TrainingStart& start) {
  if (!start.resume) return "";
  if (start.resumed_from.empty()) {
    return "no checkpoint in " + start.checkpoints + ": starting from the beginning\n";
  }
  return "resuming from " + start.resumed_from +
         printed(", after %llu of %llu steps\n", number(start.first_step), number(start.steps));
}
std::string start_text(const TrainingStart& start) {
  if (start.joins) return "";
  return printed(
             "training %s on %zu device%s: %llu images, %llu steps of %lld; compiled in %.1f s\n",
             start.model.c_str(), start.devices, start.devices == 1 ? "" : "s", number(start.items),
             number(start.steps), static_cast<long long>(start.batch_size),
             seconds(start.compile_time)) +
         resume_text(start);
}
std::string world_text(const RecoveryReport& recovery) {
  const std::string why =
      recovery.error ? recovery.error->message() : "a rank has joined the others";
  return printed(
             "going on with %zu ranks after step %llu (%llu steps are done again), %.2f s later: ",
             recovery.world_size, number(recovery.step), number(recovery.steps_lost),
             seconds(recovery.time)) +
         why + "\n";
}
std::string recovery_text(const RecoveryReport& recovery) {
  if (recovery.world_size > 0) return world_text(recovery);
  std::string text;
  for (const devices::DeviceId device : recovery.devices)
    text += (text.empty() ? "device " : ", device ") + std::to_string(index(device));
  text += recovery.devices.size() == 1 ? " was" : " were";
  return text +
         printed(" restarted; resuming after step %llu (%llu steps are done again): ",
                 number(recovery.step), number(recovery.steps_lost)) +
         recovery.error->message() + "\n";
}
std::string step_text(const StepReport& step) {
  return printed("step %llu/%llu  loss %.4f  %.0f images/s  %s left", number(step.step),
                 number(step.steps), step.loss, step.images_per_second,
                 clock_text(step.left).c_str());
}

// Lines for people. With columns: the last line is a bar, which is redrawn with each step.
class TextView final : public TrainingView {
 public:
  TextView(std::uint64_t epochs, std::function<int()> columns, Sink sink)
      : epochs_(epochs),
        columns_(std::move(columns)),
        sink_(std::move(sink)),
        steps_(columns_ ? kRedrawEvery : kLineEvery) {}
  ~TextView() override { finish(); }

  void finish() override {
    if (drawn_) sink_(std::string(kClearLine) + std::string(kShowCursor));
    drawn_ = false;
  }
  void show(const TrainingEvent& event, TimePoint now) override {
    std::visit([&](const auto& one) { show_one(one, now); }, event);
  }

 private:
  void show_one(const TrainingStart& start, TimePoint now) {
    print(start_text(start));
    if (!columns_) steps_.reset(now);
  }
  void show_one(const StepReport& step, TimePoint now) {
    if (!steps_.due(now) && !(columns_ && step.step == step.steps)) return;
    if (!columns_) return print(head(step) + " " + step_text(step) + "\n");
    sink_(std::string(drawn_ ? "" : kHideCursor) + std::string(kClearLine) + bar_line(step));
    drawn_ = true;
  }
  void show_one(const EpochEnd& end, TimePoint now) {
    print(printed("epoch %llu/%llu: mean loss %.4f\n", number(end.epoch + 1), number(epochs_),
                  end.mean_loss));
    if (!columns_) steps_.reset(now);
  }
  void show_one(const CheckpointReport& checkpoint, TimePoint) {
    print("checkpoint " + checkpoint.path +
          printed(": %.1f MB in %.0f ms\n", static_cast<double>(checkpoint.bytes) * 1e-6,
                  seconds(checkpoint.time) * 1e3));
  }
  void show_one(const RecoveryReport& recovery, TimePoint) { print(recovery_text(recovery)); }
  void print(const std::string& line) { sink_(std::string(drawn_ ? kClearLine : "") + line); }
  std::string head(const StepReport& step) const {
    return printed("epoch %llu/%llu ", number(step.epoch + 1), number(epochs_));
  }
  std::string bar_line(const StepReport& step) const {
    const std::string before = head(step);
    const std::string after = " " + step_text(step);
    // One column stays free: writing into the last one wraps on some terminals.
    const auto room = static_cast<std::size_t>(std::max(1, columns_() - 1));
    constexpr std::size_t kLeastBar = 8;
    constexpr std::size_t kMostBar = 30;
    std::string bar;
    if (before.size() + after.size() + kLeastBar + 2 <= room) {
      const std::size_t width = std::min(kMostBar, room - before.size() - after.size() - 2);
      const double share =
          step.steps == 0 ? 0 : static_cast<double>(step.step) / static_cast<double>(step.steps);
      const auto done =
          std::min(width, static_cast<std::size_t>(share * static_cast<double>(width)));
      bar = "[" + std::string(done, '#') + std::string(width - done, '.') + "]";
    }
    return (before + bar + after).substr(0, room);
  }

  const std::uint64_t epochs_;
  const std::function<int()> columns_;  // empty: no bar
  const Sink sink_;
  Every steps_;
  bool drawn_ = false;  // the bar is on the screen and the cursor hidden
};

Json to_json(const TrainingStart& start) {
  Json json = {{"event", "start"},
               {"schema", 1},
               {"model", start.model},
               {"devices", start.devices},
               {"batch_size", start.batch_size},
               {"steps", start.steps},
               {"items", start.items},
               {"compile_ms", seconds(start.compile_time) * 1e3}};
  if (start.resume) {
    json["first_step"] = start.first_step;
    json["resumed_from"] = start.resumed_from.empty() ? Json(nullptr) : Json(start.resumed_from);
  }
  return json;
}
Json to_json(const StepReport& step) {
  return {{"event", "step"},
          {"epoch", step.epoch},
          {"step", step.step},
          {"steps", step.steps},
          {"loss", step.loss},
          {"images_per_second", step.images_per_second},
          {"seconds_left", seconds(step.left)}};
}
Json to_json(const EpochEnd& end) {
  return {{"event", "epoch"}, {"epoch", end.epoch}, {"mean_loss", end.mean_loss}};
}
Json to_json(const CheckpointReport& checkpoint) {
  return {{"event", "checkpoint"},
          {"step", checkpoint.step},
          {"path", checkpoint.path},
          {"bytes", checkpoint.bytes},
          {"ms", seconds(checkpoint.time) * 1e3}};
}
Json to_json(const RecoveryReport& recovery) {
  std::vector<int> devices;
  for (const devices::DeviceId device : recovery.devices) devices.push_back(index(device));
  Json json = {{"event", "recovery"}};
  if (recovery.world_size > 0) {
    json["world_size"] = recovery.world_size;
  } else {
    json["devices"] = devices;
  }
  json.update({{"step", recovery.step},
               {"steps_lost", recovery.steps_lost},
               {"recoveries", recovery.recoveries}});
  if (recovery.world_size > 0) json["seconds"] = seconds(recovery.time);
  json["error"] = recovery.error ? Json(recovery.error->message()) : Json(nullptr);
  return json;
}

class JsonView final : public TrainingView {
 public:
  explicit JsonView(Sink sink) : sink_(std::move(sink)) {}
  void show(const TrainingEvent& event, TimePoint now) override {
    if (std::holds_alternative<StepReport>(event) && !steps_.due(now)) return;
    const auto* const start = std::get_if<TrainingStart>(&event);
    if (start != nullptr && start->joins) return;
    // Losses that are no numbers come out as null: JSON has no NaN.
    sink_(json_text(std::visit([](const auto& one) { return to_json(one); }, event)) + "\n");
  }

 private:
  const Sink sink_;
  Every steps_{kJsonEvery};
};

}  // namespace

void TrainingFeed::add(TrainingEvent event) {
  {
    const std::lock_guard lock(mutex_);
    const auto* const step = std::get_if<StepReport>(&event);
    if (step != nullptr) steps_done_ = step->step;
    if (const auto* start = std::get_if<TrainingStart>(&event)) steps_ = start->steps;
    std::vector<TrainingEvent>& events = news_.events;
    if (step != nullptr && !events.empty() && std::holds_alternative<StepReport>(events.back()))
      events.pop_back();
    events.push_back(std::move(event));
  }
  changed_.notify_one();
}

void TrainingFeed::end() {
  {
    const std::lock_guard lock(mutex_);
    news_.ended = true;
  }
  changed_.notify_one();
}

TrainingFeed::News TrainingFeed::wait_blocking() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return news_.ended || !news_.events.empty(); });
  return {.events = std::exchange(news_.events, {}), .ended = news_.ended};
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

std::unique_ptr<TrainingView> make_bar_view(std::uint64_t epochs, std::function<int()> columns,
                                            Sink sink) {
  return std::make_unique<TextView>(epochs, std::move(columns), std::move(sink));
}
std::unique_ptr<TrainingView> make_line_view(std::uint64_t epochs, Sink sink) {
  return std::make_unique<TextView>(epochs, nullptr, std::move(sink));
}
std::unique_ptr<TrainingView> make_json_view(Sink sink) {
  return std::make_unique<JsonView>(std::move(sink));
}

std::string clock_text(Duration time) {
  const auto total =
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(time).count());
  const auto hours = static_cast<long long>(total / 3600);
  const auto minutes = static_cast<long long>(total / 60 % 60);
  const auto rest = static_cast<long long>(total % 60);
  return hours > 0 ? printed("%lld:%02lld:%02lld", hours, minutes, rest)
                   : printed("%lld:%02lld", minutes, rest);
}

}  // namespace millrace::commands
