// EntryPool: the strings, attributes and types of a bytecode file that is being written, each once.
// What is made of others comes behind them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/bytecode/byte_writer.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::bytecode {

// Thread-safety: confined.
class EntryPool {
 public:
  explicit EntryPool(Version version) : version_(version) {}

  // The first error of the writing; what is written after it does not count.
  const std::optional<Error>& error() const { return error_; }
  void fail(ErrorCode code, const std::string& message);
  // Says where the error is.
  void add_context(const std::string& where) { error_ = error_->with_context(where); }

  std::uint64_t string(std::string_view text);
  // What the dialect, or this version of VHLO, does not have fails with kUnimplemented.
  std::uint64_t type(ir::Type type);
  std::uint64_t attribute(ir::Attribute attribute, Dialect dialect = Dialect::kVhlo);
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

  void fail_without_form(const std::string& what);
  void needs(Version since, const std::string& what);
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
  std::vector<std::string> strings_;
  std::unordered_map<std::string, std::uint64_t> string_numbers_;
  List types_;
  List attributes_;
  ir::Module scratch_;  // for types that the program does not name
  int depth_ = 0;
  std::optional<Error> error_;
};

}  // namespace millrace::devices::stablehlo::bytecode
