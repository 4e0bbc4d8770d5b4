#include "millrace/tools/conform/check.h"

#include <utility>

namespace millrace::conform {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kUnsupported:
      return "unsupported";
    case Outcome::kSkipped:
      return "skipped";
  }
  return "failed";
}

std::unexpected<Error> skip(std::string why) {
  return std::unexpected(Error(ErrorCode::kFailedPrecondition, std::move(why)).with_detail(Skip{}));
}

std::unexpected<Error> lacks(std::string what) {
  return std::unexpected(Error(ErrorCode::kUnimplemented, std::move(what)).with_detail(Lacks{}));
}

std::unexpected<Error> broken(std::string what) {
  return fail(ErrorCode::kInternal, std::move(what));
}

const std::vector<Check>& all_checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> list;
    for (const auto& family :
         {&table_checks,    &plugin_checks,   &client_checks,   &device_checks,   &size_checks,
          &host_checks,     &compile_checks,  &execute_checks,  &event_checks,    &error_checks,
          &buffer_checks,   &transfer_checks, &deletion_checks, &donation_checks, &serialize_checks,
          &topology_checks, &layout_checks,   &interop_checks,  &several_checks,  &thread_checks,
          &leak_checks}) {
      for (Check& check : family()) list.push_back(std::move(check));
    }
    return list;
  }();
  return all;
}

}  // namespace millrace::conform
