#include "millrace/devices/stablehlo/ir/enums.h"

#include <algorithm>
#include <array>

namespace millrace::devices::stablehlo::ir {
namespace {

struct EnumInfo {
  std::string_view name;
  std::array<std::string_view, 6> values;
};

// In the order of EnumClass and of each enum's values.
constexpr std::array<EnumInfo, 8> kEnums = {{
    {"comparison_direction", {"EQ", "NE", "GE", "GT", "LE", "LT"}},
    {"comparison_type", {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", ""}},
    {"precision", {"DEFAULT", "HIGH", "HIGHEST", "", "", ""}},
    {"fft_type", {"FFT", "IFFT", "RFFT", "IRFFT", "", ""}},
    {"rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX", "", "", ""}},
    {"rng_distribution", {"UNIFORM", "NORMAL", "", "", "", ""}},
    {"transpose", {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT", "", ""}},
    {"result_accuracy_mode", {"DEFAULT", "HIGHEST", "TOLERANCE", "", "", ""}},
}};

const EnumInfo& info(EnumClass enum_class) { return kEnums[static_cast<std::size_t>(enum_class)]; }

}  // namespace

std::string_view enum_class_name(EnumClass enum_class) { return info(enum_class).name; }

std::string_view enum_value_name(EnumClass enum_class, int value) {
  return info(enum_class).values[static_cast<std::size_t>(value)];
}

std::optional<EnumClass> enum_class_from_string(std::string_view mnemonic) {
  for (std::size_t i = 0; i < kEnums.size(); ++i) {
    if (kEnums[i].name == mnemonic) return static_cast<EnumClass>(i);
  }
  return std::nullopt;
}

std::optional<int> enum_value_from_string(EnumClass enum_class, std::string_view name) {
  if (name.empty()) return std::nullopt;
  const auto& values = info(enum_class).values;
  const auto it = std::ranges::find(values, name);
  if (it == values.end()) return std::nullopt;
  return static_cast<int>(it - values.begin());
}

}  // namespace millrace::devices::stablehlo::ir
