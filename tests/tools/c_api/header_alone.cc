// The header compiles alone as C++98, every warning an error.
#include "millrace/c_api.h"

millrace_error* header_in_cxx(millrace_runtime runtime, millrace_completion* completion);
millrace_error* header_in_cxx(millrace_runtime runtime, millrace_completion* completion) {
  completion->struct_size = sizeof *completion;
  return millrace_next(runtime, completion);
}
