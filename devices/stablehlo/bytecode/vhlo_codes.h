// The numbers that stand for attributes and types in bytecode, of VHLO (with the first version that
// has each) and of MLIR's own dialect. The reader and the writer share them.
#pragma once

#include <cstdint>
#include <string_view>

#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/bytecode/version.h"
#include "millrace/devices/stablehlo/ir/enums.h"

namespace millrace::devices::stablehlo::bytecode {

// The dialects whose encodings are known, in the order of their numbers in a file that is written.
enum class Dialect : std::uint8_t { kBuiltin, kVhlo, kSdy };

// The codes of MLIR's own dialect.
enum BuiltinCode : std::uint8_t {
  kBuiltinArray = 0,
  kBuiltinDict = 1,
  kBuiltinString = 2,
  kBuiltinUnit = 7,
  kBuiltinInteger = 8,
  kBuiltinUnknownLocation = 15,
  kBuiltinIntegerType = 0,
};

// The word of #sdy<manual_axes{...}>, whose text has it inside.
inline constexpr std::string_view kSdyManualAxes = "manual_axes";

// The codes of Shardy's attributes.
struct SdyCode {
  enum Value : std::uint8_t {
    kManualAxes = 0,
    kMeshAxis = 1,
    kMesh = 2,
    kSubAxis = 3,
    kAxisRef = 4,
    kDimSharding = 5,
    kSharding = 6,
    kShardingPerValue = 7,
    kDimMapping = 8,
    kTensorMapping = 9,
    kShardingRule = 10,
    kAxisRefList = 11,
    kAxisRefLists = 12,
    kAllToAllParam = 13,
    kAllToAllParams = 14,
    kUnreducedSharding = 15,
    kUnreducedPerValue = 16,
    kReducedSharding = 17,
  };
};

struct AttributeCode {
  enum Value : std::uint8_t {
    kArray = 1,
    kBool = 2,
    kComparisonDirection = 3,
    kComparisonType = 4,
    kApiVersion = 5,
    kDict = 6,
    kFftType = 7,
    kFloat = 8,
    kInteger = 9,
    kOutputAlias = 10,
    kPrecision = 11,
    kRngAlgorithm = 12,
    kRngDistribution = 13,
    kString = 14,
    kTensor = 15,
    kTranspose = 16,
    kType = 17,
    kBounds = 18,
    kAccuracyMode = 19,
    kAccuracy = 20,
    kSubAxis = 21,
    kMesh = 25,
  };
};

struct TypeCode {
  enum Value : std::uint8_t {
    kComplex = 1,
    kFunction = 8,
    kIndex = 9,
    kTensor = 20,
    kBoundedTensor = 21,
    kToken = 22,
    kTuple = 23,
    kQuant = 24,
    kUnranked = 25,
    kWitness = 26,
    kQuantPerAxis = 30,
    kNone = 33,
    kBuffer = 41,
    kFuture = 42,
  };
};

// Element types that are a code alone.
struct ScalarCode {
  std::uint8_t code;
  DType type;
  Version since;
};
inline constexpr ScalarCode kScalarCodes[] = {
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

// The enums that are a code and a value; values follow the order of ir::EnumClass's enums.
struct EnumCode {
  AttributeCode::Value code;
  ir::EnumClass enum_class;
  int values;
  int first = 0;  // the number of the first value
};
inline constexpr EnumCode kEnumCodes[] = {
    {AttributeCode::kComparisonDirection, ir::EnumClass::kComparisonDirection, 6},
    {AttributeCode::kComparisonType, ir::EnumClass::kComparisonType, 5},
    {AttributeCode::kFftType, ir::EnumClass::kFftType, 4},
    {AttributeCode::kPrecision, ir::EnumClass::kPrecision, 3},
    {AttributeCode::kRngAlgorithm, ir::EnumClass::kRngAlgorithm, 3},
    {AttributeCode::kRngDistribution, ir::EnumClass::kRngDistribution, 2, 1},
    {AttributeCode::kTranspose, ir::EnumClass::kTranspose, 4},
    {AttributeCode::kAccuracyMode, ir::EnumClass::kAccuracyMode, 3},
};

}  // namespace millrace::devices::stablehlo::bytecode
