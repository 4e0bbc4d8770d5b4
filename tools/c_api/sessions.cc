#include "millrace/tools/c_api/sessions.h"

#include <utility>

namespace millrace::c_api {

Sessions& Sessions::instance() {
  static Sessions* const instance = new Sessions;
  return *instance;
}

Status Sessions::check_process() const {
  const std::int64_t opened_in = opened_in_.load();
  if (opened_in == kNever || opened_in == millrace::detail::fork_generation()) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "this process was forked from one that had called millrace_open, and has none of its "
              "threads: fork before the first millrace_open, or exec");
}

Result<Handle> Sessions::open(Result<RuntimeOptions> options, const CallOptions& call) {
  std::int64_t never = kNever;
  opened_in_.compare_exchange_strong(never, millrace::detail::fork_generation());
  MILLRACE_TRY_STATUS(check_process());
  MILLRACE_TRY(std::shared_ptr<Session> session, Session::open(std::move(options), call));
  const Handle handle = make_handle(HandleKind::kRuntime);
  MutexLock lock(mutex_);
  open_.emplace(handle, std::move(session));
  return handle;
}

Result<Call> Sessions::enter(Handle runtime) {
  MILLRACE_TRY_STATUS(check_process());
  std::shared_ptr<Session> session;
  {
    MutexLock lock(mutex_);
    if (const auto found = open_.find(runtime); found != open_.end()) session = found->second;
  }
  // Between the table and the gate it may have been closed.
  Scope::Hold hold = session ? session->scope().hold() : Scope::Hold();
  if (!hold) return no_such_handle(HandleKind::kRuntime, runtime);
  return Call(std::move(session), std::move(hold));
}

Result<std::shared_ptr<Session>> Sessions::take(Handle runtime) {
  MILLRACE_TRY_STATUS(check_process());
  {
    MutexLock lock(mutex_);
    if (auto node = open_.extract(runtime)) return std::move(node.mapped());
  }
  return no_such_handle(HandleKind::kRuntime, runtime);
}

}  // namespace millrace::c_api
