// until_limit: processes that a limit on time should end while something in them does not. A busy
// machine may need more than a short limit to come there at all: what does not tell that it did is
// run again, within four times as long.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/tools/commands/process.h"

namespace millrace::testing {

struct Limited {
  Outcome outcome;
  std::string limit;  // the seconds that it ran within
};

// Runs all names at a time and gives for each the first outcome that came `there`, or that of the
// longest limit.
inline std::map<std::string, Limited> until_limit(
    double seconds, std::set<std::string> names,
    const std::function<std::unique_ptr<Process>(const std::string& name,
                                                 const std::string& limit)>& start,
    const std::function<bool(const std::string& name, const Outcome&)>& there) {
  std::map<std::string, Limited> all;
  for (; !names.empty() && seconds < 100; seconds *= 4) {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", seconds);
    std::map<std::string, std::unique_ptr<Process>> running;
    for (const std::string& name : names) running[name] = start(name, limit);
    for (const auto& [name, process] : running) {
      all[name] = {process->wait(), limit};
      if (there(name, all[name].outcome)) names.erase(name);
    }
  }
  return all;
}

// The same for one name.
inline Limited until_limit(
    double seconds, const std::function<std::unique_ptr<Process>(const std::string& limit)>& start,
    const std::function<bool(const Outcome&)>& there) {
  return until_limit(
             seconds, {""},
             [&](const std::string&, const std::string& limit) { return start(limit); },
             [&](const std::string&, const Outcome& outcome) { return there(outcome); })
      .at("");
}

}  // namespace millrace::testing
