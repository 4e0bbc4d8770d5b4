#include "millrace/devices/stablehlo/bytecode/version.h"

#include <charconv>

namespace millrace::devices::stablehlo::bytecode {

std::optional<Version> version_from_string(std::string_view text) {
  Version v;
  int* const parts[] = {&v.major_part, &v.minor_part, &v.patch_part};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int* part : parts) {
    if (part != parts[0] && (at == end || *at++ != '.')) return std::nullopt;
    const auto [next, code] = std::from_chars(at, end, *part);
    if (code != std::errc() || *part < 0 || *part >= 1'000'000) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  return v;
}

std::string to_string(Version v) {
  return std::to_string(v.major_part) + "." + std::to_string(v.minor_part) + "." +
         std::to_string(v.patch_part);
}

int bytecode_format(Version version) {
  if (version < Version{0, 10, 0}) return 0;
  if (version < Version{0, 12, 0}) return 1;
  if (version < Version{0, 14, 0}) return 3;
  if (version < Version{0, 15, 0}) return 4;
  return kNewestFormat;
}

}  // namespace millrace::devices::stablehlo::bytecode
