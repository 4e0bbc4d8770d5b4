// Folders of this build, for tests that read files or run programs. Told by one source, so that the
// others compile to the same object in any folder.
#pragma once

#include <string>

namespace millrace::testing {

std::string source_folder();  // the root of the sources
std::string build_folder();   // the programs are in its bin/
std::string shared_folder();  // conformance/ is in it, where there is one

}  // namespace millrace::testing
