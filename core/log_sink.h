// Where log lines go, and their levels. Read log.h first.
#pragma once

#include <string_view>

namespace millrace {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

std::string_view to_string(LogLevel level);

// Where log lines go. Thread-safety: thread-safe.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view module, std::string_view text) noexcept = 0;
};

}  // namespace millrace
