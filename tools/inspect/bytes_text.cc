#include "millrace/tools/inspect/bytes_text.h"

#include "millrace/core/base/printed.h"

namespace millrace::inspect {

std::string bytes_text(std::size_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return printed(unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
}

}  // namespace millrace::inspect
