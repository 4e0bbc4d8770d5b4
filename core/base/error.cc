#include "millrace/core/base/error.h"

#include <array>

namespace millrace {

std::string_view to_string(ErrorCode code) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "OK",
      "CANCELLED",
      "UNKNOWN",
      "INVALID_ARGUMENT",
      "DEADLINE_EXCEEDED",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "PERMISSION_DENIED",
      "RESOURCE_EXHAUSTED",
      "FAILED_PRECONDITION",
      "ABORTED",
      "OUT_OF_RANGE",
      "UNIMPLEMENTED",
      "INTERNAL",
      "UNAVAILABLE",
      "DATA_LOSS",
      "UNAUTHENTICATED",
  };
  const auto index = static_cast<std::size_t>(code);
  return index < kNames.size() ? kNames[index] : std::string_view("CODE(?)");
}

Error::Error(ErrorCode code, std::string message, std::source_location where)
    : record_(
          std::make_shared<const Record>(Record{code, std::move(message), where, {}, nullptr})) {}

Error Error::with_context(std::string_view context, std::source_location where) const {
  std::string message = std::string(context) + ": " + record_->message;
  return Error(std::make_shared<const Record>(
      Record{record_->code, std::move(message), where, {}, std::make_shared<const Error>(*this)}));
}

Error Error::with_any(std::any detail) const {
  Record copy = *record_;
  copy.details.push_back(std::move(detail));
  return Error(std::make_shared<const Record>(std::move(copy)));
}

std::string Error::to_string() const {
  std::string_view file = record_->where.file_name();
  if (auto slash = file.rfind("millrace/"); slash != std::string_view::npos)
    file = file.substr(slash);
  return std::string(millrace::to_string(record_->code)) + ": " + record_->message + " (" +
         std::string(file) + ":" + std::to_string(record_->where.line()) + ")";
}

}  // namespace millrace
