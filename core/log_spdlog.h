// The default sink of log.h: stderr, through spdlog. Only log_spdlog.cc includes it.
#pragma once

#include "millrace/core/log_sink.h"

namespace millrace {

// One for the process, never destroyed.
LogSink& stderr_log_sink();

}  // namespace millrace
