#include "millrace/tools/conform/runner.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "millrace/tools/conform/child.h"

namespace millrace::conform {
namespace {

// Why the check need not be tried; empty: it is tried.
std::string hindrance(const Check& check, const std::map<std::string_view, Outcome>& outcomes) {
  // Without a table there is nothing to try.
  std::vector<std::string_view> names = {all_checks().front().name};
  names.insert(names.end(), check.after.begin(), check.after.end());
  for (const std::string_view name : names) {
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
                                const std::function<void(const Verdict&)>& tell) {
  std::vector<Verdict> verdicts;
  std::map<std::string_view, Outcome> outcomes;
  for (const Check& check : all_checks()) {
    if (!selected(check.name, options.filters)) continue;
    Verdict verdict{.name = std::string(check.name)};
    verdict.detail = hindrance(check, outcomes);
    if (!verdict.detail.empty()) {
      verdict.outcome = Outcome::kSkipped;
    } else {
      const auto begin = std::chrono::steady_clock::now();
      const Answer answer = options.here ? try_here(check, options) : try_in_child(check, options);
      verdict.outcome = answer.outcome;
      verdict.detail = answer.detail;
      verdict.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    outcomes[check.name] = verdict.outcome;
    tell(verdict);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace millrace::conform
