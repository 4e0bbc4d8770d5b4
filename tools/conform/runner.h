// Runs checks, each in a process of its own with a deadline: a plugin that crashes or blocks fails
// the check in which it does. Read next: report.h, what is reported of it all;
// tools/child/in_child.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

struct RunOptions {
  std::string path;                  // of the plugin
  RigOptions rig;                    // patience is set to less than the deadline
  double deadline_seconds = 60;      // of each check
  std::vector<std::string> filters;  // names, families, or patterns with *; none: every check
  bool here = false;                 // in this process, without a deadline: for a debugger
};

bool selected(std::string_view name, const std::vector<std::string>& filters);

// Blocking. Each process is forked from this one, which must have a single thread and must never
// have loaded the plugin. report is called after each check, in order. A check whose `after` did
// not pass is skipped; those that no filter selects count as passed. A process that ends without an
// answer has failed: its signal is named, with the function of the plugin that was called last and
// the last line that it wrote.
std::vector<Verdict> run_checks(const RunOptions& options,
                                const std::function<void(const Verdict&)>& report);

}  // namespace millrace::conform
