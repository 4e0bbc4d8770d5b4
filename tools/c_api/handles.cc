#include "millrace/tools/c_api/handles.h"

#include <array>
#include <atomic>

namespace millrace::c_api {
namespace {

// Below a number that counts in all of the process; small, for languages whose numbers are doubles.
constexpr int kKindBits = 3;

std::atomic<std::uint64_t> last_number{0};

// By kind, each with its article; the first is none.
constexpr std::array<const char*, 5> kNames = {"", "a runtime", "an executable", "a buffer",
                                               "an operation"};

}  // namespace

Handle make_handle(HandleKind kind) {
  return (last_number.fetch_add(1) + 1) << kKindBits | static_cast<Handle>(kind);
}

std::unexpected<Error> no_such_handle(HandleKind kind, Handle handle) {
  const std::uint64_t given = handle & ((1U << kKindBits) - 1);
  const std::uint64_t number = handle >> kKindBits;
  const std::string wanted = kNames[static_cast<std::size_t>(kind)];
  const std::string what = "handle " + std::to_string(handle);
  if (number == 0 || number > last_number.load() || given == 0 || given >= kNames.size()) {
    return fail(handle == 0 ? ErrorCode::kInvalidArgument : ErrorCode::kNotFound,
                what + " was never given; " + wanted + " is wanted");
  }
  if (given != static_cast<std::uint64_t>(kind)) {
    return fail(ErrorCode::kInvalidArgument,
                what + " is " + kNames[given] + ", but " + wanted + " is wanted");
  }
  const char* how = kind == HandleKind::kRuntime ? "was closed"
                    : kind == HandleKind::kOperation
                        ? "was given by millrace_next before, or is another runtime's"
                        : "was destroyed, or is another runtime's";
  return fail(ErrorCode::kNotFound, what + ", " + wanted + ", " + how);
}

}  // namespace millrace::c_api
