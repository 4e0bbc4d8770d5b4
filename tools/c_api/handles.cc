#include "millrace/tools/c_api/handles.h"

#include <array>
#include <atomic>

namespace millrace::c_api {
namespace {

// Below a number that counts the handles of that kind in all of the process; small, for languages
// whose numbers are doubles.
constexpr int kKindBits = 3;

// By kind, each with its article; the first is none.
constexpr std::array<const char*, 5> kNames = {"", "a runtime", "an executable", "a buffer",
                                               "an operation"};

// By kind, too.
std::array<std::atomic<std::uint64_t>, kNames.size()> last_numbers{};

}  // namespace

Handle make_handle(HandleKind kind) {
  const auto of_kind = static_cast<std::size_t>(kind);
  return (last_numbers[of_kind].fetch_add(1) + 1) << kKindBits | static_cast<Handle>(kind);
}

std::unexpected<Error> no_such_handle(HandleKind kind, Handle handle) {
  const std::uint64_t given = handle & ((1U << kKindBits) - 1);
  const std::uint64_t number = handle >> kKindBits;
  const std::string wanted = kNames[static_cast<std::size_t>(kind)];
  const std::string what = "handle " + std::to_string(handle);
  if (number == 0 || given == 0 || given >= kNames.size() || number > last_numbers[given].load()) {
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
