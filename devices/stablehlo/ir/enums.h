// The enums of StableHLO's attributes, with their spellings in the text. Read next: attribute.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::devices::stablehlo::ir {

enum class ComparisonDirection : std::uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class ComparisonType : std::uint8_t { kNoType, kFloat, kTotalOrder, kSigned, kUnsigned };
enum class Precision : std::uint8_t { kDefault, kHigh, kHighest };
enum class FftType : std::uint8_t { kFft, kIfft, kRfft, kIrfft };
enum class RngAlgorithm : std::uint8_t { kDefault, kThreeFry, kPhilox };
enum class RngDistribution : std::uint8_t { kUniform, kNormal };
enum class Transpose : std::uint8_t { kInvalid, kNoTranspose, kTranspose, kAdjoint };
enum class AccuracyMode : std::uint8_t { kDefault, kHighest, kTolerance };
enum class EnumClass : std::uint8_t {
  kComparisonDirection,
  kComparisonType,
  kPrecision,
  kFftType,
  kRngAlgorithm,
  kRngDistribution,
  kTranspose,
  kAccuracyMode,
};
// The class of the enum whose value it is.
constexpr EnumClass class_of(ComparisonDirection) { return EnumClass::kComparisonDirection; }
constexpr EnumClass class_of(ComparisonType) { return EnumClass::kComparisonType; }
constexpr EnumClass class_of(Precision) { return EnumClass::kPrecision; }
constexpr EnumClass class_of(FftType) { return EnumClass::kFftType; }
constexpr EnumClass class_of(RngAlgorithm) { return EnumClass::kRngAlgorithm; }
constexpr EnumClass class_of(RngDistribution) { return EnumClass::kRngDistribution; }
constexpr EnumClass class_of(Transpose) { return EnumClass::kTranspose; }
constexpr EnumClass class_of(AccuracyMode) { return EnumClass::kAccuracyMode; }

// The spelling in the text ("LT", "HIGHEST"), the enum's mnemonic ("comparison_direction"), and
// back.
std::string_view enum_value_name(EnumClass enum_class, int value);
std::string_view enum_class_name(EnumClass enum_class);
std::optional<EnumClass> enum_class_from_string(std::string_view mnemonic);
std::optional<int> enum_value_from_string(EnumClass enum_class, std::string_view name);

}  // namespace millrace::devices::stablehlo::ir
