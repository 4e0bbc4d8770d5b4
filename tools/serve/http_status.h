// How an error of a request is said in HTTP. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/transfer/batch_options.h"

namespace millrace::serve {

inline int http_status_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
      return 400;
    case ErrorCode::kUnauthenticated:
      return 401;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kOutOfRange:  // a body beyond the limit
      return 413;
    case ErrorCode::kUnimplemented:  // an encoding
      return 415;
    case ErrorCode::kResourceExhausted:
      return 429;
    case ErrorCode::kCancelled:
    case ErrorCode::kUnavailable:
    case ErrorCode::kAborted:
      return 503;
    case ErrorCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

// For the header Retry-After of a 429 or 503.
inline std::optional<int> retry_after_seconds(const Error& error) {
  const int status = http_status_of(error);
  if (status != 429 && status != 503) return std::nullopt;
  const auto* const full = error.detail<transfer::QueueFull>();
  if (full == nullptr) return 1;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(full->retry_after).count();
  return static_cast<int>(std::clamp<long long>(seconds, 1, 3600));
}

// Takes as long for any `given` of the same length, wherever it differs.
inline bool same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char with = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(given[i] ^ with);
  }
  return difference == 0;
}

}  // namespace millrace::serve
