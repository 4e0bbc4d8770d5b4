// The header compiles alone as C11, every warning an error.
#include "millrace/c_api.h"

// A function with the types of the header, so that they are looked at.
millrace_error* header_in_c(millrace_runtime runtime, millrace_completion* completion);
millrace_error* header_in_c(millrace_runtime runtime, millrace_completion* completion) {
  const millrace_completion empty = {.struct_size = sizeof empty};
  *completion = empty;
  return millrace_next(runtime, completion);
}
