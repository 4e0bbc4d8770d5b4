// The numbers that stand for VHLO's attributes and types in bytecode, and the first version that
// has each. The reader and the writer share them.
#pragma once

#include <cstdint>
#include <span>

#include "millrace/devices/cpu/bytecode/version.h"
#include "millrace/devices/cpu/ir/enums.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu::bytecode {

enum class AttributeCode : std::uint8_t {
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
  kAxis = 22,
  kMeshAxes = 23,
  kMeshAxis = 24,
  kMesh = 25,
};
inline constexpr int kAttributeCodes = 26;

enum class TypeCode : std::uint8_t {
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

// Element types that are a code alone.
struct ScalarCode {
  std::uint8_t code;
  DType type;
  Version since;
};
std::span<const ScalarCode> scalar_codes();

// The enums that are a code and a value; values follow the order of ir::EnumClass's enums.
struct EnumCode {
  AttributeCode code;
  ir::EnumClass enum_class;
  int values;
  int first = 0;  // the number of the first value
};
std::span<const EnumCode> enum_codes();

}  // namespace millrace::devices::cpu::bytecode
