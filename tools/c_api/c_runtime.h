// CRuntime: one open runtime as C sees it: a Runtime, the objects behind its handles, and its
// operations. Arguments are already checked as far as they can be without it (calls.cc). The
// process has a table of those that are open. Read next: operation.h.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/millrace.h"
#include "millrace/tools/c_api/handles.h"
#include "millrace/tools/c_api/operation.h"

namespace millrace::c_api {

// Owned by the table, and by calls while they are inside. Every call but close is made with a hold
// of scope(). Thread-safety: thread-safe.
class CRuntime {
 public:
  CRuntime(Runtime runtime, Ref<Completions> completions)
      : completions_(std::move(completions)), runtime_(std::move(runtime)) {}

  Scope& scope() { return scope_; }
  std::span<const Device> devices() const { return runtime_->devices(); }
  Completions& completions() const { return *completions_; }

  // Handles of what an operation makes, and of the operation; results first.
  struct Started {
    Handle operation = 0;
    std::vector<Handle> results;
  };
  Result<Started> compile(Program program, void* user_data);
  // view is borrowed until the operation has finished.
  Result<Started> put(int device, HostView view, void* user_data);
  Result<Started> execute(int device, Handle executable, std::span<const Handle> arguments,
                          std::size_t outputs, void* user_data);
  // destination likewise.
  Result<Started> fetch(Handle buffer, std::span<std::byte> destination, void* user_data);

  // kFailedPrecondition until they are known; the error of what should have made them.
  Result<Shape> shape_of(Handle buffer) const;
  Result<Executable> compiled(Handle executable) const;
  Status destroy_buffer(Handle buffer) { return buffers_.destroy(buffer); }
  Status destroy_executable(Handle executable) { return executables_.destroy(executable); }

  // Once, blocks: refuses calls, cancels everything, ends the runtime. Afterwards every operation
  // has finished, and nothing is left but what completions() has to give.
  Status close();

 private:
  // What a handle stands for: the value, which may be pending, and its maker.
  struct MadeExecutable {
    Future<Executable> value;
    Ref<Operation> maker;
  };
  struct MadeBuffer {
    Future<Buffer> value;
    Ref<Operation> maker;
    int device;
    std::optional<Shape> shape;  // where it is known from the start
  };

  Result<const Device*> device(int index) const;
  // borrows: memory of the caller is in use from the start.
  Ref<Operation> make_operation(Operation::Kind kind, void* user_data, bool borrows = false) const;

  Scope scope_{"the runtime"};
  Ref<Completions> completions_;
  HandleTable<MadeExecutable> executables_{HandleKind::kExecutable};
  HandleTable<MadeBuffer> buffers_{HandleKind::kBuffer};
  std::optional<Runtime> runtime_;  // until it is closed
};

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

// The runtimes that the process has open. Any thread. All give kFailedPrecondition in the child of
// a fork that came after the first open.
//
// As Runtime::create().
Result<Handle> open_runtime(RuntimeOptions options, const CallOptions& call);
Result<Call> enter_runtime(Handle runtime);
// Out of the table: no call enters any more.
Result<std::shared_ptr<CRuntime>> take_runtime(Handle runtime);

}  // namespace millrace::c_api
