#include "millrace/devices/stablehlo/text/attributes.h"

#include <array>
#include <charconv>

#include "millrace/devices/stablehlo/ir/float_format.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

using ir::Attribute;

bool fits(std::int64_t value, DType type, bool negative) {
  const int bits = bit_width(type);
  if (is_unsigned_integer(type)) {
    return !negative && (bits == 64 || static_cast<std::uint64_t>(value) >> bits == 0);
  }
  if (bits == 64) return true;
  // Signless: from the lowest signed to the highest unsigned value, as in MLIR.
  return value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << bits);
}

// Brings the high bits of a signless literal (255 : i8) to the sign.
std::int64_t wrapped(std::int64_t value, DType type) {
  const int shift = 64 - bit_width(type);
  if (!is_signed_integer(type) || shift == 0) return value;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
}

bool read_integer_value(State& s, bool negative, const Token& digits, ir::Type type,
                        Attribute* out) {
  std::uint64_t magnitude = 0;
  if (!s.in.magnitude(digits, negative, &magnitude)) return false;
  const auto value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  if (type.kind() == ir::TypeKind::kIndex) {
    *out = s.module.attribute(ir::IntegerAttr{{}, value, type});
    return true;
  }
  const DType dtype = type.dtype();
  if (is_floating(dtype)) {
    // Hex digits are the bits; a decimal integer is no float.
    const int bits = bit_width(dtype);
    if (!digits.text.starts_with("0x") || negative || (bits < 64 && magnitude >> bits != 0)) {
      return s.in.fail_at(digits.location, "an integer is no value of " + type.to_string());
    }
    *out = s.module.attribute(ir::FloatAttr{{}, magnitude, type});
    return true;
  }
  if (!fits(value, dtype, negative)) {
    return s.in.fail_at(digits.location, "the integer " + std::string(digits.text) +
                                             " does not fit in " + type.to_string());
  }
  if (dtype == DType::kI1) {
    *out = s.module.attribute(ir::BoolAttr{{}, value != 0});
  } else {
    *out = s.module.attribute(ir::IntegerAttr{{}, wrapped(value, dtype), type});
  }
  return true;
}

bool read_number(State& s, Attribute* out) {
  const std::size_t begin = s.in.begin();
  const bool negative = s.in.accept('-');
  const Token digits = s.in.token();
  double value = 0;
  if (digits.kind == TokenKind::kFloat) {
    if (!s.in.number(&value)) return false;
  } else if (digits.kind == TokenKind::kInteger) {
    s.in.advance();
  } else {
    return s.in.unexpected("a number");
  }
  const std::string_view text = text_since(s, begin);
  const bool is_float = digits.kind == TokenKind::kFloat;
  ir::Type type = s.module.types().scalar(is_float ? DType::kF64 : DType::kI64);
  if (s.in.accept(':') && !read_type(s, &type)) return false;
  if (type.kind() == ir::TypeKind::kOpaque) {
    *out = make_opaque(s, std::string(text) + " : " + type.to_string());
    return true;
  }
  const bool usable = type.kind() == ir::TypeKind::kIndex ||
                      (type.kind() == ir::TypeKind::kScalar && !is_complex(type.dtype()));
  if (!usable || (is_float && !is_floating(type.dtype()))) {
    return s.in.fail_at(digits.location,
                        "a number is no value of " + type.to_string().substr(0, 80));
  }
  if (!is_float) return read_integer_value(s, negative, digits, type, out);
  const std::uint64_t bits = ir::encode_float(type.dtype(), negative ? -value : value);
  *out = s.module.attribute(ir::FloatAttr{{}, bits, type});
  return true;
}

bool read_symbol_path(State& s, Attribute* out) {
  std::vector<std::string_view> path;
  std::string name;
  do {
    if (!s.in.symbol(&name)) return false;
    path.push_back(s.module.intern(name));
  } while (s.in.accept(TokenKind::kColonColon));
  *out = s.module.attribute(
      ir::SymbolAttr{{}, s.module.copy(std::span<const std::string_view>(path))});
  return true;
}

bool read_array(State& s, Attribute* out) {
  std::vector<Attribute> values;
  if (!s.in.list('[', ']', [&] { return read_attribute(s, &values.emplace_back()); })) return false;
  *out = s.module.attribute(ir::ArrayAttr{{}, s.module.copy(std::span<const Attribute>(values))});
  return true;
}

bool read_dict(State& s, Attribute* out) {
  std::vector<ir::NamedAttribute> values;
  if (!read_attribute_dict(s, &values)) return false;
  *out = s.module.attribute(ir::DictAttr{{}, s.module.sorted(values)});
  return true;
}

// One number of array<T: ...>: its value, or the bits of a float.
bool read_typed_element(State& s, ir::Type type, std::uint64_t* out) {
  const DType dtype = type.dtype();
  bool flag = false;
  if (dtype == DType::kI1 && s.in.token().kind == TokenKind::kBareId) {
    if (!s.in.boolean(&flag)) return false;
    *out = flag;
    return true;
  }
  double value = 0;
  if (is_floating(dtype) && !s.in.token().text.starts_with("0x")) {
    if (!s.in.number(&value)) return false;
    *out = ir::encode_float(dtype, value);
    return true;
  }
  const bool negative = s.in.accept('-');
  const Token digits = s.in.token();
  Attribute made;
  if (digits.kind != TokenKind::kInteger) return s.in.unexpected("an integer");
  s.in.advance();
  if (!read_integer_value(s, negative, digits, type, &made)) return false;
  if (const auto* i = made.as<ir::IntegerAttr>()) *out = static_cast<std::uint64_t>(i->value);
  if (const auto* b = made.as<ir::BoolAttr>()) *out = b->value;
  if (const auto* f = made.as<ir::FloatAttr>()) *out = f->bits;
  return true;
}

// array<i64: 1, 2>
bool read_typed_array(State& s, Attribute* out) {
  s.in.advance();
  if (!s.in.expect('<')) return false;
  const Token word = s.in.token();
  const DType element =
      word.kind == TokenKind::kBareId ? dtype_of_word(word.text) : DType::kInvalid;
  if (element == DType::kInvalid || is_complex(element))
    return s.in.unexpected("an integer or float type");
  s.in.advance();
  const ir::Type type = s.module.types().scalar(element);
  std::vector<std::uint64_t> bits;
  const auto one = [&] { return read_typed_element(s, type, &bits.emplace_back()); };
  if (!s.in.accept('>') && !(s.in.expect(':') && s.in.commas(one) && s.in.expect('>')))
    return false;
  *out = is_floating(element)
             ? s.module.attribute(ir::FloatArrayAttr{
                   {}, element, s.module.copy(std::span<const std::uint64_t>(bits))})
             : make_ints(s, std::vector<std::int64_t>(bits.begin(), bits.end()), element);
  return true;
}

// affine_map<...> and its like: word and brackets, kept as text; with a type behind it if there is
// a ':'.
bool read_opaque(State& s, Attribute* out) {
  const std::size_t begin = s.in.begin();
  s.in.advance();
  if (!s.in.skip_balanced()) return false;
  std::string text;
  if (!read_text_and_type(s, begin, &text)) return false;
  *out = make_opaque(s, text);
  return true;
}

bool read_string(State& s, Attribute* out) {
  const std::size_t begin = s.in.begin();
  std::string value;
  if (!s.in.string(&value)) return false;
  if (!s.in.token().is(':')) {
    *out = make_string(s, value);
    return true;
  }
  std::string text;
  if (!read_text_and_type(s, begin, &text)) return false;
  *out = make_opaque(s, text);
  return true;
}

bool read_word(State& s, Attribute* out) {
  const std::string_view word = s.in.token().text;
  if (word == "true" || word == "false") {
    s.in.advance();
    *out = s.module.attribute(ir::BoolAttr{{}, word == "true"});
    return true;
  }
  if (word == "dense") return read_dense(s, out);
  if (word == "dense_resource") return read_dense_resource(s, out);
  if (word == "array") return read_typed_array(s, out);
  if (word == "unit") {
    s.in.advance();
    *out = s.module.attribute(ir::UnitAttr{});
    return true;
  }
  if (begins_type(s.in.token())) {
    ir::Type type;
    if (!read_type(s, &type)) return false;
    *out = s.module.attribute(ir::TypeAttr{{}, type});
    return true;
  }
  constexpr std::array kOpaqueWords{"affine_map", "affine_set", "sparse",  "strided",
                                    "loc",        "opaque",     "distinct"};
  for (std::string_view opaque : kOpaqueWords) {
    if (word == opaque) return read_opaque(s, out);
  }
  return s.in.unexpected("an attribute");
}

}  // namespace

bool read_attribute(State& s, Attribute* out) {
  Nesting nesting(s.in);
  if (!nesting) return false;
  const Token& t = s.in.token();
  switch (t.kind) {
    case TokenKind::kBareId:
      return read_word(s, out);
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return read_number(s, out);
    case TokenKind::kString:
      return read_string(s, out);
    case TokenKind::kSymbol:
      return read_symbol_path(s, out);
    case TokenKind::kAttrId:
      return read_dialect_attribute(s, out);
    case TokenKind::kTypeId:
      break;
    case TokenKind::kPunctuation:
      if (t.is('-')) return read_number(s, out);
      if (t.is('[')) return read_array(s, out);
      if (t.is('{')) return read_dict(s, out);
      if (t.is('(')) break;
      return s.in.unexpected("an attribute");
    default:
      return s.in.unexpected("an attribute");
  }
  ir::Type type;
  if (!read_type(s, &type)) return false;
  *out = s.module.attribute(ir::TypeAttr{{}, type});
  return true;
}

bool read_attribute_dict(State& s, std::vector<ir::NamedAttribute>* out) {
  std::string quoted;
  return s.in.list('{', '}', [&] {
    ir::NamedAttribute named;
    if (s.in.token().kind == TokenKind::kString) {
      if (!s.in.string(&quoted)) return false;
      named.name = s.module.intern(quoted);
    } else if (s.in.token().kind == TokenKind::kBareId) {
      named.name = s.module.intern(s.in.token().text);
      s.in.advance();
    } else {
      return s.in.unexpected("the name of an attribute");
    }
    if (named.name.empty()) return s.in.fail("an attribute without a name");
    if (!s.in.accept('=')) {
      named.value = s.module.attribute(ir::UnitAttr{});
    } else if (!read_attribute(s, &named.value)) {
      return false;
    }
    out->push_back(named);
    return true;
  });
}

bool read_optional_dict(State& s, std::vector<ir::NamedAttribute>* out) {
  return !s.in.token().is('{') || read_attribute_dict(s, out);
}

Attribute make_int(State& s, std::int64_t value, DType type) {
  return s.module.attribute(ir::IntegerAttr{{}, value, s.module.types().scalar(type)});
}

Attribute make_ints(State& s, std::span<const std::int64_t> values, DType element) {
  return s.module.attribute(ir::IntArrayAttr{{}, element, s.module.copy(values)});
}

Attribute make_string(State& s, std::string_view value) {
  return s.module.attribute(ir::StringAttr{{}, s.module.intern(value)});
}

Attribute make_opaque(State& s, std::string_view text) {
  return s.module.attribute(ir::OpaqueAttr{{}, s.module.intern(text)});
}

Attribute make_symbol(State& s, std::string_view name) {
  const std::string_view path[] = {s.module.intern(name)};
  return s.module.attribute(
      ir::SymbolAttr{{}, s.module.copy(std::span<const std::string_view>(path))});
}

}  // namespace millrace::devices::stablehlo::text
