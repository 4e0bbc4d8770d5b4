#include "millrace/tools/c_api/c_runtime.h"

#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::c_api {

using devices::PutResult;

namespace {

// More than that is copied by a thread of ours (as in devices/cpu/copy.h).
constexpr std::size_t kInlineCopyBytes = std::size_t{64} << 10;

// What use of a result gives: its value, or that its maker was cancelled.
template <class Made>
auto value_of(const Made& made) -> decltype(made.value) {
  if (std::optional<Error> cancelled = made.maker->cancelled()) return *std::move(cancelled);
  return made.value;
}

// The value of a future that must be there.
template <class T>
Result<T> known(const Future<T>& future, const char* what, Handle handle) {
  if (future.ready()) return future.result();
  return fail(ErrorCode::kFailedPrecondition,
              std::string(what) + " " + std::to_string(handle) +
                  " is not there yet: ask when the operation that makes it has finished");
}

Status check_outputs(const Executable& executable, std::size_t outputs) {
  const std::size_t real = executable.output_shapes().size();
  if (real == outputs) return {};
  return fail(ErrorCode::kInvalidArgument, executable.name() + " gives " + std::to_string(real) +
                                               (real == 1 ? " output" : " outputs") +
                                               ", but num_outputs is " + std::to_string(outputs));
}

// The last step of a fetch.
Status copy_out(const HostArray& array, std::span<std::byte> destination, Operation& operation) {
  const std::span<const std::byte> bytes = array.bytes();
  if (bytes.size() != destination.size()) {
    return fail(ErrorCode::kInvalidArgument, "a fetch of " + array.shape().to_string() +
                                                 ", which has " + std::to_string(bytes.size()) +
                                                 " bytes, but destination_bytes is " +
                                                 std::to_string(destination.size()));
  }
  // Cancelled before: it has finished, and the destination is the caller's again.
  if (!operation.borrow()) return {};
  if (!bytes.empty()) std::memcpy(destination.data(), bytes.data(), bytes.size());
  return {};
}

// The end of an operation, wherever it comes.
void finish_with(const Future<void>& end, const Ref<Operation>& operation) {
  end.then(inline_executor(), [operation](const Status& status) { operation->finish(status); })
      .ignore();
}

constexpr std::int64_t kNever = -1;
std::atomic<std::int64_t> opened_in{kNever};  // the fork generation of the first open

Status check_process() {
  const std::int64_t first = opened_in.load();
  if (first == kNever || first == millrace::detail::fork_generation()) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "this process was forked from one that had called millrace_open, and has none of its "
              "threads: fork before the first millrace_open, or exec");
}

// Never destroyed: programs end with runtimes open. Never locked in the child of a fork.
HandleTable<std::shared_ptr<CRuntime>>& open_runtimes() {
  static auto* const table = new HandleTable<std::shared_ptr<CRuntime>>(HandleKind::kRuntime);
  return *table;
}

}  // namespace

Result<Handle> open_runtime(RuntimeOptions options, const CallOptions& call) {
  std::int64_t never = kNever;
  opened_in.compare_exchange_strong(never, millrace::detail::fork_generation());
  MILLRACE_TRY_STATUS(check_process());
  MILLRACE_TRY(Ref<Completions> completions, Completions::create());
  MILLRACE_TRY(Runtime runtime, Runtime::create(std::move(options), call));
  return open_runtimes().add(
      std::make_shared<CRuntime>(std::move(runtime), std::move(completions)));
}

Result<Call> enter_runtime(Handle runtime) {
  MILLRACE_TRY_STATUS(check_process());
  MILLRACE_TRY(std::shared_ptr<CRuntime> opened, open_runtimes().find(runtime));
  // Between the table and the gate it may have been closed.
  Scope::Hold hold = opened->scope().hold();
  if (!hold) return no_such_handle(HandleKind::kRuntime, runtime);
  return Call(std::move(opened), std::move(hold));
}

Result<std::shared_ptr<CRuntime>> take_runtime(Handle runtime) {
  MILLRACE_TRY_STATUS(check_process());
  return open_runtimes().take(runtime);
}

Result<const Device*> CRuntime::device(int index) const {
  const std::span<const Device> all = devices();
  if (index >= 0 && static_cast<std::size_t>(index) < all.size())
    return &all[static_cast<std::size_t>(index)];
  return fail(ErrorCode::kInvalidArgument, "there is no device " + std::to_string(index) +
                                               ": the runtime has " + std::to_string(all.size()) +
                                               ", counted from 0");
}

Ref<Operation> CRuntime::make_operation(Operation::Kind kind, void* user_data, bool borrows) const {
  auto operation = make_ref<Operation>(completions_, kind, user_data);
  if (borrows) operation->borrow();
  completions_->add(operation);
  return operation;
}

Result<CRuntime::Started> CRuntime::compile(Program program, void* user_data) {
  const auto operation = make_operation(Operation::Kind::kCompile, user_data);
  const Future<Executable> executable =
      runtime_->compile(std::move(program), {}, {.stop = operation->stop_token()});
  executable.ignore();  // the completion reports it
  const Handle handle = executables_.add({.value = executable, .maker = operation});
  operation->set_result(handle);
  finish_with(when_all(executable), operation);
  return Started{.operation = operation->handle(), .results = {handle}};
}

Result<CRuntime::Started> CRuntime::put(int device_index, HostView view, void* user_data) {
  MILLRACE_TRY(const Device* const target, device(device_index));
  const auto operation = make_operation(Operation::Kind::kPut, user_data, true);
  Promise<Buffer> there;
  const Future<Buffer> buffer = there.future();
  buffer.ignore();
  const Handle handle = buffers_.add(
      {.value = buffer, .maker = operation, .device = device_index, .shape = view.shape});
  operation->set_result(handle);
  const Future<PutResult> put =
      target->put_borrowed(view, devices::HostBufferSemantics::kImmutableUntilTransferCompletes,
                           {.call = {.stop = operation->stop_token()}});
  // The buffer is passed on last: the taker may donate it, and then it says nothing more.
  auto end = [there = std::move(there)](Result<PutResult> made) mutable -> Future<void> {
    if (!made) {
      there.set_error(made.error());
      return made.error();
    }
    Future<void> over = when_all(made->source_released, made->buffer.ready());
    there.set(std::move(made->buffer));
    return over;
  };
  finish_with(put.then(inline_executor(), std::move(end)), operation);
  return Started{.operation = operation->handle(), .results = {handle}};
}

Result<CRuntime::Started> CRuntime::execute(int device_index, Handle executable,
                                            std::span<const Handle> arguments, std::size_t outputs,
                                            void* user_data) {
  MILLRACE_TRY(const Device* const target, device(device_index));
  MILLRACE_TRY(const MadeExecutable made, executables_.find(executable));
  std::vector<Argument> inputs;
  inputs.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Result<MadeBuffer> input = buffers_.find(arguments[i]);
    if (!input) {
      return std::unexpected(input.error().with_context("argument " + std::to_string(i)));
    }
    inputs.emplace_back(value_of(*input));
  }
  const auto operation = make_operation(Operation::Kind::kExecute, user_data);
  const Future<Executable> checked = value_of(made).then(
      inline_executor(), [outputs](Result<Executable> compiled) -> Result<Executable> {
        if (compiled) MILLRACE_TRY_STATUS(check_outputs(*compiled, outputs));
        return compiled;
      });
  std::vector<Promise<Buffer>> there(outputs);
  Started started{.operation = operation->handle()};
  for (Promise<Buffer>& one : there) {
    one.future().ignore();
    started.results.push_back(
        buffers_.add({.value = one.future(), .maker = operation, .device = device_index}));
  }
  if (outputs != 0) operation->set_result(started.results[0]);
  const Future<Buffers> launched =
      millrace::execute(*target, checked, inputs, {.stop = operation->stop_token()});
  // As in put: first the report of the end, then what may be donated.
  auto end = [there = std::move(there)](Result<Buffers> made) mutable -> Future<void> {
    if (!made) {
      for (Promise<Buffer>& one : there) one.set_error(made.error());
      return made.error();
    }
    std::vector<Future<void>> over;
    for (const Buffer& buffer : *made) over.push_back(buffer.ready());
    for (std::size_t i = 0; i < there.size(); ++i) there[i].set((*made)[i]);
    return when_all(over);
  };
  finish_with(launched.then(inline_executor(), std::move(end)), operation);
  return started;
}

Result<CRuntime::Started> CRuntime::fetch(Handle buffer, std::span<std::byte> destination,
                                          void* user_data) {
  MILLRACE_TRY(const MadeBuffer made, buffers_.find(buffer));
  const auto operation = make_operation(Operation::Kind::kFetch, user_data);
  const Device& source = devices()[static_cast<std::size_t>(made.device)];
  const Future<HostArray> there =
      source.fetch(Argument(value_of(made)), {.stop = operation->stop_token()});
  Executor& copier =
      destination.size() <= kInlineCopyBytes ? inline_executor() : runtime_->compute();
  const auto copy = [operation, destination](const Result<HostArray>& array) -> Status {
    if (!array) return std::unexpected(array.error());
    return copy_out(*array, destination, *operation);
  };
  finish_with(there.then(copier, copy), operation);
  return Started{.operation = operation->handle()};
}

Result<Shape> CRuntime::shape_of(Handle buffer) const {
  MILLRACE_TRY(const MadeBuffer made, buffers_.find(buffer));
  if (made.shape) return *made.shape;
  MILLRACE_TRY(const Buffer there, known(value_of(made), "buffer", buffer));
  return there.shape();
}

Result<Executable> CRuntime::compiled(Handle executable) const {
  MILLRACE_TRY(const MadeExecutable made, executables_.find(executable));
  return known(value_of(made), "executable", executable);
}

Status CRuntime::close() {
  // Calls that are inside end without waiting for anything.
  static_cast<void>(wait_blocking(scope_.close()));
  completions_->cancel_all();
  const Status closed = wait_blocking(runtime_->close());
  // A runtime outlives what came from it.
  buffers_.clear();
  executables_.clear();
  runtime_.reset();
  MILLRACE_CHECK(completions_->all_finished(), "an operation outlived its runtime");
  return closed;
}

}  // namespace millrace::c_api
