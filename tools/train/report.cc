#include "millrace/tools/train/report.h"

#include "millrace/tools/train/bottleneck.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <numeric>

namespace millrace::train {
namespace {

using transfer::LoadStage;

double milliseconds(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

// p in [0, 1], nearest rank; 0 for nothing.
double percentile(std::vector<Duration> values, double p) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  return milliseconds(values[std::min(std::max<std::size_t>(rank, 1), values.size()) - 1]);
}

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}
std::string percent(double share) { return format("%.1f %%", share * 100); }
std::string ms(double value) { return format("%.2f ms", value); }

// Calls f with every event that has the name.
template <class F>
void for_each_event(const ReportInputs& inputs, const std::string& name, F f) {
  if (inputs.trace == nullptr) return;
  std::vector<int> known;  // by name: -1 not looked at, else whether it matches
  for (const TraceEvent& event : inputs.events) {
    const auto id = static_cast<std::size_t>(event.name);
    if (id >= known.size()) known.resize(id + 1, -1);
    if (known[id] < 0) known[id] = inputs.trace->name_text(event.name) == name ? 1 : 0;
    if (known[id] != 0) f(event);
  }
}

// Sum and number of the events of a name.
struct Total {
  double ms = 0;
  double count = 0;
  double mean() const { return count > 0 ? ms / count : 0; }
};

Total total_of(const ReportInputs& inputs, const std::string& name) {
  Total total;
  for_each_event(inputs, name, [&total](const TraceEvent& event) {
    total.ms += milliseconds(event.end - event.begin);
    total.count += 1;
  });
  return total;
}

// The time that events of some names cover, as intervals in order that do not touch.
class Intervals {
 public:
  static Intervals of(const ReportInputs& inputs, std::initializer_list<std::string> names) {
    std::vector<Interval> all;
    for (const std::string& name : names) {
      for_each_event(inputs, name,
                     [&all](const TraceEvent& event) { all.push_back({event.begin, event.end}); });
    }
    std::ranges::sort(all, {}, &Interval::begin);
    Intervals merged;
    for (const Interval& next : all) {
      if (!merged.list_.empty() && next.begin <= merged.list_.back().end) {
        merged.list_.back().end = std::max(merged.list_.back().end, next.end);
      } else {
        merged.list_.push_back(next);
      }
    }
    return merged;
  }

  // Of these, what the others do not cover.
  Duration length_outside(const Intervals& others) const {
    Duration outside{};
    auto other = others.list_.begin();
    for (const Interval& mine : list_) {
      outside += mine.end - mine.begin;
      while (other != others.list_.end() && other->end <= mine.begin) ++other;
      // The last one that reaches in may reach into the next of mine, too.
      for (auto o = other; o != others.list_.end() && o->begin < mine.end; ++o) {
        outside -= std::min(mine.end, o->end) - std::max(mine.begin, o->begin);
      }
    }
    return outside;
  }

 private:
  struct Interval {
    TimePoint begin, end;
  };
  std::vector<Interval> list_;
};

double stage_mean(const transfer::LoaderStats& loader, LoadStage stage) {
  const transfer::StageStats& s = loader.stage(stage);
  return s.batches > 0 ? milliseconds(s.busy) / static_cast<double>(s.batches) : 0;
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the time of all steps, the part whose events are still there: a long run keeps the newest.
double kept_share(const ReportInputs& inputs) {
  if (inputs.events_time == Duration() || inputs.time == Duration()) return 1;
  return milliseconds(inputs.events_time) / milliseconds(inputs.time);
}

// Time in which an all-reduce was open and no program ran: what of it nothing hid.
Duration bare_all_reduce(const ReportInputs& inputs) {
  const Intervals reducing = Intervals::of(inputs, {"all_reduce"});
  const Intervals running = Intervals::of(inputs, {inputs.grad_program, inputs.update_program});
  return reducing.length_outside(running);
}

void find_slowest_stage(const StageTimes& s, BottleneckEvidence& evidence) {
  evidence.slowest_loading_ms = std::max({s.read, s.decode, s.host_to_device});
  evidence.slowest_loading_stage = evidence.slowest_loading_ms == s.read     ? "read"
                                   : evidence.slowest_loading_ms == s.decode ? "decode"
                                                                             : "host-to-device";
}

std::string judge(const ReportInputs& inputs, const TrainingReport& report, Duration waited) {
  const double total = milliseconds(inputs.time);
  const double devices = static_cast<double>(std::max<std::size_t>(inputs.after.size(), 1));
  BottleneckEvidence evidence;
  evidence.waited_for_data = total > 0 ? milliseconds(waited) / devices / total : 0;
  evidence.idle = mean(report.device_idle);
  const double kept = total * kept_share(inputs);
  evidence.bare_all_reduce = kept > 0 ? milliseconds(bare_all_reduce(inputs)) / kept : 0;
  find_slowest_stage(report.stage_ms, evidence);
  evidence.step_ms = report.step_ms_median;
  evidence.execute_ms = report.stage_ms.execute;
  evidence.update_ms = report.stage_ms.update;
  evidence.all_reduce_ms = report.stage_ms.all_reduce;
  evidence.time = inputs.time;
  evidence.cpu = inputs.cpu;
  return bottleneck_sentence(evidence);
}

std::string bytes_text(std::size_t bytes) {
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 1024 ? format("%.1f KiB", kib) : format("%.1f MiB", kib / 1024);
}

}  // namespace

void fill_figures(const ReportInputs& inputs, TrainingReport& report) {
  report.steps = inputs.steps;
  report.time = inputs.time;
  report.step_ms_median = percentile(inputs.step_times, 0.5);
  report.step_ms_p99 = percentile(inputs.step_times, 0.99);
  const double seconds = std::chrono::duration<double>(inputs.time).count();
  if (seconds > 0) {
    report.images_per_second =
        static_cast<double>(inputs.steps) * static_cast<double>(inputs.batch_size) / seconds;
  }
  StageTimes& s = report.stage_ms;
  s.read = stage_mean(inputs.loader, LoadStage::kRead);
  s.decode = stage_mean(inputs.loader, LoadStage::kDecode);
  s.host_to_device = stage_mean(inputs.loader, LoadStage::kTransfer);
  s.execute = total_of(inputs, inputs.grad_program).mean();
  s.update = total_of(inputs, inputs.update_program).mean();
  const double steps = static_cast<double>(inputs.steps) * kept_share(inputs);
  if (steps > 0) s.all_reduce = total_of(inputs, "all_reduce").ms / steps;

  double loading = 0;
  for (const transfer::StageStats& stage : inputs.loader.stages)
    loading += milliseconds(stage.busy);
  const Duration waited =
      std::accumulate(inputs.data_waits.begin(), inputs.data_waits.end(), Duration());
  report.overlap = loading > 0 ? std::clamp(1 - milliseconds(waited) / loading, 0.0, 1.0) : 1;
  const double total_ms = milliseconds(inputs.time);
  for (std::size_t d = 0; d < inputs.after.size(); ++d) {
    const double busy = milliseconds(inputs.after[d].busy - inputs.before[d].busy);
    report.device_idle.push_back(total_ms > 0 ? std::clamp(1 - busy / total_ms, 0.0, 1.0) : 0);
    report.peak_bytes.in_flight.push_back(inputs.after[d].peak_bytes_in_flight);
  }
  report.peak_bytes.staging = inputs.loader.peak_host_bytes;
  report.peak_bytes.prefetched = inputs.loader.peak_device_bytes;
  report.bottleneck = judge(inputs, report, waited);
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
  line("steps", std::to_string(steps) + " in " +
                    format("%.1f s", std::chrono::duration<double>(time).count()) + ", " +
                    format("%.0f images/s", images_per_second));
  if (recoveries > 0) {
    line("recoveries", std::to_string(recoveries) +
                           " from failures of devices; the time of steps done again is included");
  }
  line("time per step", ms(step_ms_median) + " median, " + ms(step_ms_p99) + " p99");
  const StageTimes& s = stage_ms;
  line("time in each stage", "read " + ms(s.read) + ", decode " + ms(s.decode) +
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
  nlohmann::ordered_json json;
  json["event"] = "done";
  json["test_accuracy"] = test_accuracy ? nlohmann::ordered_json(*test_accuracy) : nullptr;
  json["test_loss"] = test_loss ? nlohmann::ordered_json(*test_loss) : nullptr;
  json["test_items"] = test_items;
  json["steps"] = steps;
  json["final_loss"] =
      losses.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(losses.back());
  json["recoveries"] = recoveries;
  json["seconds"] = std::chrono::duration<double>(time).count();
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
  json["bottleneck"] = bottleneck;
  return json.dump();
}

}  // namespace millrace::train
