#include "millrace/core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace millrace {

void check_failed(const char* expression, const char* message, std::source_location where) {
  std::fprintf(stderr, "%s:%u: check failed: %s (%s)\n", where.file_name(),
               static_cast<unsigned>(where.line()), message, expression);
  std::fflush(stderr);
  std::abort();
}

}  // namespace millrace
