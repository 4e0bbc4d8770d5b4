// Versions of VHLO, the versioned form of StableHLO that portable artifacts hold, and the number of
// MLIR's bytecode format that each of them is written in.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::devices::stablehlo::bytecode {

// "1.17.0". Named parts: a header of the system defines macros major and minor.
struct Version {
  int major_part = 0;
  int minor_part = 0;
  int patch_part = 0;
  auto operator<=>(const Version&) const = default;
};

inline constexpr Version kOldestVersion = {0, 9, 0};
inline constexpr Version kNewestVersion = {1, 20, 0};

// nullopt for anything but three numbers below a million.
std::optional<Version> version_from_string(std::string_view text);
std::string to_string(Version version);
// The format of MLIR's bytecode that an artifact of this version has.
int bytecode_format(Version version);

// Formats from which on the encoding has a part.
inline constexpr int kDialectVersions = 1;   // dialects may carry a version section
inline constexpr int kRegionSections = 2;    // isolated regions are sections of their own
inline constexpr int kUseListOrders = 3;     // blocks and ops may list the order of their uses
inline constexpr int kElidedLocations = 4;   // block arguments may be without location
inline constexpr int kNativeProperties = 5;  // inherent attributes lie in the properties section
inline constexpr int kNewestFormat = 6;

}  // namespace millrace::devices::stablehlo::bytecode
