// Words about what happens, by level and by module ("core", "pjrt", "transfer"). Silent below
// kWarning unless MILLRACE_LOG says otherwise: "info", or "warn,pjrt=debug,transfer=trace". Words
// go to a sink, by default stderr (through spdlog). Numbers go to metrics.h, times to trace.h.
#pragma once

#include <string>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };
std::string_view to_string(LogLevel level);

// Where log lines go. Thread-safety: thread-safe.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view module, std::string_view text) noexcept = 0;
};

// True if a line of this level and module would be written. Cheap: mostly one load.
bool log_enabled(LogLevel level, std::string_view module);
// Writes a line, if enabled.
void log(LogLevel level, std::string_view module, std::string_view text);

// Replaces the sink; nullptr brings the default back. The sink is borrowed and must outlive its
// use, so replace it before destroying it, while no thread logs.
void set_log_sink(LogSink* sink);
// Replaces the levels, as MILLRACE_LOG has them at the start. kInvalidArgument, with the levels
// unchanged, for a word that is no level.
Status set_log_levels(std::string_view spec);
// What set_log_levels would say, and changes nothing.
Status check_log_levels(std::string_view spec);

}  // namespace millrace

// MILLRACE_LOG(kInfo, "pjrt", "loaded " + path): the text is only made if a sink takes it.
#define MILLRACE_LOG(level, module, text)                               \
  do {                                                                  \
    if (::millrace::log_enabled(::millrace::LogLevel::level, module)) { \
      ::millrace::log(::millrace::LogLevel::level, module, text);       \
    }                                                                   \
  } while (false)
