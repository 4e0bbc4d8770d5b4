// Error and Result<T>: how every expected failure of Millrace is reported. An Error is one
// immutable, shared record: a code (the sixteen canonical ones, with the values that the PJRT C API
// gives them), a message (what was attempted, on what, why not, what would help), the place that
// made it, typed details and a cause. Read next: future.h, where a Result arrives later.
#pragma once

#include <any>
#include <atomic>
#include <expected>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace {

// Values are those of PJRT_Error_Code, so that mapping to and from a plugin is the identity.
enum class ErrorCode : int {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT" and so on; "CODE(17)" is never returned for a listed code.
std::string_view to_string(ErrorCode code);

// Value type, cheap to copy (one shared pointer). Thread-safety: immutable.
class Error {
 public:
  Error(ErrorCode code, std::string message,
        std::source_location where = std::source_location::current());

  ErrorCode code() const { return record_->code; }
  const std::string& message() const { return record_->message; }
  const std::source_location& where() const { return record_->where; }
  // The error that led to this one, if any.
  const Error* cause() const { return record_->cause.get(); }

  // The same failure seen from one level up: "context: message"; this error becomes the cause.
  Error with_context(std::string_view context,
                     std::source_location where = std::source_location::current()) const;

  // Attaches a typed fact (missing ranks, a file position): never distinguished by text.
  template <class T>
  Error with_detail(T detail) const {
    return with_any(std::any(std::move(detail)));
  }
  // The nearest detail of type T, of this error or of its causes; nullptr if there is none.
  template <class T>
  const T* detail() const {
    for (const Error* e = this; e != nullptr; e = e->cause()) {
      for (const std::any& d : e->record_->details) {
        if (const T* found = std::any_cast<T>(&d)) return found;
      }
    }
    return nullptr;
  }

  // "DATA_LOSS: message (file:line)", for logs and terminals.
  std::string to_string() const;
  // True for the first caller: many futures may carry one error, which is reported once.
  bool claim_report() const { return !record_->reported.flag.exchange(true); }

 private:
  // A flag of its own in every copy of a record.
  struct Reported {
    Reported() = default;
    Reported(const Reported&) {}
    mutable std::atomic<bool> flag{false};
  };
  struct Record {
    ErrorCode code;
    std::string message;
    std::source_location where;
    std::vector<std::any> details;
    std::shared_ptr<const Error> cause;
    Reported reported = {};
  };
  explicit Error(std::shared_ptr<const Record> record) : record_(std::move(record)) {}
  Error with_any(std::any detail) const;

  std::shared_ptr<const Record> record_;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

// std::unexpected with the place of the caller: return fail(ErrorCode::kNotFound, "...").
inline std::unexpected<Error> fail(ErrorCode code, std::string message,
                                   std::source_location where = std::source_location::current()) {
  return std::unexpected<Error>(Error(code, std::move(message), where));
}

}  // namespace millrace

// MILLRACE_TRY(auto x, expression): x = the value, or return the error (of a Result function).
#define MILLRACE_CONCAT_INNER(a, b) a##b
#define MILLRACE_CONCAT(a, b) MILLRACE_CONCAT_INNER(a, b)
#define MILLRACE_TRY(declaration, expression) \
  MILLRACE_TRY_IMPL(MILLRACE_CONCAT(millrace_try_, __LINE__), declaration, expression)
#define MILLRACE_TRY_IMPL(temporary, declaration, expression)           \
  auto temporary = (expression);                                        \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  declaration = *std::move(temporary)
// The same for a Status, which has no value.
#define MILLRACE_TRY_STATUS(expression)                                                       \
  do {                                                                                        \
    auto millrace_try_status = (expression);                                                  \
    if (!millrace_try_status) return std::unexpected(std::move(millrace_try_status).error()); \
  } while (false)
