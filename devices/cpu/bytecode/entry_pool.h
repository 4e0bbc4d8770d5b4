// EntryPool: the strings, attributes and types of a bytecode file that is being written, each once.
// What is made of others comes behind them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/bytecode/byte_writer.h"
#include "millrace/devices/cpu/bytecode/version.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::bytecode {

// The dialects of a file that is written, in the order of their numbers.
enum class Dialect : std::uint8_t { kBuiltin, kVhlo };

// Thread-safety: confined.
class EntryPool {
 public:
  explicit EntryPool(Version version) : version_(version) {}

  std::uint64_t string(std::string_view text);
  // In VHLO's encoding. kUnimplemented for what VHLO, or this version of it, does not have.
  Result<std::uint64_t> type(ir::Type type);
  Result<std::uint64_t> attribute(ir::Attribute attribute);
  std::uint64_t api_version(std::int64_t value);
  // In the encoding of MLIR's own dialect.
  Result<std::uint64_t> builtin_attribute(ir::Attribute attribute);
  std::uint64_t builtin_string(std::string_view text);
  std::uint64_t unknown_location();
  // A dictionary of MLIR's own of attributes that are in the pool, sorted by name.
  std::uint64_t dictionary(std::span<const std::pair<std::string_view, std::uint64_t>> entries);

  // The contents of the sections.
  std::string strings() const;
  std::string offsets() const;
  std::string entries() const;

 private:
  struct Entry {
    Dialect dialect;
    std::string bytes;
  };
  // Entries by their bytes with the dialect in front.
  struct List {
    std::vector<Entry> all;
    std::unordered_map<std::string, std::uint64_t> known;
    std::uint64_t add(Dialect dialect, std::string bytes);
  };

  Status needs(Version since, const std::string& what) const;
  Result<std::uint64_t> scalar(ir::Type type);
  Result<std::uint64_t> quant(const ir::QuantParameters& q);
  Result<std::uint64_t> builtin_type(ir::Type type);
  Status types(ByteWriter& out, std::span<const ir::Type> list);
  Status encode(ByteWriter& out, ir::Type type);
  Status encode(ByteWriter& out, ir::Attribute attribute);
  Status encode_integer(ByteWriter& out, const ir::IntegerAttr& integer);
  Status encode_enum(ByteWriter& out, const ir::EnumAttr& value);
  Status encode_array(ByteWriter& out, std::span<const ir::Attribute> values);
  Status encode_dict(ByteWriter& out, std::span<const ir::NamedAttribute> values);
  Status encode_dense(ByteWriter& out, const ir::DenseAttr& dense);
  Status encode_ints(ByteWriter& out, const ir::IntArrayAttr& ints);
  Status encode_accuracy(ByteWriter& out, const ir::ResultAccuracyAttr& accuracy);

  const Version version_;
  std::vector<std::string> strings_;
  std::unordered_map<std::string, std::uint64_t> string_numbers_;
  List types_;
  List attributes_;
  ir::Module scratch_;  // for types that the program does not name
  int depth_ = 0;
};

}  // namespace millrace::devices::cpu::bytecode
