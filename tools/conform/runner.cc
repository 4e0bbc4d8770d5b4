#include "millrace/tools/conform/runner.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <ranges>
#include <utility>

#include "millrace/tools/child/in_child.h"

namespace millrace::conform {
namespace {

// Not of a check's own error: `why` is the plugin's, and the plugin need not have what was checked.
bool is_lack(const Error& why, Need need) {
  if (need == Need::kMust) return false;
  if (why.detail<Lacks>() != nullptr) return true;
  if (why.detail<PluginError>() == nullptr) return false;
  return why.code() == ErrorCode::kUnimplemented || need == Need::kMay;
}

// The outcome of a check and its detail, of this process.
Verdict try_with(const Check& check, const RunOptions& options, Progress* progress) {
  const Result<Table> table = Table::load(options.path, progress);
  if (!table) return {.detail = table.error().message()};
  RigOptions rig_options = options.rig;
  rig_options.patience_seconds = options.deadline_seconds * 0.8;
  Rig rig(*table, std::move(rig_options));
  Status status = check.run(rig);
  const Status closed = rig.close();
  if (status && !closed) status = closed;
  if (status) return {.outcome = Outcome::kPassed, .detail = rig.remark()};
  const Error& why = status.error();
  if (why.detail<Skip>() != nullptr) {
    return {.outcome = Outcome::kSkipped, .detail = why.message()};
  }
  std::string text = why.message();
  if (why.detail<PluginError>() != nullptr) {
    text += " (" + std::string(millrace::to_string(why.code())) + ")";
  }
  return {.outcome = is_lack(why, check.need) ? Outcome::kUnsupported : Outcome::kFailed,
          .detail = std::move(text)};
}

std::string place(const Progress& progress) {
  const int slot = progress.slot;
  if (slot == Progress::kLoad) return "while the library was loaded";
  if (slot == Progress::kGetApi) return "in or after GetPjrtApi";
  if (slot < 0) return "before the first call";
  return "in or after " + std::string(abi::to_string(static_cast<abi::Slot>(slot)));
}

Verdict try_check(const Check& check, const RunOptions& options) {
  Progress here;
  if (options.here) return try_with(check, options, &here);
  const SharedValue<Progress> progress;
  if (progress.get() == nullptr) return {.detail = "no memory for a process"};
  // A digit for the outcome, and the detail.
  const auto work = [&] {
    const Verdict verdict = try_with(check, options, progress.get());
    return std::to_string(static_cast<int>(verdict.outcome)) + verdict.detail;
  };
  const ChildEnd end = in_child(work, options.deadline_seconds);
  if (!end.answer)
    return {.detail = end.why_not + ", " + place(*progress.get()) + last_said(end.words)};
  return {.outcome = static_cast<Outcome>(end.answer->at(0) - '0'),
          .detail = end.answer->substr(1)};
}

// Why the check need not be tried; empty: it is tried.
std::string hindrance(const Check& check, const std::map<std::string_view, Outcome>& outcomes) {
  // Without a table there is nothing to try.
  const std::string names = std::string(all_checks().front().name) + " " + check.after;
  for (const auto split : names | std::views::split(' ')) {
    const std::string_view name(split);
    const auto found = outcomes.find(name);
    if (found == outcomes.end() || found->second == Outcome::kPassed) continue;
    return "it builds on " + std::string(name) + ", which is " +
           std::string(to_string(found->second));
  }
  return {};
}

}  // namespace

bool selected(std::string_view name, const std::vector<std::string>& filters) {
  if (filters.empty()) return true;
  const std::string whole(name);
  const std::string family = whole.substr(0, whole.find('.'));
  return std::ranges::any_of(filters, [&](const std::string& filter) {
    return filter == family || ::fnmatch(filter.c_str(), whole.c_str(), 0) == 0;
  });
}

std::vector<Verdict> run_checks(const RunOptions& options,
                                const std::function<void(const Verdict&)>& report) {
  std::vector<Verdict> verdicts;
  std::map<std::string_view, Outcome> outcomes;
  for (const Check& check : all_checks()) {
    if (!selected(check.name, options.filters)) continue;
    const auto begin = std::chrono::steady_clock::now();
    const std::string why_not = hindrance(check, outcomes);
    Verdict verdict = why_not.empty() ? try_check(check, options)
                                      : Verdict{.outcome = Outcome::kSkipped, .detail = why_not};
    verdict.name = check.name;
    if (why_not.empty()) {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      verdict.seconds = took.count();
    }
    outcomes[check.name] = verdict.outcome;
    report(verdict);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace millrace::conform
