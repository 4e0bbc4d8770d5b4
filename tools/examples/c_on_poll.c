// The sum of two arrays from C. Nothing waits but poll(2): a step takes what others will have made.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "millrace/c_api.h"

static const char kProgram[] =
    "func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %0 = stablehlo.add %x, %y : tensor<3xf32>\n"
    "  return %0 : tensor<3xf32>\n"
    "}\n";

static void check(millrace_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "error %d: %s\n", (int)millrace_error_code(error), millrace_error_message(error));
  exit(1);
}

int main(void) {
  const float x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
  float sum[3];
  const int64_t dims[1] = {3};
  millrace_runtime runtime;
  millrace_executable add;
  millrace_buffer inputs[2], output;
  millrace_operation operation;
  struct pollfd waited = {.events = POLLIN};

  check(millrace_open(NULL, &runtime));
  check(millrace_completion_fd(runtime, &waited.fd));

  millrace_compile_args program = {.struct_size = sizeof program};
  program.code = kProgram, program.code_bytes = strlen(kProgram);
  check(millrace_compile(runtime, &program, &add, &operation));
  millrace_put_args put = {.struct_size = sizeof put, .dtype = MILLRACE_F32};
  put.dims = dims, put.rank = 1, put.data = x, put.data_bytes = sizeof x;
  check(millrace_put(runtime, &put, &inputs[0], &operation));
  put.data = y;
  check(millrace_put(runtime, &put, &inputs[1], &operation));

  millrace_execute_args call = {.struct_size = sizeof call, .executable = add};
  call.arguments = inputs, call.num_arguments = 2, call.num_outputs = 1;
  check(millrace_execute(runtime, &call, &output, &operation));

  millrace_fetch_args fetch = {.struct_size = sizeof fetch, .buffer = output};
  fetch.destination = sum, fetch.destination_bytes = sizeof sum, fetch.user_data = sum;
  check(millrace_fetch(runtime, &fetch, &operation));

  for (int left = 5; left > 0;) {
    millrace_completion done = {.struct_size = sizeof done};
    if (poll(&waited, 1, -1) < 0) return 1;
    check(millrace_next(runtime, &done));
    check(done.error);
    if (done.operation != 0) --left;
    if (done.user_data == sum) printf("%g %g %g\n", sum[0], sum[1], sum[2]);
  }
  check(millrace_close(runtime, NULL));
}
