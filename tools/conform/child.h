// The process in which one check is tried: forked from one that has a single thread and has never
// loaded the plugin. Read next: tools/child/in_child.h.
#pragma once

#include <string>

#include "millrace/tools/conform/check.h"

namespace millrace::conform {

struct RunOptions;

struct Answer {
  Outcome outcome = Outcome::kFailed;
  std::string detail;
};

// A process that ends without an answer has failed: its signal is named, with the function of the
// plugin that was called last and the last line that it wrote.
Answer try_in_child(const Check& check, const RunOptions& options);
// In this process; crashes and hangs are the caller's.
Answer try_here(const Check& check, const RunOptions& options);

}  // namespace millrace::conform
