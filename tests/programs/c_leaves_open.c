// Ends in the middle of everything, as a program does that found something wrong elsewhere: a
// runtime is open and a program runs that never ends. Exits with 3.
#include <stdlib.h>
#include <string.h>

#include "millrace/c_api.h"

static const char kEndless[] =
    "func.func @main(%x: tensor<i32>) -> tensor<i32> {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %r = stablehlo.while(%i = %x) : tensor<i32>\n"
    "  cond {\n"
    "    %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %n = stablehlo.multiply %i, %x : tensor<i32>\n"
    "    stablehlo.return %n : tensor<i32>\n"
    "  }\n"
    "  return %r : tensor<i32>\n"
    "}\n";

static void check(millrace_error* error) {
  if (error != NULL) exit(1);
}

static millrace_runtime runtime;
static const int32_t one = 1;

int main(void) {
  millrace_executable endless;
  millrace_buffer x, y;
  millrace_operation operation;
  const millrace_compile_args program = {sizeof program, kEndless, strlen(kEndless), NULL, NULL};
  const millrace_put_args put = {sizeof put, &one, 4, NULL, 0, MILLRACE_I32, 0, NULL};
  millrace_execute_args call = {.struct_size = sizeof call, .num_arguments = 1, .num_outputs = 1};
  check(millrace_open(NULL, &runtime));
  check(millrace_compile(runtime, &program, &endless, &operation));
  check(millrace_put(runtime, &put, &x, &operation));
  call.executable = endless;
  call.arguments = &x;
  check(millrace_execute(runtime, &call, &y, &operation));
  return 3;
}
