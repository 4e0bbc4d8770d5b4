#include "millrace/tools/c_api/c_runtimes.h"

#include <utility>

namespace millrace::c_api {

CRuntimes& CRuntimes::instance() {
  static CRuntimes* const instance = new CRuntimes;
  return *instance;
}

Status CRuntimes::check_process() const {
  const std::int64_t opened_in = opened_in_.load();
  if (opened_in == kNever || opened_in == millrace::detail::fork_generation()) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "this process was forked from one that had called millrace_open, and has none of its "
              "threads: fork before the first millrace_open, or exec");
}

Result<Handle> CRuntimes::open(Result<RuntimeOptions> options, const CallOptions& call) {
  std::int64_t never = kNever;
  opened_in_.compare_exchange_strong(never, millrace::detail::fork_generation());
  MILLRACE_TRY_STATUS(check_process());
  MILLRACE_TRY(std::shared_ptr<CRuntime> opened, CRuntime::open(std::move(options), call));
  return open_.add(std::move(opened));
}

Result<Call> CRuntimes::enter(Handle runtime) {
  MILLRACE_TRY_STATUS(check_process());
  MILLRACE_TRY(std::shared_ptr<CRuntime> opened, open_.find(runtime));
  // Between the table and the gate it may have been closed.
  Scope::Hold hold = opened->scope().hold();
  if (!hold) return no_such_handle(HandleKind::kRuntime, runtime);
  return Call(std::move(opened), std::move(hold));
}

Result<std::shared_ptr<CRuntime>> CRuntimes::take(Handle runtime) {
  MILLRACE_TRY_STATUS(check_process());
  return open_.take(runtime);
}

}  // namespace millrace::c_api
