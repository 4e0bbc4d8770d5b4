// Millrace for C, and for every language that can call C: data onto devices, compiled StableHLO
// programs run there, results back. #include "millrace/c_api.h", link libmillrace_c.so.
//
// Asynchronous. What takes time (compile, put, execute, fetch) is started by a call that returns at
// once with an operation. Results have handles from that moment on, so that the next step can be
// started before the last one has ended. One descriptor becomes readable when operations have
// finished, for poll(2) or any event loop; millrace_next then gives them one at a time. A call that
// starts an operation either gives an error and starts nothing, or the operation finishes exactly
// once: with success, its own error, the error of something that it needs, or MILLRACE_CANCELLED.
//
// Errors. A call gives NULL, or an error that the caller owns: millrace_error_destroy. After an
// error nothing was written to the results of the call.
//
// Handles are numbers, checked on every use; 0 is none of them. Runtimes, executables, buffers and
// operations all have different ones, and none is ever given twice in a process: one that is gone
// gives MILLRACE_NOT_FOUND. Executables and buffers live until they are destroyed or their runtime
// is closed, also where the operation that should have made them has failed: using one of those
// gives its error. An operation is known from its start until millrace_next has given it.
//
// Memory. Strings, dimensions and lists are copied by the call that takes them. Only two things are
// borrowed for longer, and returned when millrace_next (or millrace_close) gives the operation:
// the bytes of a put, which must not change until then, and the destination of a fetch. A put that
// fails because its device did, or because millrace_close has waited long enough, gives its bytes
// back only where the device computes on the host: a plugin may read them for as long as the
// process runs.
//
// Threads. Every function may be called from any thread, also from several at once. No call waits
// for a device but millrace_close; only millrace_open, which may be given a limit, and
// millrace_close may take long. Nothing of the caller's runs on threads of the library: there are
// no callbacks but that of millrace_close, which runs inside it.
//
// Processes. The child of a fork has none of the runtime's threads: once a process has called
// millrace_open, whatever its later children call gives MILLRACE_FAILED_PRECONDITION. Fork first,
// or exec.
//
// Versions. Every struct begins with its size, to be set to its sizeof. A library that knows more
// than the program takes what a shorter struct lacks for 0; one that knows less refuses a longer
// struct with MILLRACE_UNIMPLEMENTED where what it does not know is not 0. Functions, fields and
// numbers are added, never changed, as long as the library is called libmillrace_c.so.0.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MILLRACE_API __attribute__((visibility("default")))
#define MILLRACE_CALL __attribute__((visibility("default"), warn_unused_result))

typedef uint64_t millrace_runtime;
typedef uint64_t millrace_executable;
typedef uint64_t millrace_buffer;
typedef uint64_t millrace_operation;

// ---- Errors

typedef struct millrace_error millrace_error;

enum {
  MILLRACE_OK = 0,
  MILLRACE_CANCELLED = 1,
  MILLRACE_UNKNOWN = 2,
  MILLRACE_INVALID_ARGUMENT = 3,
  MILLRACE_DEADLINE_EXCEEDED = 4,
  MILLRACE_NOT_FOUND = 5,
  MILLRACE_ALREADY_EXISTS = 6,
  MILLRACE_PERMISSION_DENIED = 7,
  MILLRACE_RESOURCE_EXHAUSTED = 8,
  MILLRACE_FAILED_PRECONDITION = 9,
  MILLRACE_ABORTED = 10,
  MILLRACE_OUT_OF_RANGE = 11,
  MILLRACE_UNIMPLEMENTED = 12,
  MILLRACE_INTERNAL = 13,
  MILLRACE_UNAVAILABLE = 14,
  MILLRACE_DATA_LOSS = 15,
  MILLRACE_UNAUTHENTICATED = 16
};

// One of the codes above; MILLRACE_OK for NULL.
MILLRACE_API int32_t millrace_error_code(const millrace_error* error);
// What was attempted, on what, why not, what would help. Lives as long as the error; "" for NULL.
MILLRACE_API const char* millrace_error_message(const millrace_error* error);
// NULL is fine.
MILLRACE_API void millrace_error_destroy(millrace_error* error);

// ---- A runtime and its devices

// "0.1.0": the version of the library, which may be newer than this header.
MILLRACE_API const char* millrace_version(void);

typedef struct millrace_open_options {
  size_t struct_size;
  const char* device;  // the kind of device; NULL: as PJRT_DEVICE says, else it is picked
  int32_t devices;     // how many; 0: as the device's variable says (CPU_NUM_DEVICES)
  int32_t threads;     // that run programs; 0: as MILLRACE_THREADS says, else one per core
  double seconds;      // that opening may take; 0: as many as it needs
} millrace_open_options;

// options may be NULL. Several runtimes may be open at once; they do not know of each other. A
// plugin whose hardware does not answer may never return from a call. MILLRACE_DEADLINE_EXCEEDED,
// which names the plugin and that call: it was not open in so many seconds, and a thread of the
// library may be left in there (millrace_left_behind); plugins that answer are opened as before.
MILLRACE_CALL millrace_error* millrace_open(const millrace_open_options* options,
                                            millrace_runtime* runtime);
// 1: a thread of the library is left in a plugin, because millrace_open or millrace_close waited
// for it long enough. Such a process ends by _exit: exit and the end of main run the destructors
// of the plugin under that thread, and wait for ever where it is loading a library. Else 0.
MILLRACE_API int32_t millrace_left_behind(void);

typedef struct millrace_device_info {
  size_t struct_size;
  int32_t id;        // its index: what puts and executions take
  const char* kind;  // "cpu", ...; lives until the runtime is closed
} millrace_device_info;

MILLRACE_CALL millrace_error* millrace_device_count(millrace_runtime runtime, size_t* count);
// MILLRACE_OUT_OF_RANGE: index is not below the count.
MILLRACE_CALL millrace_error* millrace_device(millrace_runtime runtime, size_t index,
                                              millrace_device_info* info);

// ---- Arrays: dense and row-major. The elements of i1 and of other types below a byte take one
// byte each.

enum {
  MILLRACE_I1 = 1,
  MILLRACE_I2 = 2,
  MILLRACE_I4 = 3,
  MILLRACE_I8 = 4,
  MILLRACE_I16 = 5,
  MILLRACE_I32 = 6,
  MILLRACE_I64 = 7,
  MILLRACE_U2 = 8,
  MILLRACE_U4 = 9,
  MILLRACE_U8 = 10,
  MILLRACE_U16 = 11,
  MILLRACE_U32 = 12,
  MILLRACE_U64 = 13,
  MILLRACE_F16 = 14,
  MILLRACE_BF16 = 15,
  MILLRACE_F32 = 16,
  MILLRACE_F64 = 17,
  MILLRACE_TF32 = 18,
  MILLRACE_F8E5M2 = 19,
  MILLRACE_F8E4M3 = 20,
  MILLRACE_F8E4M3FN = 21,
  MILLRACE_F8E4M3B11FNUZ = 22,
  MILLRACE_F8E5M2FNUZ = 23,
  MILLRACE_F8E4M3FNUZ = 24,
  MILLRACE_F8E3M4 = 25,
  MILLRACE_F8E8M0FNU = 26,
  MILLRACE_F4E2M1FN = 27,
  MILLRACE_F6E2M3FN = 28,
  MILLRACE_F6E3M2FN = 29,
  MILLRACE_C64 = 30,
  MILLRACE_C128 = 31
};

#define MILLRACE_MAX_RANK 12

typedef struct millrace_shape {
  size_t struct_size;
  int32_t dtype;
  int32_t rank;
  int64_t dims[MILLRACE_MAX_RANK];
  size_t bytes;  // of the whole array in host memory
} millrace_shape;

// The shape of a buffer, and what a program takes and gives. MILLRACE_FAILED_PRECONDITION as long
// as it is not known: a put says so at once, the others by the end of their operation at the
// latest. MILLRACE_OUT_OF_RANGE: index is not below the number of inputs or outputs.
MILLRACE_CALL millrace_error* millrace_buffer_shape(millrace_runtime runtime,
                                                    millrace_buffer buffer, millrace_shape* shape);

typedef struct millrace_signature {
  size_t struct_size;
  size_t inputs;
  size_t outputs;
} millrace_signature;

MILLRACE_CALL millrace_error* millrace_executable_signature(millrace_runtime runtime,
                                                            millrace_executable executable,
                                                            millrace_signature* signature);
MILLRACE_CALL millrace_error* millrace_executable_input(millrace_runtime runtime,
                                                        millrace_executable executable,
                                                        size_t index, millrace_shape* shape);
MILLRACE_CALL millrace_error* millrace_executable_output(millrace_runtime runtime,
                                                         millrace_executable executable,
                                                         size_t index, millrace_shape* shape);

// ---- Operations. user_data comes back in the completion and is not looked at. Another thread's
// millrace_next may give an operation even before the call that starts it has returned.

typedef struct millrace_compile_args {
  size_t struct_size;
  // StableHLO as text or as a portable artifact (MLIR bytecode): the first bytes say which.
  const void* code;
  size_t code_bytes;
  const char* name;  // for messages: usually the file; NULL: "program"
  void* user_data;
} millrace_compile_args;

// Errors of the program have its name, line and column.
MILLRACE_CALL millrace_error* millrace_compile(millrace_runtime runtime,
                                               const millrace_compile_args* args,
                                               millrace_executable* executable,
                                               millrace_operation* operation);

typedef struct millrace_put_args {
  size_t struct_size;
  const void* data;  // borrowed
  size_t data_bytes;
  const int64_t* dims;  // NULL for a scalar
  size_t rank;
  int32_t dtype;
  int32_t device;
  void* user_data;
} millrace_put_args;

// Host to device.
MILLRACE_CALL millrace_error* millrace_put(millrace_runtime runtime, const millrace_put_args* args,
                                           millrace_buffer* buffer, millrace_operation* operation);

typedef struct millrace_execute_args {
  size_t struct_size;
  millrace_executable executable;
  const millrace_buffer* arguments;  // in the program's order, all on this device
  size_t num_arguments;
  size_t num_outputs;  // as many as the program gives
  int32_t device;
  void* user_data;
} millrace_execute_args;

// Runs a program; outputs has room for num_outputs handles. Finishes when the outputs are written.
// What must run after something else takes its outputs: two executions that share nothing keep no
// order. Arguments that the program donates can be used no more afterwards.
MILLRACE_CALL millrace_error* millrace_execute(millrace_runtime runtime,
                                               const millrace_execute_args* args,
                                               millrace_buffer* outputs,
                                               millrace_operation* operation);

typedef struct millrace_fetch_args {
  size_t struct_size;
  millrace_buffer buffer;
  void* destination;  // borrowed
  size_t destination_bytes;
  void* user_data;
} millrace_fetch_args;

// Device to host. destination_bytes must be the size of the array (millrace_buffer_shape). Unless
// it succeeds, the destination holds nothing of use.
MILLRACE_CALL millrace_error* millrace_fetch(millrace_runtime runtime,
                                             const millrace_fetch_args* args,
                                             millrace_operation* operation);

// Work that was started with a handle runs on after its end; its memory is freed when unused.
MILLRACE_CALL millrace_error* millrace_buffer_destroy(millrace_runtime runtime,
                                                      millrace_buffer buffer);
MILLRACE_CALL millrace_error* millrace_executable_destroy(millrace_runtime runtime,
                                                          millrace_executable executable);

// ---- Completions

enum { MILLRACE_COMPILE = 1, MILLRACE_PUT = 2, MILLRACE_EXECUTE = 3, MILLRACE_FETCH = 4 };

typedef struct millrace_completion {
  size_t struct_size;
  millrace_operation operation;  // 0: nothing has finished; all else is 0 then
  void* user_data;
  millrace_error* error;  // NULL: success; otherwise the caller's to destroy
  int32_t kind;           // MILLRACE_COMPILE, ...
  uint64_t result;        // the executable, or the buffer (of an execution the first); or 0
} millrace_completion;

// Readable exactly while millrace_next has something to give: to be waited for, never read. Lives
// until the runtime is closed; no thread may wait for it then.
MILLRACE_CALL millrace_error* millrace_completion_fd(millrace_runtime runtime, int* descriptor);
// The operation that has finished first and was not given yet. Never waits.
MILLRACE_CALL millrace_error* millrace_next(millrace_runtime runtime,
                                            millrace_completion* completion);

// NULL: the operation finishes with MILLRACE_CANCELLED. At once, unless it has borrowed bytes in
// use, which it returns first. What needs its results fails with it. A program that runs is
// stopped between two of its steps; one that cannot be stopped runs on, and its results are
// dropped. MILLRACE_FAILED_PRECONDITION: it has finished already, and millrace_next will give it.
MILLRACE_CALL millrace_error* millrace_cancel(millrace_runtime runtime,
                                              millrace_operation operation);

typedef struct millrace_close_options {
  size_t struct_size;
  // Called once for every operation that millrace_next has not given. The completion lives for the
  // call; its error is the callee's to destroy. NULL: they are dropped.
  void (*completed)(void* context, const millrace_completion* completion);
  void* context;
} millrace_close_options;

// Cancels what has not finished, waits until devices and threads have ended, hands out what is left
// and frees everything: the runtime, its executables and buffers, the descriptor. Calls that other
// threads are inside of end first, later ones give MILLRACE_NOT_FOUND. options may be NULL; where
// they are wrong (MILLRACE_INVALID_ARGUMENT, MILLRACE_UNIMPLEMENTED) the runtime stays open. Any
// other error reports a problem on the way; everything was freed all the same.
MILLRACE_CALL millrace_error* millrace_close(millrace_runtime runtime,
                                             const millrace_close_options* options);

#ifdef __cplusplus
}
#endif
