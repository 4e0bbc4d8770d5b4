// run_load: a load generator of the Open Inference Protocol v2 on one event loop. Blocks; the
// thread that calls it is the loop's. Read next: load_plan.h (when what is sent), load_report.h.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "millrace/core/base/error.h"
#include "millrace/tools/load/load_plan.h"
#include "millrace/tools/load/load_report.h"
#include "millrace/tools/load/load_target.h"

namespace millrace::load {

struct LoadSetting {
  LoadTarget target = {};
  LoadOptions plan = {};
  int connections = 1;  // of a closed loop: its clients
  std::int64_t rows = 1;
  std::optional<std::int64_t> length = {};
  std::string token = {};                       // of a bearer; empty: none
  Duration timeout = std::chrono::seconds(30);  // of a request, from its sending
  std::function<void(const LoadReport&, TimePoint)> progress = {};  // once a second
};

// A stop ends it early, with the report of what has come. kCancelled: it came before the server had
// described its model. kUnavailable: nothing answers there, or not as a server of the protocol; the
// errors of make_body and only_model.
Result<LoadReport> run_load(const LoadSetting& setting, const std::stop_token& stop);

}  // namespace millrace::load
