// Entries: the attributes and types of one bytecode file, decoded when they are asked for, each
// once. Those of VHLO become the attributes and types of StableHLO that stand for them, Shardy's
// their text; those of dialects that are not ours become opaque ones, unread. Read next:
// decode_attributes.cc, decode_sdy.cc and decode_types.cc, the encodings.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/container.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::bytecode {

// Thread-safety: confined.
class Entries {
 public:
  Entries(const File& file, const Container& container, ir::Module& module);

  // The attribute or type of this index, which stands at `from` in the file.
  ir::Attribute attribute(std::uint64_t index, std::size_t from);
  ir::Type type(std::uint64_t index, std::size_t from);

  // The same, the index being at the cursor.
  ir::Attribute attribute(ByteCursor& in);
  ir::Type type(ByteCursor& in);
  // As many of them as a count says.
  std::vector<ir::Type> types(ByteCursor& in);
  // The text of an index of a string.
  std::string_view string(ByteCursor& in) const;
  // Whether an attribute is of a dialect that is not ours.
  bool is_foreign(std::uint64_t index) const;

  // An attribute that is kept as this text. All of them together have a size in proportion to the
  // file, whatever they refer to; check_text says so early, of a text that is still being made.
  ir::Attribute keep_text(const ByteCursor& in, std::string_view text);
  void check_text(const ByteCursor& in, std::size_t size) const;

  ir::Module& module() const { return module_; }

 private:
  enum class State : std::uint8_t { kEncoded, kBusy, kDone };
  // An entry with all that it refers to; while it is decoded, what that is so far.
  struct Frame {
    std::uint64_t weight = 0;  // bytes of it and of each that it refers to, each time anew
    int depth = 0;
  };
  template <class T>
  struct Slot {
    T value;
    Frame frame;
    State state = State::kEncoded;
  };

  template <class T>
  T resolve(std::vector<Slot<T>>& slots, const std::vector<Entry>& entries, std::uint64_t index,
            std::size_t from);
  // nullopt: of a dialect that is not ours, or as text.
  std::optional<Dialect> dialect_of(const Entry& entry) const;
  void account(const Frame& frame, std::size_t from);

  const File& file_;
  const Container& container_;
  ir::Module& module_;
  std::vector<Slot<ir::Attribute>> attributes_;
  std::vector<Slot<ir::Type>> types_;
  Frame* frame_ = nullptr;
  int resolving_ = 0;
  std::uint64_t total_ = 0;
  std::size_t texts_ = 0;  // bytes
};

// The encodings, by the code at the cursor.
ir::Attribute decode_attribute(Entries& entries, ByteCursor& in, Dialect dialect);
ir::Attribute decode_sdy_attribute(Entries& entries, ByteCursor& in);
ir::Type decode_type(Entries& entries, ByteCursor& in, Dialect dialect);
// VHLO's code of an attribute or type is not known.
[[noreturn]] void fail_unknown(const ByteCursor& in, std::string_view what, std::uint64_t code);

// An integer of a known width: a byte, or a varint with its sign.
std::uint64_t read_int_bits(ByteCursor& in, int width);
// Its 64 bits as a number.
double read_double(ByteCursor& in);

}  // namespace millrace::devices::stablehlo::bytecode
