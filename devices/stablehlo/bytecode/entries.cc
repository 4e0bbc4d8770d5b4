#include "millrace/devices/stablehlo/bytecode/entries.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

namespace millrace::devices::stablehlo::bytecode {
namespace {

// Entries that refer to each other could make a short file mean a program of any size; what the
// references stand for is kept within a multiple of the file.
constexpr std::uint64_t kMaxExpansion = 64;
constexpr std::uint64_t kFreeExpansion = 65536;
// The bytes of a tensor are shared: they do not count in full.
constexpr std::size_t kMaxOwnWeight = 256;

}  // namespace

Entries::Entries(const File& file, const Container& container, ir::Module& module)
    : file_(file),
      container_(container),
      module_(module),
      attributes_(container.attributes.size()),
      types_(container.types.size()) {}

void Entries::account(const Frame& frame, std::size_t from) {
  std::uint64_t& sum = frame_ != nullptr ? frame_->weight : total_;
  sum += frame.weight;
  if (sum > kMaxExpansion * file_.size() + kFreeExpansion)
    file_.fail(from, "attributes and types that stand for too large a program");
  if (frame_ == nullptr) return;
  frame_->depth = std::max(frame_->depth, frame.depth + 1);
  if (frame_->depth > kMaxDepth)
    file_.fail(from, "attributes and types that are nested too deeply");
}

template <class T>
T Entries::resolve(std::vector<Slot<T>>& slots, const std::vector<Entry>& entries,
                   std::uint64_t index, std::size_t from) {
  constexpr bool kIsType = std::is_same_v<T, ir::Type>;
  const auto name = [&] { return (kIsType ? "type " : "attribute ") + std::to_string(index); };
  if (index >= slots.size())
    file_.fail(from, "a reference to " + name() + " of " + std::to_string(slots.size()));
  Slot<T>& slot = slots[static_cast<std::size_t>(index)];
  if (slot.state == State::kBusy) file_.fail(from, name() + " that refers to itself");
  if (slot.state == State::kEncoded) {
    if (resolving_ >= kMaxDepth)
      file_.fail(from, "attributes and types that are nested too deeply");
    const Entry& entry = entries[static_cast<std::size_t>(index)];
    slot.frame.weight = std::min(entry.range.size, kMaxOwnWeight) + 1;
    Frame* const outer = std::exchange(frame_, &slot.frame);
    ++resolving_;
    slot.state = State::kBusy;
    const auto dialect = dialect_of(entry);
    ByteCursor in(file_, entry.range);
    if constexpr (kIsType) {
      slot.value = dialect && dialect != Dialect::kSdy ? decode_type(*this, in, *dialect)
                                                       : module_.types().opaque("!sdy.unread");
    } else {
      slot.value = !dialect                   ? module_.attribute(ir::OpaqueAttr{{}, "#sdy.unread"})
                   : dialect == Dialect::kSdy ? decode_sdy_attribute(*this, in)
                                              : decode_attribute(*this, in, *dialect);
    }
    --resolving_;
    frame_ = outer;
    slot.state = State::kDone;
  }
  account(slot.frame, from);
  return slot.value;
}

std::optional<Dialect> Entries::dialect_of(const Entry& entry) const {
  const std::string_view name = container_.dialects[entry.dialect];
  if (entry.custom && name == "vhlo") return Dialect::kVhlo;
  if (entry.custom && name == "builtin") return Dialect::kBuiltin;
  if (entry.custom && name == "sdy") return Dialect::kSdy;
  return std::nullopt;
}

bool Entries::is_foreign(std::uint64_t index) const {
  return index < container_.attributes.size() &&
         !dialect_of(container_.attributes[static_cast<std::size_t>(index)]);
}

void Entries::check_text(const ByteCursor& in, std::size_t size) const {
  if (texts_ + size > kMaxExpansion * file_.size() + kFreeExpansion)
    in.fail("attributes that stand for too large a text");
}

ir::Attribute Entries::keep_text(const ByteCursor& in, std::string_view text) {
  check_text(in, text.size());
  texts_ += text.size();
  return module_.attribute(ir::OpaqueAttr{{}, module_.intern(text)});
}

ir::Attribute Entries::attribute(std::uint64_t index, std::size_t from) {
  return resolve(attributes_, container_.attributes, index, from);
}

ir::Type Entries::type(std::uint64_t index, std::size_t from) {
  return resolve(types_, container_.types, index, from);
}

ir::Attribute Entries::attribute(ByteCursor& in) {
  const std::size_t from = in.offset();
  return attribute(in.varint(), from);
}

ir::Type Entries::type(ByteCursor& in) {
  const std::size_t from = in.offset();
  return type(in.varint(), from);
}

std::vector<ir::Type> Entries::types(ByteCursor& in) {
  return in.list([&] { return type(in); });
}

std::string_view Entries::string(ByteCursor& in) const {
  return container_.strings[in.reference("string", container_.strings.size())];
}

std::uint64_t read_int_bits(ByteCursor& in, int width) {
  if (width <= 8) return in.byte();
  const auto bits = static_cast<std::uint64_t>(in.svarint());
  return width < 64 ? bits & ((std::uint64_t{1} << width) - 1) : bits;
}

double read_double(ByteCursor& in) { return std::bit_cast<double>(read_int_bits(in, 64)); }

}  // namespace millrace::devices::stablehlo::bytecode
