// Entries: the attributes and types of one bytecode file, decoded when they are asked for, each
// once. Those of VHLO become the attributes and types of StableHLO that stand for them; those of
// dialects that are not ours become opaque ones, unread. Read next: decode_attributes.cc and
// decode_types.cc, the encodings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/container.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::bytecode {

// Thread-safety: confined.
class Entries {
 public:
  Entries(Problem& problem, const Container& container, ir::Module& module);

  // The attribute or type of this index, which stands at `from` in the file.
  bool attribute(std::uint64_t index, std::size_t from, ir::Attribute* out);
  bool type(std::uint64_t index, std::size_t from, ir::Type* out);

  // The same, the index being at the cursor.
  bool read(ByteCursor& in, ir::Attribute* out);
  bool read(ByteCursor& in, ir::Type* out);
  // As many of them as a count says.
  template <class T>
  bool read(ByteCursor& in, std::vector<T>* out) {
    std::size_t n = 0;
    if (!in.count(&n)) return false;
    out->reserve(n);
    for (; n != 0; --n) {
      if (!read(in, &out->emplace_back())) return false;
    }
    return true;
  }
  // An index or nothing: *out is then a null handle.
  bool read_optional(ByteCursor& in, ir::Attribute* out);
  // The text of an index of a string.
  bool read(ByteCursor& in, std::string_view* out);
  // A name and a value, as often as a count says; values of other dialects are left out.
  bool read_dict(ByteCursor& in, std::vector<ir::NamedAttribute>* out);
  // Whether an attribute is of a dialect that is not ours.
  bool is_foreign(std::uint64_t index) const;

  ir::Module& module() { return module_; }

 private:
  enum class State : std::uint8_t { kEncoded, kBusy, kDone };
  template <class T>
  struct Slot {
    T value;
    std::uint32_t weight = 0;  // bytes of it and of all that it refers to, each time anew
    std::uint16_t depth = 0;
    State state = State::kEncoded;
  };
  // What the entry that is being decoded refers to, so far.
  struct Frame {
    std::uint64_t weight = 0;
    int depth = 0;
  };

  template <class T>
  bool resolve(std::vector<Slot<T>>& slots, const std::vector<Entry>& entries, std::uint64_t index,
               std::size_t from, T* out);
  // nullopt: of a dialect that is not ours, or as text.
  std::optional<Dialect> dialect_of(const Entry& entry) const;
  bool account(std::uint32_t weight, int depth, std::size_t from);

  Problem& problem_;
  const Container& container_;
  ir::Module& module_;
  std::vector<Slot<ir::Attribute>> attributes_;
  std::vector<Slot<ir::Type>> types_;
  Frame* frame_ = nullptr;
  int resolving_ = 0;
  std::uint64_t total_ = 0;
};

// The encodings, by the code at the cursor.
bool decode(Entries& entries, ByteCursor& in, Dialect dialect, ir::Attribute* out);
bool decode(Entries& entries, ByteCursor& in, Dialect dialect, ir::Type* out);
// That VHLO's code of an attribute or type is not known.
bool fail_unknown(ByteCursor& in, std::string_view what, std::uint64_t code);

// An integer of a known width: a byte, or a varint with its sign.
bool read_int_bits(ByteCursor& in, int width, std::uint64_t* out);

}  // namespace millrace::devices::stablehlo::bytecode
