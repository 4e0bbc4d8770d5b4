#include "tests/support/paths.h"

namespace millrace::testing {

std::string source_folder() { return MILLRACE_SOURCE_DIR; }
std::string build_folder() { return MILLRACE_BINARY_DIR; }
std::string shared_folder() { return MILLRACE_SHARED_DIR; }

}  // namespace millrace::testing
