// The functions of c_api.h: what they are given is read and checked, the rest is CRuntime's.
#include "millrace/tools/c_api/c_api.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/future.h"
#include "millrace/tools/api/version.h"
#include "millrace/tools/c_api/c_runtime.h"
#include "millrace/tools/c_api/sized.h"

using namespace millrace;
using namespace millrace::c_api;

struct millrace_error {
  std::int32_t code;
  std::string message;
};

// The bytes of a struct up to the end of a field: what a program must know of it at least.
#define MILLRACE_UP_TO(type, field) (offsetof(type, field) + sizeof(type::field))
// A copy of what args points to, or an error to the caller; the fields from after `last` on may be
// missing.
#define MILLRACE_READ(copy, type, args, last) \
  MILLRACE_TRY(const type copy, read_sized(args, MILLRACE_UP_TO(type, last), #type))
#define MILLRACE_CHECK_OUT(type, out, last) \
  MILLRACE_TRY_STATUS(check_sized(out, MILLRACE_UP_TO(type, last), #type))

namespace {

// Fits where a string keeps short texts: made without memory, before it is needed. Never freed.
millrace_error no_memory{MILLRACE_RESOURCE_EXHAUSTED, "out of memory"};

// The caller's to destroy.
millrace_error* to_c(const Error& error) noexcept {
  try {
    return new millrace_error{static_cast<std::int32_t>(error.code()), error.message()};
  } catch (const std::bad_alloc&) {
    return &no_memory;
  }
}

// The body of every function that may fail: NULL, or its error. No exception crosses this border.
template <class F>
millrace_error* guarded(F&& body) noexcept {
  try {
    const Status status = body();
    return status ? nullptr : to_c(status.error());
  } catch (...) {
    try {
      return to_c(millrace::detail::exception_to_error(std::current_exception()));
    } catch (...) {  // there was no memory for the words
      return &no_memory;
    }
  }
}

static_assert(MILLRACE_MAX_RANK == devices::kMaxRank);
// The element types of the two are the same numbers.
#define MILLRACE_SAME(name) static_assert(MILLRACE_##name == static_cast<int>(DType::k##name))
MILLRACE_SAME(I1);
MILLRACE_SAME(I64);
MILLRACE_SAME(U2);
MILLRACE_SAME(U64);
MILLRACE_SAME(F16);
MILLRACE_SAME(F32);
MILLRACE_SAME(TF32);
MILLRACE_SAME(F8E5M2);
MILLRACE_SAME(F8E8M0FNU);
MILLRACE_SAME(F4E2M1FN);
MILLRACE_SAME(F6E3M2FN);
MILLRACE_SAME(C128);
#undef MILLRACE_SAME

Status check_pointer(const void* pointer, const char* name) {
  if (pointer != nullptr) return {};
  return fail(ErrorCode::kInvalidArgument, std::string(name) + " is NULL");
}

Status check_list(const void* list, std::size_t count, const char* name) {
  return count == 0 ? Status() : check_pointer(list, name);
}

Status check_number(std::int32_t number, std::int32_t most, const char* name) {
  if (number >= 0 && number <= most) return {};
  return fail(ErrorCode::kInvalidArgument, std::string(name) + " is " + std::to_string(number) +
                                               ", not 0 to " + std::to_string(most));
}

// How long opening may take; 0: as long as it needs.
Result<CallOptions> time_to_open(double seconds) {
  constexpr double kMostSeconds = 1e9;  // 30 years, which the clock still can count
  if (seconds == 0) return CallOptions();
  if (seconds > 0 && seconds <= kMostSeconds) {
    const std::chrono::duration<double> time(seconds);
    return CallOptions{.deadline = steady_clock().now() + std::chrono::ceil<Duration>(time)};
  }
  return fail(ErrorCode::kInvalidArgument, "millrace_open_options.seconds is " +
                                               std::to_string(seconds) + ", not 0 to " +
                                               std::to_string(kMostSeconds));
}

Result<RuntimeOptions> runtime_options(const millrace_open_options& asked) {
  MILLRACE_TRY(RuntimeOptions options, RuntimeOptions::from_env());
  MILLRACE_TRY_STATUS(
      check_number(asked.devices, RuntimeOptions::kMostDevices, "millrace_open_options.devices"));
  MILLRACE_TRY_STATUS(
      check_number(asked.threads, RuntimeOptions::most_threads(), "millrace_open_options.threads"));
  if (asked.device != nullptr) {
    options.device = asked.device;
    options.device_said_by = "millrace_open_options.device";
  }
  if (asked.devices != 0) options.devices = asked.devices;
  if (asked.threads != 0) options.threads = asked.threads;
  return options;
}

// The shape of a put: every number of it is the caller's, so that nothing is taken for granted.
Result<Shape> shape_of(const millrace_put_args& args) {
  const auto bad = [](const std::string& words) {
    return fail(ErrorCode::kInvalidArgument, "millrace_put_args." + words);
  };
  if (args.dtype < MILLRACE_I1 || args.dtype > MILLRACE_C128)
    return bad("dtype is " + std::to_string(args.dtype) + ", which is no element type");
  if (args.rank > MILLRACE_MAX_RANK) {
    return bad("rank is " + std::to_string(args.rank) + ", but an array has at most " +
               std::to_string(MILLRACE_MAX_RANK) + " dimensions");
  }
  MILLRACE_TRY_STATUS(check_list(args.dims, args.rank, "millrace_put_args.dims"));
  const auto type = static_cast<DType>(args.dtype);
  auto bytes = static_cast<std::int64_t>(devices::byte_width(type));
  const std::span<const std::int64_t> dims(args.dims, args.rank);
  for (const std::int64_t dim : dims) {
    if (dim < 0) return bad("dims has " + std::to_string(dim) + ": it cannot be negative");
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(dim, 1), &bytes))
      return bad("dims are too large: their product overflows");
  }
  const Shape shape(type, dims);
  if (shape.size_bytes() == args.data_bytes) return shape;
  return bad("data_bytes is " + std::to_string(args.data_bytes) + ", but a " + shape.to_string() +
             " has " + std::to_string(shape.size_bytes()));
}

void write_shape(millrace_shape* out, const Shape& shape) {
  millrace_shape value{};
  value.dtype = static_cast<std::int32_t>(shape.dtype());
  value.rank = shape.rank();
  std::ranges::copy(shape.dims(), value.dims);
  value.bytes = shape.size_bytes();
  write_sized(out, value);
}

millrace_completion to_c(const Operation& operation) {
  millrace_completion completion{};
  completion.struct_size = sizeof completion;
  completion.operation = operation.handle();
  completion.user_data = operation.user_data();
  completion.error = operation.error() ? to_c(*operation.error()) : nullptr;
  completion.kind = static_cast<std::int32_t>(operation.kind());
  completion.result = operation.result();
  return completion;
}

// One of the shapes that a program takes or gives.
Status executable_shape(const Call& call, millrace_executable executable, std::size_t index,
                        std::span<const Shape> (Executable::*shapes)() const,
                        millrace_shape* shape) {
  MILLRACE_CHECK_OUT(millrace_shape, shape, dims);
  MILLRACE_TRY(const Executable compiled, call->compiled(executable));
  const std::span<const Shape> all = (compiled.*shapes)();
  if (index >= all.size()) {
    return fail(ErrorCode::kOutOfRange, "array " + std::to_string(index) + " of " +
                                            compiled.name() + ", which has " +
                                            std::to_string(all.size()) + " (counted from 0)");
  }
  write_shape(shape, all[index]);
  return {};
}

// The body of every function that is called with an open runtime.
template <class F>
millrace_error* inside(millrace_runtime runtime, F&& body) {
  return guarded([&]() -> Status {
    MILLRACE_TRY(const Call call, enter_runtime(runtime));
    return body(call);
  });
}

// The same for those that start an operation.
using Started = Result<CRuntime::Started>;
template <class F>
millrace_error* start(millrace_runtime runtime, Handle* results, millrace_operation* operation,
                      F&& body) {
  return inside(runtime, [&](const Call& call) -> Status {
    MILLRACE_TRY_STATUS(check_pointer(operation, "operation"));
    MILLRACE_TRY(const CRuntime::Started started, body(call));
    std::ranges::copy(started.results, results);
    *operation = started.operation;
    return {};
  });
}

}  // namespace

extern "C" {

std::int32_t millrace_error_code(const millrace_error* error) {
  return error == nullptr ? MILLRACE_OK : error->code;
}

const char* millrace_error_message(const millrace_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

void millrace_error_destroy(millrace_error* error) {
  if (error != &no_memory) delete error;
}

const char* millrace_version(void) { return millrace::version().data(); }  // a literal

millrace_error* millrace_open(const millrace_open_options* options, millrace_runtime* runtime) {
  return guarded([&]() -> Status {
    MILLRACE_TRY_STATUS(check_pointer(runtime, "runtime"));
    millrace_open_options asked{};
    if (options != nullptr) {
      MILLRACE_READ(given, millrace_open_options, options, struct_size);
      asked = given;
    }
    MILLRACE_TRY(const CallOptions call, time_to_open(asked.seconds));
    MILLRACE_TRY(RuntimeOptions opening, runtime_options(asked));
    MILLRACE_TRY(*runtime, open_runtime(std::move(opening), call));
    return {};
  });
}

int32_t millrace_left_behind(void) { return Runtime::left_behind() ? 1 : 0; }

millrace_error* millrace_device_count(millrace_runtime runtime, size_t* count) {
  return inside(runtime, [&](const Call& call) -> Status {
    MILLRACE_TRY_STATUS(check_pointer(count, "count"));
    *count = call->devices().size();
    return {};
  });
}

millrace_error* millrace_device(millrace_runtime runtime, size_t index,
                                millrace_device_info* info) {
  return inside(runtime, [&](const Call& call) -> Status {
    MILLRACE_CHECK_OUT(millrace_device_info, info, id);
    const std::span<const Device> all = call->devices();
    if (index >= all.size()) {
      return fail(ErrorCode::kOutOfRange, "device " + std::to_string(index) + " of " +
                                              std::to_string(all.size()) + " (counted from 0)");
    }
    millrace_device_info value{};
    value.id = static_cast<std::int32_t>(index);
    value.kind = all[index].info().kind.c_str();
    write_sized(info, value);
    return {};
  });
}

millrace_error* millrace_buffer_shape(millrace_runtime runtime, millrace_buffer buffer,
                                      millrace_shape* shape) {
  return inside(runtime, [&](const Call& call) -> Status {
    MILLRACE_CHECK_OUT(millrace_shape, shape, dims);
    MILLRACE_TRY(const Shape found, call->shape_of(buffer));
    write_shape(shape, found);
    return {};
  });
}

millrace_error* millrace_executable_signature(millrace_runtime runtime,
                                              millrace_executable executable,
                                              millrace_signature* signature) {
  return inside(runtime, [&](const Call& call) -> Status {
    MILLRACE_CHECK_OUT(millrace_signature, signature, outputs);
    MILLRACE_TRY(const Executable compiled, call->compiled(executable));
    millrace_signature value{};
    value.inputs = compiled.input_shapes().size();
    value.outputs = compiled.output_shapes().size();
    write_sized(signature, value);
    return {};
  });
}

millrace_error* millrace_executable_input(millrace_runtime runtime, millrace_executable executable,
                                          size_t index, millrace_shape* shape) {
  return inside(runtime, [&](const Call& call) {
    return executable_shape(call, executable, index, &Executable::input_shapes, shape);
  });
}

millrace_error* millrace_executable_output(millrace_runtime runtime, millrace_executable executable,
                                           size_t index, millrace_shape* shape) {
  return inside(runtime, [&](const Call& call) {
    return executable_shape(call, executable, index, &Executable::output_shapes, shape);
  });
}

millrace_error* millrace_compile(millrace_runtime runtime, const millrace_compile_args* args,
                                 millrace_executable* executable, millrace_operation* operation) {
  return start(runtime, executable, operation, [&](const Call& call) -> Started {
    MILLRACE_READ(a, millrace_compile_args, args, code_bytes);
    MILLRACE_TRY_STATUS(check_list(a.code, a.code_bytes, "millrace_compile_args.code"));
    MILLRACE_TRY_STATUS(check_pointer(executable, "executable"));
    std::string code(static_cast<const char*>(a.code), a.code_bytes);
    Program program = Program::from_text(std::move(code), a.name == nullptr ? "program" : a.name);
    return call->compile(std::move(program), a.user_data);
  });
}

millrace_error* millrace_put(millrace_runtime runtime, const millrace_put_args* args,
                             millrace_buffer* buffer, millrace_operation* operation) {
  return start(runtime, buffer, operation, [&](const Call& call) -> Started {
    MILLRACE_READ(a, millrace_put_args, args, dtype);
    MILLRACE_TRY(const Shape shape, shape_of(a));
    MILLRACE_TRY_STATUS(check_list(a.data, a.data_bytes, "millrace_put_args.data"));
    MILLRACE_TRY_STATUS(check_pointer(buffer, "buffer"));
    return call->put(a.device, {.data = a.data, .shape = shape}, a.user_data);
  });
}

millrace_error* millrace_execute(millrace_runtime runtime, const millrace_execute_args* args,
                                 millrace_buffer* outputs, millrace_operation* operation) {
  return start(runtime, outputs, operation, [&](const Call& call) -> Started {
    MILLRACE_READ(a, millrace_execute_args, args, num_outputs);
    MILLRACE_TRY_STATUS(
        check_list(a.arguments, a.num_arguments, "millrace_execute_args.arguments"));
    MILLRACE_TRY_STATUS(check_list(outputs, a.num_outputs, "outputs"));
    return call->execute(a.device, a.executable, {a.arguments, a.num_arguments}, a.num_outputs,
                         a.user_data);
  });
}

millrace_error* millrace_fetch(millrace_runtime runtime, const millrace_fetch_args* args,
                               millrace_operation* operation) {
  return start(runtime, nullptr, operation, [&](const Call& call) -> Started {
    MILLRACE_READ(a, millrace_fetch_args, args, destination_bytes);
    MILLRACE_TRY_STATUS(
        check_list(a.destination, a.destination_bytes, "millrace_fetch_args.destination"));
    const std::span destination(static_cast<std::byte*>(a.destination), a.destination_bytes);
    return call->fetch(a.buffer, destination, a.user_data);
  });
}

millrace_error* millrace_buffer_destroy(millrace_runtime runtime, millrace_buffer buffer) {
  return inside(runtime, [&](const Call& call) { return call->destroy_buffer(buffer); });
}

millrace_error* millrace_executable_destroy(millrace_runtime runtime,
                                            millrace_executable executable) {
  return inside(runtime, [&](const Call& call) { return call->destroy_executable(executable); });
}

millrace_error* millrace_completion_fd(millrace_runtime runtime, int* descriptor) {
  return inside(runtime, [&](const Call& call) -> Status {
    MILLRACE_TRY_STATUS(check_pointer(descriptor, "descriptor"));
    *descriptor = call->completions().descriptor();
    return {};
  });
}

millrace_error* millrace_next(millrace_runtime runtime, millrace_completion* completion) {
  return inside(runtime, [&](const Call& call) -> Status {
    MILLRACE_CHECK_OUT(millrace_completion, completion, error);
    const Ref<Operation> operation = call->completions().take();
    write_sized(completion, operation ? to_c(*operation) : millrace_completion{});
    return {};
  });
}

millrace_error* millrace_cancel(millrace_runtime runtime, millrace_operation operation) {
  return inside(runtime, [&](const Call& call) -> Status {
    MILLRACE_TRY(const Ref<Operation> found, call->completions().find(operation));
    if (found->cancel()) return {};
    return fail(ErrorCode::kFailedPrecondition,
                "operation " + std::to_string(operation) +
                    " has finished before it was cancelled: millrace_next gives it");
  });
}

millrace_error* millrace_close(millrace_runtime runtime, const millrace_close_options* options) {
  return guarded([&]() -> Status {
    const millrace_close_options nothing{.struct_size = sizeof nothing};
    if (options == nullptr) options = &nothing;
    MILLRACE_READ(asked, millrace_close_options, options, struct_size);
    MILLRACE_TRY(const std::shared_ptr<CRuntime> opened, take_runtime(runtime));
    const Status closed = opened->close();
    while (const Ref<Operation> operation = opened->completions().take()) {
      if (asked.completed == nullptr) continue;
      const millrace_completion completion = to_c(*operation);
      asked.completed(asked.context, &completion);
    }
    return closed;
  });
}

}  // extern "C"

// The codes of the two are the same numbers.
#define MILLRACE_SAME(theirs, ours) \
  static_assert(MILLRACE_##theirs == static_cast<int>(millrace::ErrorCode::ours))
MILLRACE_SAME(CANCELLED, kCancelled);
MILLRACE_SAME(UNKNOWN, kUnknown);
MILLRACE_SAME(INVALID_ARGUMENT, kInvalidArgument);
MILLRACE_SAME(DEADLINE_EXCEEDED, kDeadlineExceeded);
MILLRACE_SAME(NOT_FOUND, kNotFound);
MILLRACE_SAME(ALREADY_EXISTS, kAlreadyExists);
MILLRACE_SAME(PERMISSION_DENIED, kPermissionDenied);
MILLRACE_SAME(RESOURCE_EXHAUSTED, kResourceExhausted);
MILLRACE_SAME(FAILED_PRECONDITION, kFailedPrecondition);
MILLRACE_SAME(ABORTED, kAborted);
MILLRACE_SAME(OUT_OF_RANGE, kOutOfRange);
MILLRACE_SAME(UNIMPLEMENTED, kUnimplemented);
MILLRACE_SAME(INTERNAL, kInternal);
MILLRACE_SAME(UNAVAILABLE, kUnavailable);
MILLRACE_SAME(DATA_LOSS, kDataLoss);
MILLRACE_SAME(UNAUTHENTICATED, kUnauthenticated);
#undef MILLRACE_SAME
