#include "millrace/devices/stablehlo/bytecode/entries.h"

#include <algorithm>
#include <limits>

namespace millrace::devices::stablehlo::bytecode {
namespace {

// Entries that refer to each other could make a short file mean a program of any size; what the
// references stand for is kept within a multiple of the file.
constexpr std::uint64_t kMaxExpansion = 64;
constexpr std::uint64_t kFreeExpansion = 65536;
// The bytes of a tensor are shared: they do not count in full.
constexpr std::size_t kMaxOwnWeight = 256;

}  // namespace

Entries::Entries(Problem& problem, const Container& container, ir::Module& module)
    : problem_(problem),
      container_(container),
      module_(module),
      attributes_(container.attributes.size()),
      types_(container.types.size()) {}

bool Entries::account(std::uint32_t weight, int depth, std::size_t from) {
  std::uint64_t& sum = frame_ != nullptr ? frame_->weight : total_;
  sum += weight;
  if (sum > kMaxExpansion * container_.file.size() + kFreeExpansion)
    return problem_.fail(from, "attributes and types that stand for too large a program");
  if (frame_ == nullptr) return true;
  frame_->depth = std::max(frame_->depth, depth + 1);
  return frame_->depth <= kMaxDepth ||
         problem_.fail(from, "attributes and types that are nested too deeply");
}

template <class T>
bool Entries::resolve(std::vector<Slot<T>>& slots, const std::vector<Entry>& entries,
                      std::uint64_t index, std::size_t from, T* out) {
  constexpr const char* kWhat = std::is_same_v<T, ir::Type> ? "type " : "attribute ";
  if (index >= slots.size()) {
    return problem_.fail(from, std::string("a reference to ") + kWhat + std::to_string(index) +
                                   " of " + std::to_string(slots.size()));
  }
  Slot<T>& slot = slots[static_cast<std::size_t>(index)];
  if (slot.state == State::kBusy)
    return problem_.fail(from, kWhat + std::to_string(index) + " that refers to itself");
  if (slot.state == State::kEncoded) {
    if (resolving_ >= kMaxDepth)
      return problem_.fail(from, "attributes and types that are nested too deeply");
    const Entry& entry = entries[static_cast<std::size_t>(index)];
    Frame frame{std::min(entry.range.size, kMaxOwnWeight) + 1, 0};
    Frame* const outer = frame_;
    frame_ = &frame;
    ++resolving_;
    slot.state = State::kBusy;
    bool good = true;
    if (const auto dialect = dialect_of(entry)) {
      ByteCursor in(problem_, container_.file, entry.range);
      good = decode(*this, in, *dialect, &slot.value);
    } else if constexpr (std::is_same_v<T, ir::Type>) {
      slot.value = module_.types().opaque("!sdy.unread");
    } else {
      slot.value = module_.attribute(ir::OpaqueAttr{{}, module_.intern("#sdy.unread")});
    }
    --resolving_;
    frame_ = outer;
    if (!good) return false;
    slot.weight = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(frame.weight, std::numeric_limits<std::uint32_t>::max()));
    slot.depth = static_cast<std::uint16_t>(frame.depth);
    slot.state = State::kDone;
  }
  *out = slot.value;
  return account(slot.weight, slot.depth, from);
}

std::optional<Dialect> Entries::dialect_of(const Entry& entry) const {
  const std::string_view name = container_.dialects[entry.dialect];
  if (entry.custom && name == "vhlo") return Dialect::kVhlo;
  if (entry.custom && name == "builtin") return Dialect::kBuiltin;
  return std::nullopt;
}

bool Entries::is_foreign(std::uint64_t index) const {
  return index < container_.attributes.size() &&
         !dialect_of(container_.attributes[static_cast<std::size_t>(index)]);
}

bool Entries::attribute(std::uint64_t index, std::size_t from, ir::Attribute* out) {
  return resolve(attributes_, container_.attributes, index, from, out);
}

bool Entries::type(std::uint64_t index, std::size_t from, ir::Type* out) {
  return resolve(types_, container_.types, index, from, out);
}

bool Entries::read(ByteCursor& in, ir::Attribute* out) {
  const std::size_t from = in.offset();
  std::uint64_t index = 0;
  return in.varint(&index) && attribute(index, from, out);
}

bool Entries::read(ByteCursor& in, ir::Type* out) {
  const std::size_t from = in.offset();
  std::uint64_t index = 0;
  return in.varint(&index) && type(index, from, out);
}

bool Entries::read_optional(ByteCursor& in, ir::Attribute* out) {
  const std::size_t from = in.offset();
  std::uint64_t index = 0;
  bool there = false;
  if (!in.flagged(&index, &there)) return false;
  return !there || attribute(index, from, out);
}

bool Entries::read(ByteCursor& in, std::string_view* out) {
  std::size_t index = 0;
  if (!in.reference("string", container_.strings.size(), &index)) return false;
  *out = container_.strings[index];
  return true;
}

bool Entries::read_dict(ByteCursor& in, std::vector<ir::NamedAttribute>* out) {
  std::size_t n = 0;
  if (!in.count(&n)) return false;
  out->reserve(n);
  for (; n != 0; --n) {
    ir::Attribute name;
    if (!read(in, &name)) return false;
    const auto* text = name.as<ir::StringAttr>();
    if (text == nullptr || text->value.empty())
      return in.fail("the name of an attribute is no string");
    const std::size_t from = in.offset();
    std::uint64_t value = 0;
    if (!in.varint(&value)) return false;
    if (is_foreign(value)) continue;
    ir::NamedAttribute named{text->value, {}};
    if (!attribute(value, from, &named.value)) return false;
    out->push_back(named);
  }
  return true;
}

bool read_int_bits(ByteCursor& in, int width, std::uint64_t* out) {
  if (width <= 8) {
    std::uint8_t byte = 0;
    if (!in.byte(&byte)) return false;
    *out = byte;
    return true;
  }
  std::int64_t value = 0;
  if (!in.svarint(&value)) return false;
  *out = static_cast<std::uint64_t>(value);
  if (width < 64) *out &= (std::uint64_t{1} << width) - 1;
  return true;
}

}  // namespace millrace::devices::stablehlo::bytecode
