// EntryPool: the strings, attributes and types of a bytecode file that is being written, each once.
// What is made of others comes behind them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/devices/stablehlo/bytecode/byte_writer.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::bytecode {

// Thread-safety: confined.
class EntryPool {
 public:
  explicit EntryPool(Version version) : version_(version) {}

  std::uint64_t string(std::string_view text) { return strings_.add(std::string(text)); }
  // What the dialect, or this version of VHLO, does not have throws an Error of kUnimplemented,
  // which write_bytecode.cc alone catches.
  std::uint64_t type(ir::Type type);
  std::uint64_t attribute(ir::Attribute attribute, Dialect dialect = Dialect::kVhlo);
  // Throws kUnimplemented where the version that is written is older.
  void needs(Version since, const std::string& what) const;
  std::uint64_t api_version(std::int64_t value);
  // MLIR's own dialect has these: strings, no location, and a dictionary of attributes that are in
  // the pool, sorted by name.
  std::uint64_t builtin_string(std::string_view text);
  std::uint64_t unknown_location();
  std::uint64_t dictionary(std::span<const std::pair<std::string_view, std::uint64_t>> entries);

  // The contents of the sections.
  std::string strings() const;
  std::string offsets() const;
  std::string entries() const;

 private:
  // Adds what encode(ByteWriter&) writes, in front of which stands the dialect.
  std::uint64_t add(Numbered<std::string>& to, Dialect dialect, auto encode);
  void encode_types(ByteWriter& out, std::span<const ir::Type> list);
  void encode_scalar(ByteWriter& out, ir::Type type);
  void encode_quant(ByteWriter& out, const ir::QuantParameters& q);
  void encode_shaped(ByteWriter& out, ir::Type type);
  void encode(ByteWriter& out, ir::Type type);
  void encode(ByteWriter& out, ir::Attribute attribute, Dialect dialect);
  void encode_builtin(ByteWriter& out, ir::Attribute attribute);
  void encode_vhlo(ByteWriter& out, ir::Attribute attribute);
  void encode_dense(ByteWriter& out, const ir::DenseAttr& dense);
  void encode_ints(ByteWriter& out, const ir::IntArrayAttr& ints);

  const Version version_;
  Numbered<std::string> strings_, types_, attributes_;
  ir::Module scratch_;  // for types that the program does not name
  int depth_ = 0;
};

}  // namespace millrace::devices::stablehlo::bytecode
