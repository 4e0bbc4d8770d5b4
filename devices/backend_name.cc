#include "millrace/devices/backend_name.h"

#include <algorithm>

namespace millrace::devices {
namespace {

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7f;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (!is_control(c)) {
      shown += c;
    } else {
      shown.append("\\x").append({kDigits[code / 16], kDigits[code % 16]});
    }
  }
  return shown;
}

Status check_backend_name(std::string_view name) {
  if (!name.empty() && std::ranges::none_of(name, is_control)) return {};
  return fail(ErrorCode::kInvalidArgument,
              "'" + printable(name) +
                  "' cannot name a kind of device: a name has at least one character, and no "
                  "control characters");
}

}  // namespace millrace::devices
