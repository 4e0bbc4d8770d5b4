#include "millrace/devices/cpu/bytecode/vhlo_codes.h"

namespace millrace::devices::cpu::bytecode {
namespace {

constexpr ScalarCode kScalars[] = {
    {0, DType::kI1, kOldestVersion},      {2, DType::kBF16, kOldestVersion},
    {3, DType::kF16, kOldestVersion},     {4, DType::kF32, kOldestVersion},
    {5, DType::kF64, kOldestVersion},     {6, DType::kF8E4M3FN, kOldestVersion},
    {7, DType::kF8E5M2, kOldestVersion},  {10, DType::kI4, kOldestVersion},
    {11, DType::kI8, kOldestVersion},     {12, DType::kI16, kOldestVersion},
    {13, DType::kI32, kOldestVersion},    {14, DType::kI64, kOldestVersion},
    {15, DType::kU4, kOldestVersion},     {16, DType::kU8, kOldestVersion},
    {17, DType::kU16, kOldestVersion},    {18, DType::kU32, kOldestVersion},
    {19, DType::kU64, kOldestVersion},    {27, DType::kF8E4M3FNUZ, {0, 10, 0}},
    {28, DType::kF8E5M2FNUZ, {0, 10, 0}}, {29, DType::kF8E4M3B11FNUZ, {0, 11, 0}},
    {31, DType::kI2, {1, 2, 0}},          {32, DType::kU2, {1, 2, 0}},
    {34, DType::kTF32, {1, 6, 0}},        {35, DType::kF8E4M3, {1, 7, 0}},
    {36, DType::kF8E3M4, {1, 7, 0}},      {37, DType::kF4E2M1FN, {1, 8, 0}},
    {38, DType::kF6E2M3FN, {1, 8, 0}},    {39, DType::kF6E3M2FN, {1, 8, 0}},
    {40, DType::kF8E8M0FNU, {1, 8, 0}},
};

constexpr EnumCode kEnums[] = {
    {AttributeCode::kComparisonDirection, ir::EnumClass::kComparisonDirection, 6},
    {AttributeCode::kComparisonType, ir::EnumClass::kComparisonType, 5},
    {AttributeCode::kFftType, ir::EnumClass::kFftType, 4},
    {AttributeCode::kPrecision, ir::EnumClass::kPrecision, 3},
    {AttributeCode::kRngAlgorithm, ir::EnumClass::kRngAlgorithm, 3},
    {AttributeCode::kRngDistribution, ir::EnumClass::kRngDistribution, 2, 1},
    {AttributeCode::kTranspose, ir::EnumClass::kTranspose, 4},
    {AttributeCode::kAccuracyMode, ir::EnumClass::kAccuracyMode, 3},
};

}  // namespace

std::span<const ScalarCode> scalar_codes() { return kScalars; }
std::span<const EnumCode> enum_codes() { return kEnums; }

}  // namespace millrace::devices::cpu::bytecode
