// Container: the outer form of MLIR bytecode: header and sections, strings, dialects and op names,
// where each attribute, type and properties record lies, and where the operations are. Nothing of
// what these mean is known here. Read next: entries.h (attributes and types), read_bytecode.cc
// (operations).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/byte_cursor.h"

namespace millrace::devices::stablehlo::bytecode {

inline constexpr std::string_view kMagic = "ML\xefR";

// Those in between are resources and the versions of dialects, which are not looked at.
enum class SectionId : std::uint8_t {
  kString = 0,
  kDialect = 1,
  kAttributesAndTypes = 2,
  kOffsets = 3,
  kOperations = 4,
  kProperties = 8,
};
inline constexpr int kSections = 9;

// The parts that an operation has, as bits of its second number.
enum OpPart : std::uint8_t {
  kHasAttributes = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 16,
  kHasUseOrders = 32,
  kHasProperties = 64,
};

// An encoded attribute or type.
struct Entry {
  Range range;
  std::uint32_t dialect = 0;
  bool custom = false;  // in the dialect's own encoding; else zero-terminated text
};

struct OpName {
  std::uint32_t dialect = 0;
  std::string_view name;  // without the dialect
};

// Views into the bytes it was read from. Value type. Thread-safety: immutable.
struct Container {
  int format = 0;
  std::vector<std::string_view> strings;
  std::vector<std::string_view> dialects;
  std::vector<OpName> op_names;
  std::vector<Entry> attributes;
  std::vector<Entry> types;
  std::vector<Range> properties;
  Range operations;
};

Container read_container(const File& file);

struct Section {
  SectionId id;
  Range contents;
};
// The section at the cursor, which is moved behind it.
Section read_section(ByteCursor& in);

}  // namespace millrace::devices::stablehlo::bytecode
