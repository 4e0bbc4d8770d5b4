// Sessions: the runtimes that the process has open through the C interface, by handle, and the
// check that this is still the process that opened them.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>

#include "millrace/core/bridged_thread.h"
#include "millrace/core/mutex.h"
#include "millrace/core/scope.h"
#include "millrace/tools/c_api/session.h"

namespace millrace::c_api {

// One call of a program inside a runtime: keeps it open. While it lives, nothing that the runtime
// does runs on this thread that could run on another: the caller's loop may be waiting for it.
class Call {
 public:
  Call(std::shared_ptr<Session> session, Scope::Hold hold)
      : session_(std::move(session)), hold_(std::move(hold)) {}
  Session* operator->() const { return session_.get(); }

 private:
  std::shared_ptr<Session> session_;
  Scope::Hold hold_;  // released first
  BridgedThreadScope at_once_;
};

// Thread-safety: thread-safe.
class Sessions {
 public:
  // The one of the process. Never destroyed: programs end with runtimes open.
  static Sessions& instance();

  // All give kFailedPrecondition in the child of a fork that came after the first open.
  Result<Handle> open(Result<RuntimeOptions> options, const CallOptions& call);
  Result<Call> enter(Handle runtime);
  // Out of the table: nobody enters any more.
  Result<std::shared_ptr<Session>> take(Handle runtime);

 private:
  Status check_process() const;

  static constexpr std::int64_t kNever = -1;
  std::atomic<std::int64_t> opened_in_{kNever};  // the fork generation of the first open
  Mutex mutex_;  // locked by nobody in the child of a fork: check_process comes before
  std::unordered_map<Handle, std::shared_ptr<Session>> open_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::c_api
