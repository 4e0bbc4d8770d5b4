#include "millrace/devices/stablehlo/text/types.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace millrace::devices::stablehlo::text {
namespace {

using ir::Type;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The plain element type that a word of the text names, kInvalid for others.
DType dtype_of_word(std::string_view word) {
  // The common ones first; the table is searched for the rest.
  if (word == "f32") return DType::kF32;
  if (word == "i64") return DType::kI64;
  if (word == "i1") return DType::kI1;
  if (word.empty() ||
      (word[0] != 'f' && word[0] != 'i' && word[0] != 'u' && word[0] != 'b' && word[0] != 't')) {
    return DType::kInvalid;
  }
  return dtype_from_string(word).value_or(DType::kInvalid);
}

// An integer or float type that no DType stands for: si32, i3, i128, f80. It stays opaque.
bool is_other_number(std::string_view word) {
  if (word == "f80" || word == "f128") return true;
  if (word.starts_with("si") || word.starts_with("ui")) {
    word.remove_prefix(2);
  } else if (word.starts_with("i")) {
    word.remove_prefix(1);
  } else {
    return false;
  }
  // MLIR's widest integer has 2^24 - 1 bits.
  return !word.empty() && word.size() <= 8 && std::ranges::all_of(word, is_digit);
}

// Dimensions are scanned by characters: to the lexer 2x0x3xf32 is something else. The cursor is at
// '<' and then at the element type.
bool read_dims(State& s, std::vector<std::int64_t>* dims, bool* unranked) {
  const std::string_view text = s.in.text();
  std::size_t at = s.in.end();
  const auto blanks = [&] {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')) ++at;
  };
  blanks();
  *unranked = text.substr(at, 2) == "*x";
  if (*unranked) at += 2;
  while (!*unranked && at < text.size() && (is_digit(text[at]) || text[at] == '?')) {
    if (text[at] == '?') {
      dims->push_back(ir::kDynamic);
      ++at;
    } else {
      std::int64_t dim = 0;
      const auto [end, code] = std::from_chars(text.data() + at, text.data() + text.size(), dim);
      if (code != std::errc()) return s.in.fail("a dimension that does not fit in 64 bits");
      dims->push_back(dim);
      at = static_cast<std::size_t>(end - text.data());
    }
    blanks();
    if (at >= text.size() || text[at] != 'x')
      return s.in.fail("a dimension without the 'x' behind it");
    ++at;
    blanks();
  }
  s.in.seek(at);
  return true;
}

// The rest of tensor< or memref<: an optional layout or encoding, and '>'.
bool read_encoding(State& s, std::vector<std::int64_t>* bounds, std::string_view* encoding) {
  if (!s.in.accept(',')) return s.in.expect('>');
  const std::string_view text = s.in.token().text;
  if (text == "#stablehlo.bounds" || text == "#mhlo.bounds" || text == "#stablehlo.type_extensions")
    return s.in.advance() && read_bounds(s, bounds) && s.in.expect('>');
  const std::size_t begin = s.in.begin();
  if (s.in.token().is('>')) return s.in.unexpected("what the comma announces");
  while (!s.in.token().is('>')) {
    const Token& now = s.in.token();
    if (now.is('<') || now.is('(') || now.is('[') || now.is('{')) {
      if (!s.in.skip_balanced()) return false;
    } else if (now.kind == TokenKind::kEnd || now.kind == TokenKind::kError) {
      return s.in.unexpected("'>' at the end of a type");
    } else {
      s.in.advance();
    }
  }
  return give(encoding, text_since(s, begin)) && s.in.advance();
}

bool read_shaped(State& s, bool memref, Type* out) {
  if (!s.in.token().is('<')) return s.in.unexpected("'<'");
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> bounds;
  std::string_view encoding;
  bool unranked = false;
  Type element;
  const ir::Location where = s.in.location();
  if (!read_dims(s, &dims, &unranked) || !read_type(s, &element)) return false;
  using enum ir::TypeKind;
  if (const auto kind = element.kind();
      kind != kScalar && kind != kIndex && kind != kQuant && kind != kOpaque) {
    return s.in.fail_at(where, "an array of elements of type ", element.to_string().substr(0, 80));
  }
  if (!read_encoding(s, &bounds, &encoding)) return false;
  if (!bounds.empty() && bounds.size() != dims.size()) {
    return s.in.fail_at(where, "found ", bounds.size(), " bounds, expected one for each of the ",
                        dims.size(), " dimensions");
  }
  ir::TypeTable& types = s.module.types();
  return give(out, unranked ? types.unranked(element)
                   : memref ? types.memref(dims, element, encoding)
                            : types.tensor(dims, element, bounds, encoding));
}

bool read_complex(State& s, Type* out) {
  Type element;
  if (!s.in.expect('<') || !read_type(s, &element) || !s.in.expect('>')) return false;
  ir::TypeTable& types = s.module.types();
  return give(out, element == types.scalar(DType::kF32) ? types.scalar(DType::kC64)
                   : element == types.scalar(DType::kF64)
                       ? types.scalar(DType::kC128)
                       : types.opaque("complex<" + element.to_string() + ">"));
}

bool read_member_types(State& s, std::vector<Type>* out) {
  return s.in.list('<', '>', [&] { return read_type(s, &out->emplace_back()); });
}

// The storage type of quantised elements: u8, i8, si8.
DType storage_of_word(std::string_view word) {
  if (word.starts_with('u')) return dtype_of_word("ui" + std::string(word.substr(1)));
  if (word.starts_with("si")) return dtype_of_word(word.substr(1));
  return dtype_of_word(word);
}

bool read_word_dtype(State& s, std::string_view what, DType (*parse)(std::string_view),
                     DType* out) {
  *out = s.in.token().kind == TokenKind::kBareId ? parse(s.in.token().text) : DType::kInvalid;
  return *out != DType::kInvalid ? s.in.advance() : s.in.unexpected(what);
}

// !quant.uniform is stepped over already.
bool read_quant(State& s, Type* out) {
  ir::QuantParameters q;
  std::vector<double> scales;
  std::vector<std::int64_t> zero_points;
  if (!s.in.expect('<') || !read_word_dtype(s, "a storage type", storage_of_word, &q.storage))
    return false;
  const int bits = bit_width(q.storage);
  if (bits > 32 || is_floating(q.storage))
    return s.in.fail("a storage type is an integer of 32 bits at most");
  const bool is_unsigned = is_unsigned_integer(q.storage);
  q.storage_min = is_unsigned ? 0 : -(std::int64_t{1} << (bits - 1));
  q.storage_max = (std::int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
  if (s.in.accept('<')) {
    if (!s.in.integer(&q.storage_min) || !s.in.expect(':') || !s.in.integer(&q.storage_max) ||
        !s.in.expect('>')) {
      return false;
    }
  }
  if (!s.in.expect(':') || !read_dtype(s, "an expressed type", &q.expressed)) return false;
  if (s.in.accept(':')) {
    if (s.in.token().is('{'))
      return s.in.fail("StableHLO has scales of a whole tensor or along one axis, not of blocks");
    std::int64_t axis = 0;
    if (!s.in.integer(&axis)) return false;
    if (axis < 0 || axis > std::numeric_limits<int>::max())
      return s.in.fail("a quantised axis out of range");
    q.axis = static_cast<int>(axis);
  }
  if (!s.in.expect(',')) return false;
  const bool braces = s.in.accept('{');
  if (braces != (q.axis >= 0))
    return s.in.unexpected(q.axis >= 0 ? "'{'" : "one scale, as there is no axis");
  const bool good = s.in.commas([&] {
    zero_points.push_back(0);
    return s.in.number(&scales.emplace_back()) &&
           (!s.in.accept(':') || s.in.integer(&zero_points.back()));
  });
  q.scales = scales;
  q.zero_points = zero_points;
  return good && (!braces || s.in.expect('}')) && s.in.expect('>') &&
         give(out, s.module.types().quant(q));
}

bool read_dialect_type(State& s, Type* out) {
  const std::string_view name = s.in.token().name();
  const std::size_t begin = s.in.begin();
  if (const auto alias = s.type_aliases.find(name); alias != s.type_aliases.end()) {
    return s.use_alias(alias->second, out);
  }
  if (name.find('.') == std::string_view::npos &&
      !s.in.text().substr(s.in.end()).starts_with('<')) {
    return s.in.unexpected("a type; this alias is not defined before its use");
  }
  s.in.advance();
  ir::TypeTable& types = s.module.types();
  std::vector<Type> members;
  if (name == "stablehlo.token" || name == "mhlo.token") return give(out, types.token());
  if (name == "stablehlo.future")
    return read_member_types(s, &members) && give(out, types.future(members));
  if (name == "quant.uniform") return read_quant(s, out);
  if (s.in.token().is('<') && !s.in.skip_balanced()) return false;
  return give(out, types.opaque(text_since(s, begin)));
}

bool read_word_type(State& s, Type* out) {
  const std::string_view word = s.in.token().text;
  const std::size_t begin = s.in.begin();
  ir::TypeTable& types = s.module.types();
  std::vector<Type> members;
  if (const DType dtype = dtype_of_word(word); dtype != DType::kInvalid)
    return s.in.advance() && give(out, types.scalar(dtype));
  if (!begins_type(s.in.token())) return s.in.unexpected("a type");
  s.in.advance();
  if (word == "tensor" || word == "memref") return read_shaped(s, word == "memref", out);
  if (word == "complex") return read_complex(s, out);
  if (word == "tuple") return read_member_types(s, &members) && give(out, types.tuple(members));
  if (word == "vector")
    return s.in.skip_balanced('<') && give(out, types.opaque(text_since(s, begin)));
  if (word == "index") return give(out, types.index());
  return give(out, word == "none" ? types.none() : types.opaque(word));
}

}  // namespace

std::string_view text_since(const State& s, std::size_t begin) {
  // Nothing may have been read since.
  return s.in.text().substr(begin, std::max(s.in.previous_end(), begin) - begin);
}

bool begins_type(const Token& token) {
  if (token.kind == TokenKind::kTypeId || token.is('(')) return true;
  if (token.kind != TokenKind::kBareId) return false;
  const std::string_view w = token.text;
  return w == "tensor" || w == "memref" || w == "tuple" || w == "complex" || w == "index" ||
         w == "none" || w == "vector" || dtype_of_word(w) != DType::kInvalid || is_other_number(w);
}

bool read_bounds(State& s, std::vector<std::int64_t>* out) {
  const auto bound = [&] {
    out->push_back(ir::kDynamic);
    return s.in.accept('?') || s.in.integer(&out->back());
  };
  if (!s.in.expect('<')) return false;
  if (s.in.accept_word("bounds"))
    return s.in.expect('=') && s.in.list('[', ']', bound) && s.in.expect('>');
  return s.in.accept('>') || (s.in.commas(bound) && s.in.expect('>'));
}

bool read_dtype(State& s, std::string_view what, DType* out) {
  return read_word_dtype(s, what, dtype_of_word, out);
}

bool read_type(State& s, Type* out) {
  Nesting nesting(s.in);
  if (!nesting) return false;
  const Token& t = s.in.token();
  if (t.kind == TokenKind::kBareId) return read_word_type(s, out);
  if (t.kind == TokenKind::kTypeId) return read_dialect_type(s, out);
  if (t.is('(')) {
    std::vector<Type> inputs;
    std::vector<Type> results;
    return read_function_type(s, &inputs, &results) &&
           give(out, s.module.types().function(inputs, results));
  }
  return s.in.unexpected("a type");
}

bool read_types(State& s, std::vector<Type>* out) {
  return s.in.commas([&] { return read_type(s, &out->emplace_back()); });
}

bool read_type_tuple(State& s, std::vector<Type>* out) {
  return s.in.list('(', ')', [&] { return read_type(s, &out->emplace_back()); });
}

bool read_result_types(State& s, std::vector<Type>* out) {
  return s.in.token().is('(') ? read_type_tuple(s, out) : read_type(s, &out->emplace_back());
}

bool read_function_type(State& s, std::vector<Type>* inputs, std::vector<Type>* results) {
  return read_type_tuple(s, inputs) && s.in.expect(TokenKind::kArrow, "'->'") &&
         read_result_types(s, results);
}

}  // namespace millrace::devices::stablehlo::text
