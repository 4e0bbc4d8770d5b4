// PJRT plugins of others that tests may use: XLA's own CPU client, in the ages that
// tests/fetch_plugins gets, and those that need hardware. None where they were not fetched, and
// none under ThreadSanitizer, which does not see into them.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/paths.h"

namespace millrace::testing {

// Path by name ("Xla0115"). subfolder: "" or "hardware".
inline std::map<std::string, std::string> plugins_at_hand(
    [[maybe_unused]] const std::string& subfolder = {}) {
  std::map<std::string, std::string> found;
#if !defined(MILLRACE_TSAN)
  std::error_code none;
  const std::filesystem::path folder = source_folder() + "/.plugins/" + subfolder;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".so") found[entry.path().stem()] = entry.path();
  }
#endif
  return found;
}

}  // namespace millrace::testing
