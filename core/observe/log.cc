#include "millrace/core/observe/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>

#include "millrace/core/base/mutex.h"

namespace millrace {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"trace", "debug", "info",
                                                    "warn",  "error", "off"};

struct Levels {
  LogLevel general = LogLevel::kWarning;
  std::map<std::string, LogLevel, std::less<>> modules;
};

Result<LogLevel> parse_level(std::string_view word) {
  if (word == "warning") word = "warn";
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == word) return static_cast<LogLevel>(i);
  }
  return fail(
      ErrorCode::kInvalidArgument,
      "reading log levels (MILLRACE_LOG): '" + std::string(word) +
          "' is no level; there are trace, debug, info, warn, error and off, also for one module "
          "as in pjrt=debug");
}

Result<Levels> parse_levels(std::string_view spec) {
  Levels levels;
  while (!spec.empty()) {
    const std::size_t comma = spec.find(',');
    const std::string_view item = spec.substr(0, comma);
    spec = comma == std::string_view::npos ? std::string_view() : spec.substr(comma + 1);
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      MILLRACE_TRY(levels.general, parse_level(item));
    } else {
      MILLRACE_TRY(const LogLevel level, parse_level(item.substr(equals + 1)));
      levels.modules.insert_or_assign(std::string(item.substr(0, equals)), level);
    }
  }
  return levels;
}

// stderr, by a logger outside spdlog's registry: a program that uses spdlog keeps its own settings.
class StderrSink final : public LogSink {
 public:
  StderrSink() : logger_("millrace", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    logger_.set_level(spdlog::level::trace);  // Log has decided already
    logger_.set_pattern("%H:%M:%S.%e %^%l%$ millrace/%v");
    logger_.flush_on(spdlog::level::trace);
  }
  void write(LogLevel level, std::string_view module, std::string_view text) noexcept override {
    logger_.log(kLevels[static_cast<std::size_t>(level)], "{}: {}", module, text);
  }

 private:
  static constexpr std::array<spdlog::level::level_enum, 6> kLevels = {
      spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
      spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};
  spdlog::logger logger_;
};

// The process's one log: levels from the environment, a sink. Never destroyed: lines come late.
class Log {
 public:
  Log() {
    const char* spec = std::getenv("MILLRACE_LOG");
    if (spec == nullptr) return;
    if (Result<Levels> levels = parse_levels(spec)) {
      set(*std::move(levels));
    } else {
      write(LogLevel::kWarning, "core", levels.error().message());
    }
  }

  static Log& get() {
    static Log* instance = new Log;
    return *instance;
  }

  void set(Levels levels) {
    LogLevel lowest = levels.general;
    for (const auto& [module, level] : levels.modules) lowest = std::min(lowest, level);
    MutexLock lock(mutex_);
    levels_ = std::move(levels);
    lowest_.store(lowest);
  }

  bool enabled(LogLevel level, std::string_view module) {
    if (level < lowest_.load()) return false;
    MutexLock lock(mutex_);
    const auto found = levels_.modules.find(module);
    return level >= (found == levels_.modules.end() ? levels_.general : found->second);
  }

  void write(LogLevel level, std::string_view module, std::string_view text) {
    if (LogSink* const sink = sink_.load()) return sink->write(level, module, text);
    static auto* const own = new StderrSink;
    own->write(level, module, text);
  }

  void set_sink(LogSink* sink) { sink_.store(sink); }

 private:
  std::atomic<LogLevel> lowest_{LogLevel::kWarning};
  std::atomic<LogSink*> sink_{nullptr};
  Mutex mutex_;
  Levels levels_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace

std::string_view to_string(LogLevel level) { return kNames[static_cast<std::size_t>(level)]; }

bool log_enabled(LogLevel level, std::string_view module) {
  return Log::get().enabled(level, module);
}

void log(LogLevel level, std::string_view module, std::string_view text) {
  if (log_enabled(level, module)) Log::get().write(level, module, text);
}

void set_log_sink(LogSink* sink) { Log::get().set_sink(sink); }

Status check_log_levels(std::string_view spec) {
  MILLRACE_TRY([[maybe_unused]] const Levels levels, parse_levels(spec));
  return {};
}

Status set_log_levels(std::string_view spec) {
  MILLRACE_TRY(Levels levels, parse_levels(spec));
  Log::get().set(std::move(levels));
  return {};
}

}  // namespace millrace
