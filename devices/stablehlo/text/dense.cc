// dense<...> and dense_resource<...>: elements from text to little-endian bytes. The type stands
// behind the elements, so their text is found first and decoded once the type is known: the bytes
// are allocated once, and never more of them than the text has characters (but for one element).
#include <algorithm>
#include <charconv>
#include <cstring>

#include "millrace/devices/stablehlo/ir/float_format.h"
#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

using ir::Attribute;
using ir::normalise;
using ir::stored_type;

bool decode_hex(std::string_view digits, std::byte* out) {
  int bad = 0;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = hex_value(digits[i]);
    const int low = hex_value(digits[i + 1]);
    bad |= high | low;
    *out++ = static_cast<std::byte>((high << 4 | low) & 0xFF);
  }
  return bad >= 0;
}

// Decodes the elements of one literal, given its text. Scans by characters, keeps its own position.
class ElementReader {
 public:
  ElementReader(State& s, std::string_view text, ir::Location where, DType type)
      : s_(s),
        text_(text),
        where_(where),
        is_complex_(is_complex(type)),
        type_(part_of(type)),
        width_(byte_width(type_)) {}

  // Everything of the literal into out, which has room for `elements` (the shape's) or, for a
  // splat, for one.
  bool read(std::span<const std::int64_t> dims, std::byte* out, std::size_t capacity) {
    out_ = out;
    room_ = capacity;
    blanks();
    const bool good = at_end() ? true : peek() == '[' ? list(dims) : element();
    blanks();
    if (!good) return false;
    if (!at_end()) return fail("something is left behind the elements");
    return room_ == 0 || fail("fewer elements than the shape has");
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return text_[at_]; }
  void blanks() {
    for (;;) {
      while (!at_end() && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r'))
        ++at_;
      if (text_.substr(at_, 2) != "//") return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }
  bool take(char c) {
    blanks();
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }

  template <class... Parts>
  bool fail(const Parts&... reason) {
    ir::Location where = where_;
    for (char c : text_.substr(0, at_)) {
      where =
          c == '\n' ? ir::Location{where.line + 1, 1} : ir::Location{where.line, where.column + 1};
    }
    return s_.in.fail_at(where, "in a dense literal: ", reason...);
  }

  // Nested brackets, one level per dimension; each must have its dimension's number of entries.
  bool list(std::span<const std::int64_t> dims) {
    Nesting nesting(s_.in);
    if (!nesting) return false;
    if (dims.empty()) return fail("more brackets than the shape has dimensions");
    ++at_;
    std::int64_t count = 0;
    if (!take(']')) {
      do {
        blanks();
        if (at_end()) return fail("a list without its end");
        if (count == dims[0]) return fail("more entries than the dimension of ", count);
        if (peek() == '[') {
          if (!list(dims.subspan(1))) return false;
        } else if (dims.size() != 1) {
          return fail("fewer brackets than the shape has dimensions");
        } else if (!element()) {
          return false;
        }
        ++count;
      } while (take(','));
      if (!take(']')) return fail("expected ',' or ']'");
    }
    return count == dims[0] || fail("found ", count, " entries, expected ", dims[0]);
  }

  bool element() {
    if (room_ == 0) return fail("more elements than the shape has");
    --room_;
    if (!is_complex_) return scalar();
    return (take('(') && scalar() && take(',') && scalar() && take(')')) ||
           fail("expected a complex element (real, imaginary)");
  }

  bool scalar() {
    blanks();
    std::uint64_t bits = 0;
    if (!(is_floating(type_) ? floating(&bits) : integer(&bits))) return false;
    std::memcpy(out_, &bits, width_);
    out_ += width_;
    return true;
  }

  bool digits(int base, std::uint64_t* out) {
    const auto [end, code] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), *out, base);
    if (code != std::errc())
      return fail(code == std::errc::result_out_of_range ? "a number that does not fit"
                                                         : "expected a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return true;
  }

  bool hex_bits(std::uint64_t* bits) {
    at_ += 2;
    return digits(16, bits) &&
           (fits(*bits, type_, false) || fail("hex digits that do not fit the element type"));
  }

  bool floating(std::uint64_t* bits) {
    if (text_.substr(at_, 2) == "0x") return hex_bits(bits);
    const bool negative = take('-');
    double value = 0;
    std::size_t length = 0;
    if (at_end() || peek() < '0' || peek() > '9' ||
        !read_decimal(text_.substr(at_), &value, &length)) {
      return fail("expected a number");
    }
    at_ += length;
    *bits = ir::encode_float(type_, negative ? -value : value);
    return true;
  }

  bool integer(std::uint64_t* bits) {
    if (type_ == DType::kI1) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("true") || rest.starts_with("false")) {
        *bits = rest[0] == 't' ? 1 : 0;
        at_ += *bits != 0 ? 4 : 5;
        return true;
      }
    }
    const bool negative = take('-');
    if (!(text_.substr(at_, 2) == "0x" ? hex_bits(bits) : digits(10, bits))) return false;
    if (!fits(*bits, type_, negative)) return fail("a number that does not fit in ", type_);
    if (negative) *bits = 0 - *bits;
    if (bit_width(type_) < 8) {
      auto byte = static_cast<std::byte>(*bits & 0xFF);
      normalise(type_, {&byte, 1});
      *bits = static_cast<std::uint64_t>(byte);
    }
    return true;
  }

  State& s_;
  std::string_view text_;
  std::size_t at_ = 0;
  ir::Location where_;
  const bool is_complex_;  // each element is two scalars
  const DType type_;       // of a scalar
  const std::size_t width_;
  std::byte* out_ = nullptr;
  std::size_t room_ = 0;
};

// "0x...": raw bytes of all elements or of one; i1 may be packed, eight to a byte, lowest bit
// first.
bool read_hex_elements(State& s, std::string_view hex, ir::Location where, ir::Type type,
                       std::size_t count, Attribute* out) {
  const DType stored = stored_type(type);
  const std::size_t width = byte_width(stored);
  if (hex.size() % 2 != 0)
    return s.in.fail_at(where, "an odd number of hex digits in a dense literal");
  const std::size_t size = hex.size() / 2;
  const bool all = size / width == count && size % width == 0;
  const bool packed = !all && stored == DType::kI1 && size == count / 8 + (count % 8 != 0 ? 1 : 0);
  const bool splat = !all && size == width && !(packed && count <= 8);
  if (!all && !packed && !splat) {
    return s.in.fail_at(where, "found ", size, " bytes in a dense literal, expected ", count,
                        " elements of ", width, " bytes");
  }
  auto raw = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
  if (!decode_hex(hex, raw.get()))
    return s.in.fail_at(where, "a character that is no hex digit in a dense literal");
  if (!packed || splat) {
    normalise(stored, {raw.get(), size});
    return give(out, s.module.dense(type, splat, std::move(raw), size));
  }
  // At most eight elements for each byte of the text's two characters.
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(count);
  ir::unpack_bits({raw.get(), size}, {bytes.get(), count});
  return give(out, s.module.dense(type, false, std::move(bytes), count));
}

// Where the literal behind dense< ends: at the '>' outside strings and comments.
std::size_t find_end(std::string_view text, std::size_t at) {
  for (;;) {
    at = text.find_first_of(">\"/", at);
    if (at == std::string_view::npos || text[at] == '>') return at;
    at = text.find(text[at] == '"' ? '"' : '\n', at + 1);
    if (at == std::string_view::npos) return at;
    ++at;
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool read_elements(State& s, std::string_view literal, ir::Location where, ir::Type type,
                   Attribute* out) {
  const DType stored = stored_type(type);
  const auto elements = type.elements();
  if (!elements || *elements < 0) {
    return s.in.fail_at(where, "a dense literal of type ", type.to_string().substr(0, 120),
                        ", whose number of elements is not known or too large");
  }
  const auto count = static_cast<std::size_t>(*elements);
  const std::string_view body = trimmed(literal);
  if (body.starts_with('"')) {
    if (body.size() < 2 || !body.ends_with('"') ||
        (body.size() > 2 && !body.substr(1).starts_with("0x"))) {
      return s.in.fail_at(where, "the string of a dense literal is not \"0x...\"");
    }
    return read_hex_elements(s,
                             body.size() > 2 ? body.substr(3, body.size() - 4) : std::string_view(),
                             where, type, count, out);
  }
  if (body.empty() && count != 0)
    return s.in.fail_at(where, "an empty dense literal for ", type.to_string().substr(0, 120));
  const bool splat = !body.empty() && !body.starts_with('[') && count != 1;
  // An element takes at least one character and a comma: a shape that is larger than its text is
  // wrong.
  if (!splat && count > body.size()) {
    return s.in.fail_at(where, "a dense literal with fewer elements than the ", count,
                        " of its type");
  }
  const std::size_t slots = splat ? 1 : count;
  const std::size_t size = slots * byte_width(stored);
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
  ElementReader reader(s, literal, where, stored);
  if (!reader.read(type.dims(), bytes.get(), slots)) return false;
  return give(out, s.module.dense(type, splat, std::move(bytes), size));
}

// Whether the elements of a type can be stored.
bool is_stored(ir::Type type) {
  return type.kind() == ir::TypeKind::kTensor && stored_type(type) != DType::kInvalid;
}

}  // namespace

bool read_dense(State& s, Attribute* out) {
  s.in.advance();
  if (!s.in.token().is('<')) return s.in.unexpected("'<'");
  const ir::Location open = s.in.location();
  const ir::Location where{open.line, open.column + 1};
  const std::size_t first = s.in.end();
  const std::size_t last = find_end(s.in.text(), first);
  if (last == std::string_view::npos) return s.in.fail("a dense literal without its closing '>'");
  const std::string_view literal = s.in.text().substr(first, last - first);
  s.in.seek(last);
  ir::Type type;
  if (!s.in.expect('>') || !s.in.expect(':') || !read_type(s, &type)) return false;
  if (is_stored(type)) return read_elements(s, literal, where, type, out);
  // Elements that we cannot store (strings, i3, quantised): the text is kept.
  if (type.kind() != ir::TypeKind::kTensor && type.kind() != ir::TypeKind::kOpaque)
    return s.in.fail_at(where, "a dense literal of type ", type.to_string().substr(0, 120));
  return give(out, make_opaque(s, ir::message("dense<", literal, "> : ", type)));
}

bool read_dense_resource(State& s, Attribute* out) {
  s.in.advance();
  if (!s.in.expect('<')) return false;
  const ir::Location where = s.in.location();
  std::string_view key;
  ir::Type type;
  if (!s.in.key(&key) || !s.in.expect('>') || !s.in.expect(':') || !read_type(s, &type))
    return false;
  if (!is_stored(type) || !type.size_bytes()) {
    return s.in.fail_at(where, "a resource of type ", type.to_string().substr(0, 120),
                        ", expected a static tensor");
  }
  *out = s.module.dense(type, false, nullptr, 0);
  s.resources.push_back({key, *out, where});
  return true;
}

bool fill_resource(State& s, const State::PendingResource& pending, std::string_view hex) {
  // "0x", then four bytes of alignment.
  if (!hex.starts_with("0x") || hex.size() < 10 || hex.size() % 2 != 0) {
    return s.in.fail_at(pending.location, "the resource ", pending.key,
                        " is not \"0x\", 8 digits of alignment and its bytes");
  }
  const auto* dense = pending.attribute.as<ir::DenseAttr>();
  Attribute read;
  const auto count = static_cast<std::size_t>(*dense->type.elements());
  if (!read_hex_elements(s, hex.substr(10), pending.location, dense->type, count, &read))
    return false;
  // A blob has every element: one that is as long as the first of them was cut off.
  if (count != 1 && read.as<ir::DenseAttr>()->splat) {
    return s.in.fail_at(pending.location, "the resource ", pending.key,
                        " has one element, expected ", count);
  }
  s.module.share_dense(pending.attribute, read);
  return true;
}

}  // namespace millrace::devices::stablehlo::text
