#include "millrace/tools/api/starting.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/future.h"

namespace millrace {
namespace {

// The fork generation of the first runtime, or its threads, of this process or of the one that it
// was forked from.
constexpr std::int64_t kNever = -1;
std::atomic<std::int64_t> first_made_in{kNever};

Error refused_error(const std::string& what, const std::string& why) {
  return Error(ErrorCode::kResourceExhausted,
               what + ": " + why +
                   "; allow more (ulimit -u for threads, or pids.max of the container, ulimit -v "
                   "for their stacks), or ask for less (RuntimeOptions::threads and "
                   "blocking_threads, MILLRACE_THREADS)");
}

}  // namespace

Error forked_error(const std::string& what) {
  return Error(ErrorCode::kFailedPrecondition,
               what +
                   ": this process was forked from one that had made a runtime, and has none of "
                   "its threads; fork before the first runtime is made, or exec");
}

Status check_first_generation(const std::string& what) {
  const std::int64_t here = detail::fork_generation();
  std::int64_t first = kNever;
  if (first_made_in.compare_exchange_strong(first, here) || first == here) return {};
  return std::unexpected(forked_error(what));
}

Error not_made_error(const std::string& what) {
  try {
    throw;
  } catch (const std::runtime_error& error) {  // a thread that did not start, ours or oneTBB's
    return refused_error(what, error.what());
  } catch (...) {
    return detail::exception_to_error(std::current_exception()).with_context(what);
  }
}

}  // namespace millrace
