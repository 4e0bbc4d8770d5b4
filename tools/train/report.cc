#include "millrace/tools/train/report.h"

#include "millrace/core/base/json_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace millrace::train {
namespace {

using transfer::LoadStage;

double milliseconds(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
// 0 of nothing.
double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double share(Duration part, Duration whole) {
  return ratio(milliseconds(part), milliseconds(whole));
}

// p in (0, 1], nearest rank; 0 for nothing.
double percentile(std::vector<Duration> values, double p) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double rank = std::ceil(p * static_cast<double>(values.size()));
  return milliseconds(values[static_cast<std::size_t>(rank) - 1]);
}

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}
std::string percent(double share) { return format("%.1f %%", share * 100); }
std::string ms(double value) { return format("%.2f ms", value); }

// Begin and end of the events of these names.
using Spans = std::vector<std::pair<TimePoint, TimePoint>>;
Spans spans_of(const ReportInputs& inputs, const std::set<std::string>& names) {
  Spans spans;
  if (inputs.trace == nullptr) return spans;
  std::map<TraceName, bool> wanted;
  for (const TraceEvent& event : inputs.events) {
    const auto [known, is_new] = wanted.try_emplace(event.name);
    if (is_new) known->second = names.contains(inputs.trace->name_text(event.name));
    if (known->second) spans.emplace_back(event.begin, event.end);
  }
  return spans;
}

double median_ms(const Spans& spans) {
  std::vector<Duration> lengths;
  for (const auto& [begin, end] : spans) lengths.push_back(end - begin);
  return percentile(std::move(lengths), 0.5);
}

// A step may have several; the median is that of their sums.
double median_of_steps(Spans spans, double steps) {
  const auto each =
      static_cast<std::size_t>(std::llround(ratio(static_cast<double>(spans.size()), steps)));
  std::ranges::sort(spans);
  std::vector<Duration> sums;
  for (std::size_t i = 0; each > 0 && i + each <= spans.size(); i += each) {
    Duration& sum = sums.emplace_back();
    for (const auto& [begin, end] : std::span(spans).subspan(i, each)) sum += end - begin;
  }
  return percentile(std::move(sums), 0.5);
}

// The time that they cover together.
Duration covered(Spans spans) {
  std::ranges::sort(spans);
  Duration sum{};
  TimePoint until = TimePoint::min();
  for (const auto& [begin, end] : spans) {
    if (end <= until) continue;
    sum += end - std::max(begin, until);
    until = end;
  }
  return sum;
}

// The median time of a batch in the stage.
double stage_median(const ReportInputs& inputs, LoadStage stage) {
  Spans spans;
  std::map<TraceLane, bool> wanted;
  for (const TraceEvent& event : inputs.events) {
    const auto [known, is_new] = wanted.try_emplace(event.lane);
    if (is_new)
      known->second =
          inputs.trace->lane_text(event.lane) == std::string("loader ") + to_string(stage);
    if (known->second) spans.emplace_back(event.begin, event.end);
  }
  return median_ms(spans);
}

// What the sentence on the bottleneck is about. Shares are of the time of the steps, mean over the
// devices, 0 to 1.
struct Evidence {
  const TrainingReport& report;
  const CpuUsage& cpu;
  double waited_for_data = 0;
  double idle = 0;
  double bare_all_reduce = 0;  // an all-reduce was open and no device ran a program

  // The share of the time in which threads of this process were ready to run.
  double waited_for_core() const { return share(cpu.waiting, cpu.process + cpu.waiting); }
  double cores() const { return share(cpu.process, report.time); }
  double cores_of_others() const { return share(cpu.others(), report.time); }
  // "1.93 of 2 cores".
  std::string cores_text(double used) const {
    return format("%.2f", used) + " of " + std::to_string(cpu.cores) +
           (cpu.cores == 1 ? " core" : " cores");
  }
  // Ends most sentences, so that the cores can be ruled out or suspected.
  std::string cpu_clause() const {
    return cpu.cores == 0 ? "." : "; the process used " + cores_text(cores()) + ".";
  }
  std::string busy_text() const {
    return "the devices ran programs " + percent(1 - idle) + " of the time (grad " +
           ms(report.stage_ms.execute) + " and update " + ms(report.stage_ms.update) + " of a " +
           ms(report.step_ms_median) + " step) and waited for data " + percent(waited_for_data) +
           " of it";
  }
  std::string idle_text() const {
    return "the devices were idle " + percent(idle) + " of the time but waited for data only " +
           percent(waited_for_data) + " of it";
  }
};

// Loading: that much of the time at least, and of what the devices were idle.
constexpr double kWaitsForData = 0.1;
constexpr double kOfTheIdleTime = 0.5;
// The cores are used up from here on: a training never fills the last of them evenly.
constexpr double kCoresFull = 0.85;
// Others are to blame from these on: their share of the cores, and the share of the time that our
// threads were ready in which they had no core. The second alone may be our own doing: a burst of
// more threads than cores.
constexpr double kOthersShare = 0.2;
constexpr double kWaitsForCore = 0.2;
// A device with less idle time is busy.
constexpr double kIdleOfABusyDevice = 0.35;

// What limits the training, in one sentence with the figures that say so: the first cause, in this
// order, that the evidence shows.
std::string bottleneck_sentence(const Evidence& e) {
  const StageTimes& s = e.report.stage_ms;
  if (e.waited_for_data > kWaitsForData && e.waited_for_data > e.idle * kOfTheIdleTime) {
    const double slowest = std::max({s.read, s.decode, s.host_to_device});
    const char* const stage = slowest == s.read     ? "read"
                              : slowest == s.decode ? "decode"
                                                    : "host-to-device";
    return "Loading is the bottleneck: the devices waited for data " + percent(e.waited_for_data) +
           " of the time; its slowest stage is " + stage + " with " + ms(slowest) +
           " per batch, while a step computes " + ms(s.execute + s.update) + e.cpu_clause();
  }
  if (e.cpu.cores > 0 && e.report.time > Duration()) {
    if (e.cores() >= kCoresFull * e.cpu.cores) {
      return "The cores are the bottleneck: the process used " + e.cores_text(e.cores()) +
             ", all that there is; " + e.busy_text() + ".";
    }
    if (e.cores_of_others() >= kOthersShare * e.cpu.cores && e.waited_for_core() >= kWaitsForCore) {
      return "Other processes are the bottleneck: they used " + e.cores_text(e.cores_of_others()) +
             " and this one " + format("%.2f", e.cores()) +
             ", whose threads were without a core for " + percent(e.waited_for_core()) +
             " of the time that they were ready to run; " + e.busy_text() + ".";
    }
  }
  if (e.idle <= kIdleOfABusyDevice)
    return "Execution is the bottleneck: " + e.busy_text() + e.cpu_clause();
  if (e.bare_all_reduce >= e.idle * kOfTheIdleTime) {
    return "All-reduce is the bottleneck: for " + percent(e.bare_all_reduce) +
           " of the time gradients were being reduced while no device ran a program (" +
           ms(s.all_reduce) + " of all-reduce in a step of " + ms(e.report.step_ms_median) + "); " +
           e.idle_text() + e.cpu_clause();
  }
  return "Coordination is the bottleneck: " + e.idle_text() + ", and " +
         percent(e.bare_all_reduce) + " went to all-reduce alone; a step of " +
         ms(e.report.step_ms_median) + " has " + ms(s.execute + s.update) + " of execution" +
         e.cpu_clause();
}

std::string bytes_text(std::size_t bytes) {
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 1024 ? format("%.1f KiB", kib) : format("%.1f MiB", kib / 1024);
}

}  // namespace

void fill_figures(const ReportInputs& inputs, TrainingReport& report) {
  const std::string& grad = inputs.grad_program;
  const std::string& update = inputs.update_program;
  // The events of a long run are its newest: those of so much time, and of so many steps.
  const Duration kept = inputs.events_time == Duration() ? inputs.time : inputs.events_time;
  const auto steps = static_cast<double>(inputs.steps);
  const double kept_steps = inputs.time == Duration() ? steps : steps * share(kept, inputs.time);
  report.steps = inputs.steps_before + inputs.steps;
  report.steps_here = inputs.steps;
  report.time = inputs.time;
  report.step_ms_median = percentile(inputs.step_times, 0.5);
  report.step_ms_p99 = percentile(inputs.step_times, 0.99);
  report.images_per_second = ratio(static_cast<double>(inputs.items), seconds(inputs.time));
  report.stage_ms = {.read = stage_median(inputs, LoadStage::kRead),
                     .decode = stage_median(inputs, LoadStage::kDecode),
                     .host_to_device = stage_median(inputs, LoadStage::kTransfer),
                     .execute = median_ms(spans_of(inputs, {grad})),
                     .all_reduce = median_of_steps(spans_of(inputs, {"all_reduce"}), kept_steps),
                     .update = median_ms(spans_of(inputs, {update}))};

  Duration loading{};
  for (const transfer::StageStats& stage : inputs.loader.stages) loading += stage.busy;
  const Duration waited =
      std::accumulate(inputs.data_waits.begin(), inputs.data_waits.end(), Duration());
  report.overlap = std::clamp(1 - share(waited, loading), 0.0, 1.0);
  double idle = 0;
  const auto devices = static_cast<double>(std::max<std::size_t>(inputs.after.size(), 1));
  for (std::size_t d = 0; d < inputs.after.size(); ++d) {
    const Duration busy = inputs.after[d].busy - inputs.before[d].busy;
    report.device_idle.push_back(
        inputs.time > Duration() ? std::clamp(1 - share(busy, inputs.time), 0.0, 1.0) : 0);
    idle += report.device_idle[d] / devices;
    report.peak_bytes.in_flight.push_back(inputs.after[d].peak_bytes_in_flight);
  }
  report.peak_bytes.staging = inputs.loader.peak_host_bytes;
  report.peak_bytes.prefetched = inputs.loader.peak_device_bytes;
  if (inputs.steps == 0) return;
  const Duration bare = covered(spans_of(inputs, {"all_reduce", grad, update})) -
                        covered(spans_of(inputs, {grad, update}));
  report.bottleneck = bottleneck_sentence({.report = report,
                                           .cpu = inputs.cpu,
                                           .waited_for_data = share(waited, inputs.time) / devices,
                                           .idle = idle,
                                           .bare_all_reduce = share(bare, kept)});
}

std::string TrainingReport::to_text() const {
  std::string text;
  const auto line = [&text](const std::string& what, const std::string& value) {
    text += what + std::string(what.size() < 24 ? 24 - what.size() : 1, ' ') + value + "\n";
  };
  if (test_accuracy) {
    line("test accuracy", percent(*test_accuracy) + " of " + std::to_string(test_items) +
                              " items, loss " + format("%.4f", *test_loss));
  }
  const std::string count = std::to_string(steps);
  if (steps_here == 0) {
    line("steps", steps == 0 ? "none: the run was resumed after its last step"
                             : count + ", all before this process was started");
    return text;
  }
  line("steps",
       count + (steps_here < steps ? ", the last " + std::to_string(steps_here) + " of them" : "") +
           " in " + format("%.1f s", seconds(time)) + ", " +
           format("%.0f images/s", images_per_second));
  if (recoveries > 0) {
    line("recoveries", std::to_string(recoveries) + "; the time of steps done again is included");
  }
  line("time per step", ms(step_ms_median) + " median, " + ms(step_ms_p99) + " p99");
  const StageTimes& s = stage_ms;
  line("medians of the stages", "read " + ms(s.read) + ", decode " + ms(s.decode) +
                                    ", host-to-device " + ms(s.host_to_device) +
                                    " (per batch of a device)");
  line("", "execute " + ms(s.execute) + ", all-reduce " + ms(s.all_reduce) + ", update " +
               ms(s.update));
  line("loading hidden", percent(overlap) + " of the loading time no device waited for");
  std::string idle;
  std::string in_flight;
  for (std::size_t d = 0; d < device_idle.size(); ++d) {
    const std::string device = (d > 0 ? ", device " : "device ") + std::to_string(d) + ": ";
    idle += device + percent(device_idle[d]);
    in_flight += device + bytes_text(peak_bytes.in_flight[d]);
  }
  line("idle share", idle);
  line("peak bytes in flight", in_flight + "; staging " + bytes_text(peak_bytes.staging) +
                                   ", prefetched " + bytes_text(peak_bytes.prefetched));
  return text + bottleneck + "\n";
}

std::string TrainingReport::to_json() const {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](bool known, const auto& value) {
    return known ? Json(value) : Json(nullptr);
  };
  Json json;
  json["event"] = "done";
  json["test_accuracy"] = or_null(test_accuracy.has_value(), test_accuracy.value_or(0));
  json["test_loss"] = or_null(test_loss.has_value(), test_loss.value_or(0));
  json["test_items"] = test_items;
  json["steps"] = steps;
  json["final_loss"] = or_null(!losses.empty(), losses.empty() ? 0 : losses.back());
  json["recoveries"] = recoveries;
  json["seconds"] = seconds(time);
  json["step_ms_median"] = step_ms_median;
  json["step_ms_p99"] = step_ms_p99;
  json["images_per_second"] = images_per_second;
  json["stage_ms"] = {{"read", stage_ms.read},
                      {"decode", stage_ms.decode},
                      {"host_to_device", stage_ms.host_to_device},
                      {"execute", stage_ms.execute},
                      {"all_reduce", stage_ms.all_reduce},
                      {"update", stage_ms.update}};
  json["overlap"] = overlap;
  json["device_idle"] = device_idle;
  json["peak_bytes"] = {{"staging", peak_bytes.staging},
                        {"prefetched", peak_bytes.prefetched},
                        {"in_flight", peak_bytes.in_flight}};
  json["bottleneck"] = or_null(!bottleneck.empty(), bottleneck);
  return json_text(json);
}

}  // namespace millrace::train
