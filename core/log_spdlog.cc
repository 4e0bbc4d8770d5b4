#include "millrace/core/log_spdlog.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>

namespace millrace {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

// A logger of our own, outside spdlog's registry: a program that uses spdlog keeps its own
// settings.
class SpdlogSink final : public LogSink {
 public:
  SpdlogSink() : logger_("millrace", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    logger_.set_level(spdlog::level::trace);  // log.h has decided already
    logger_.set_pattern("%H:%M:%S.%e %^%l%$ millrace/%v");
    logger_.flush_on(spdlog::level::trace);
  }
  void write(LogLevel level, std::string_view module, std::string_view text) noexcept override {
    logger_.log(to_spdlog(level), "{}: {}", module, text);
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

LogSink& stderr_log_sink() {
  static auto* sink = new SpdlogSink;
  return *sink;
}

}  // namespace millrace
