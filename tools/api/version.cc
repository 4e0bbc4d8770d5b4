#include "millrace/tools/api/version.h"

#include <array>

namespace millrace {

std::string_view version() { return MILLRACE_VERSION; }
std::string_view compiler() { return MILLRACE_COMPILER; }
std::string_view build_type() { return MILLRACE_BUILD_TYPE; }

// From CMake, which found them.
std::span<const std::pair<std::string_view, std::string_view>> libraries() {
  using Entry = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kLibraries = {
      Entry{"CLI11", MILLRACE_WITH_CLI11},       Entry{"concurrentqueue", "unversioned"},
      Entry{"libcrypto", MILLRACE_WITH_OPENSSL}, Entry{"libevent", MILLRACE_WITH_EVENT},
      Entry{"libuv", MILLRACE_WITH_UV},          Entry{"nlohmann-json", MILLRACE_WITH_JSON},
      Entry{"oneDNN", MILLRACE_WITH_ONEDNN},     Entry{"oneTBB", MILLRACE_WITH_TBB},
      Entry{"protobuf", MILLRACE_WITH_PROTOBUF}, Entry{"spdlog", MILLRACE_WITH_SPDLOG},
      Entry{"zlib", MILLRACE_WITH_ZLIB}};
  return kLibraries;
}

}  // namespace millrace
