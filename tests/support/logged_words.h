// Keeps what is logged while it lives, line by line, from whatever thread. One at a time.
#pragma once

#include <string>
#include <string_view>

#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/log.h"

namespace millrace::testing {

class LoggedWords final : public LogSink {
 public:
  LoggedWords() { set_log_sink(this); }
  ~LoggedWords() override { set_log_sink(nullptr); }
  LoggedWords(const LoggedWords&) = delete;
  LoggedWords& operator=(const LoggedWords&) = delete;

  void write(LogLevel, std::string_view, std::string_view text) noexcept override {
    MutexLock lock(mutex_);
    (text_ += text) += '\n';
  }
  std::string text() const {
    MutexLock lock(mutex_);
    return text_;
  }

 private:
  mutable Mutex mutex_;
  std::string text_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::testing
