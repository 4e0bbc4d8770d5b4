// What is told of the checks: lines for people, one JSON document, or JUnit's XML. Pure.
#pragma once

#include <span>
#include <string>

#include "millrace/tools/conform/check.h"

namespace millrace::conform {

struct Report {
  std::string plugin;   // the name of its file
  std::string options;  // create options, as given
  std::vector<Verdict> verdicts;
};

int count(const Report& report, Outcome outcome);

// "events.await          passed        0.004 s  its remark"
std::string to_line(const Verdict& verdict);
// "101 passed, 1 failed, 2 unsupported, 3 skipped in 4.2 s"
std::string to_summary(const Report& report);
// {"schema":1,"plugin":…,"options":…,"passed":…,…,"checks":[{"name","wants","outcome","detail","seconds"}]}
std::string to_json(const Report& report);
// testsuites / testsuite per family / testcase, with failure or skipped; what XML cannot hold is
// replaced. Unsupported counts as skipped.
std::string to_junit(const Report& report);

}  // namespace millrace::conform
