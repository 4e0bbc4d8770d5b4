// CRuntimes: the runtimes that the process has open through the C interface, by handle, and the
// check that this is still the process that opened them.
#pragma once

#include <atomic>
#include <memory>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/scope.h"
#include "millrace/tools/c_api/c_runtime.h"

namespace millrace::c_api {

// One call of a program inside a runtime: keeps it open. While it lives, nothing that the runtime
// does runs on this thread that could run on another: the caller's loop may be waiting for it.
class Call {
 public:
  Call(std::shared_ptr<CRuntime> opened, Scope::Hold hold)
      : opened_(std::move(opened)), hold_(std::move(hold)) {}
  CRuntime* operator->() const { return opened_.get(); }

 private:
  std::shared_ptr<CRuntime> opened_;
  Scope::Hold hold_;  // released first
  BridgedThreadScope at_once_;
};

// Thread-safety: thread-safe.
class CRuntimes {
 public:
  // The one of the process. Never destroyed: programs end with runtimes open.
  static CRuntimes& instance();

  // All give kFailedPrecondition in the child of a fork that came after the first open.
  Result<Handle> open(Result<RuntimeOptions> options, const CallOptions& call);
  Result<Call> enter(Handle runtime);
  // Out of the table: no call enters any more.
  Result<std::shared_ptr<CRuntime>> take(Handle runtime);

 private:
  Status check_process() const;

  static constexpr std::int64_t kNever = -1;
  std::atomic<std::int64_t> opened_in_{kNever};  // the fork generation of the first open
  // Never locked in the child of a fork: check_process comes before.
  HandleTable<std::shared_ptr<CRuntime>> open_{HandleKind::kRuntime};
};

}  // namespace millrace::c_api
