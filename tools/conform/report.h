// What is reported of the checks: lines for people, lines of JSON, or JUnit's XML. Pure.
#pragma once

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
// One line each: {"event":"check","name":…,"wants":…,"outcome":…,"detail":…,"seconds":…}, for every
// check, and {"event":"done","schema":2,"plugin":…,"options":…,"passed":…,…,"seconds":…} at the
// end.
std::string to_json_line(const Verdict& verdict);
std::string to_json_summary(const Report& report);
// {"name":…,"wants":…}: a check that has not been tried.
std::string to_json_line(const Check& check);
// testsuites / testsuite per family / testcase, with failure or skipped; what XML cannot hold is
// replaced. Unsupported counts as skipped.
std::string to_junit(const Report& report);

}  // namespace millrace::conform
