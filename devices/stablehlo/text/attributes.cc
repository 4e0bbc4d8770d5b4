#include "millrace/devices/stablehlo/text/attributes.h"

#include <algorithm>
#include <array>

#include "millrace/devices/stablehlo/ir/float_format.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

using ir::Attribute;

// Brings the high bits of a signless literal (255 : i8) to the sign.
std::int64_t wrapped(std::int64_t value, DType type) {
  const int shift = 64 - bit_width(type);
  if (!is_signed_integer(type) || shift == 0) return value;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
}

// The bits of an integer literal as a value of the type; those of integers fill all 64.
bool read_bits(State& s, bool negative, const Token& digits, ir::Type type, std::uint64_t* out) {
  if (!s.in.magnitude(digits, negative, out)) return false;
  const DType dtype = type.dtype();
  if (is_floating(dtype)) {
    // Hex digits are the bits; a decimal integer is no float.
    return (digits.text.starts_with("0x") && !negative && fits(*out, dtype, false)) ||
           s.in.fail_at(digits.location, "an integer is no value of ", type);
  }
  if (type.kind() != ir::TypeKind::kIndex && !fits(*out, dtype, negative))
    return s.in.fail_at(digits.location, "the integer ", digits.text, " does not fit in ", type);
  const auto value = static_cast<std::int64_t>(negative ? 0 - *out : *out);
  return give(out, dtype == DType::kI1 ? value != 0 : wrapped(value, dtype));
}

bool read_number(State& s, Attribute* out) {
  const std::size_t begin = s.in.begin();
  const bool negative = s.in.accept('-');
  const Token digits = s.in.token();
  const bool is_float = digits.kind == TokenKind::kFloat;
  double value = 0;
  if (!(is_float ? s.in.number(&value) : s.in.expect(TokenKind::kInteger, "a number")))
    return false;
  const std::string_view text = text_since(s, begin);
  ir::Type type = s.module.types().scalar(is_float ? DType::kF64 : DType::kI64);
  if (s.in.accept(':') && !read_type(s, &type)) return false;
  if (type.kind() == ir::TypeKind::kOpaque)
    return give(out, make_opaque(s, ir::message(text, " : ", type)));
  const bool usable = type.kind() == ir::TypeKind::kIndex ||
                      (type.kind() == ir::TypeKind::kScalar && !is_complex(type.dtype()));
  if (!usable || (is_float && !is_floating(type.dtype()))) {
    return s.in.fail_at(digits.location, "a number is no value of ",
                        type.to_string().substr(0, 80));
  }
  std::uint64_t bits = 0;
  if (is_float) {
    bits = ir::encode_float(type.dtype(), negative ? -value : value);
  } else if (!read_bits(s, negative, digits, type, &bits)) {
    return false;
  }
  if (is_floating(type.dtype())) return s.make(out, ir::FloatAttr{{}, bits, type});
  if (type.dtype() == DType::kI1) return s.make(out, ir::BoolAttr{{}, bits != 0});
  return s.make(out, ir::IntegerAttr{{}, static_cast<std::int64_t>(bits), type});
}

bool read_symbol_path(State& s, Attribute* out) {
  std::vector<std::string_view> path;
  std::string name;
  do {
    if (!s.in.symbol(&name)) return false;
    path.push_back(s.module.intern(name));
  } while (s.in.accept(TokenKind::kColonColon));
  return s.make(out, ir::SymbolAttr{{}, s.keep(path)});
}

bool read_array(State& s, Attribute* out) {
  std::vector<Attribute> values;
  return s.in.list('[', ']', [&] { return read_attribute(s, &values.emplace_back()); }) &&
         s.make(out, ir::ArrayAttr{{}, s.keep(values)});
}

bool read_dict(State& s, Attribute* out) {
  std::vector<ir::NamedAttribute> values;
  return read_attribute_dict(s, &values) && s.make(out, ir::DictAttr{{}, s.module.sorted(values)});
}

// One number of array<T: ...>: its value, or the bits of a float.
bool read_typed_element(State& s, ir::Type type, std::uint64_t* out) {
  const DType dtype = type.dtype();
  bool flag = false;
  if (dtype == DType::kI1 && s.in.token().kind == TokenKind::kBareId) {
    return s.in.boolean(&flag) && give(out, flag);
  }
  double value = 0;
  if (is_floating(dtype) && !s.in.token().text.starts_with("0x")) {
    return s.in.number(&value) && give(out, ir::encode_float(dtype, value));
  }
  const bool negative = s.in.accept('-');
  const Token digits = s.in.token();
  return s.in.expect(TokenKind::kInteger, "an integer") &&
         read_bits(s, negative, digits, type, out);
}

// array<i64: 1, 2>
bool read_typed_array(State& s, Attribute* out) {
  DType element = DType::kInvalid;
  if (!s.in.advance() || !s.in.expect('<') || !read_dtype(s, "an integer or float type", &element))
    return false;
  const ir::Type type = s.module.types().scalar(element);
  std::vector<std::uint64_t> bits;
  const auto one = [&] { return read_typed_element(s, type, &bits.emplace_back()); };
  if (!s.in.accept('>') && !(s.in.expect(':') && s.in.commas(one) && s.in.expect('>')))
    return false;
  if (!is_floating(element))
    return give(out, make_ints(s, std::vector<std::int64_t>(bits.begin(), bits.end()), element));
  return s.make(out, ir::FloatArrayAttr{{}, element, s.keep(bits)});
}

// The text from `begin` to the cursor, with the type behind it if there is a ':'.
bool keep_text(State& s, std::size_t begin, Attribute* out) {
  std::string text(text_since(s, begin));
  ir::Type type;
  if (s.in.accept(':')) {
    if (!read_type(s, &type)) return false;
    text += " : " + type.to_string();
  }
  return give(out, make_opaque(s, text));
}

bool read_string(State& s, Attribute* out) {
  const std::size_t begin = s.in.begin();
  std::string value;
  if (!s.in.string(&value)) return false;
  return s.in.token().is(':') ? keep_text(s, begin, out) : give(out, make_string(s, value));
}

bool read_type_attribute(State& s, Attribute* out) {
  ir::Type type;
  return read_type(s, &type) && s.make(out, ir::TypeAttr{{}, type});
}

bool read_word(State& s, Attribute* out) {
  const std::string_view word = s.in.token().text;
  bool flag = false;
  if (word == "true" || word == "false")
    return s.in.boolean(&flag) && s.make(out, ir::BoolAttr{{}, flag});
  if (word == "dense") return read_dense(s, out);
  if (word == "dense_resource") return read_dense_resource(s, out);
  if (word == "array") return read_typed_array(s, out);
  if (word == "unit") return s.in.advance() && s.make(out, ir::UnitAttr{});
  if (begins_type(s.in.token())) return read_type_attribute(s, out);
  constexpr std::array<std::string_view, 7> kOpaqueWords{
      "affine_map", "affine_set", "sparse", "strided", "loc", "opaque", "distinct"};
  if (std::ranges::find(kOpaqueWords, word) == kOpaqueWords.end())
    return s.in.unexpected("an attribute");
  const std::size_t begin = s.in.begin();
  return s.in.advance() && s.in.skip_balanced() && keep_text(s, begin, out);
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
      return read_type_attribute(s, out);
    default:
      break;
  }
  if (t.is('-')) return read_number(s, out);
  if (t.is('[')) return read_array(s, out);
  if (t.is('{')) return read_dict(s, out);
  return t.is('(') ? read_type_attribute(s, out) : s.in.unexpected("an attribute");
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
    if (!(s.in.accept('=') ? read_attribute(s, &named.value)
                           : s.make(&named.value, ir::UnitAttr{})))
      return false;
    out->push_back(named);
    return true;
  });
}

bool read_optional_dict(State& s, std::vector<ir::NamedAttribute>* out) {
  return !s.in.token().is('{') || read_attribute_dict(s, out);
}

bool fits(std::uint64_t magnitude, DType type, bool negative) {
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bit_width(type));
  return negative ? !is_unsigned_integer(type) && magnitude <= (most >> 1) + 1 : magnitude <= most;
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
