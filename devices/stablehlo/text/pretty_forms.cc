// The short forms of most operations, as patterns and as the functions that no pattern replaces.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

using ir::Attribute;
using ir::EnumClass;
using Types = std::vector<ir::Type>;

// The values of attributes, by the names that patterns have for them.

template <DType type>
bool read_int(State& s, Attribute* out) {
  std::int64_t value = 0;
  return s.in.integer(&value) && give(out, make_int(s, value, type));
}

bool read_flag(State& s, Attribute* out) {
  bool value = false;
  return s.in.boolean(&value) && s.make(out, ir::BoolAttr{{}, value});
}

bool read_string(State& s, Attribute* out) {
  std::string value;
  return s.in.string(&value) && give(out, make_string(s, value));
}

// @name, as a string.
bool read_name(State& s, Attribute* out) {
  std::string value;
  return s.in.symbol(&value) && give(out, make_string(s, value));
}

bool read_symbol(State& s, Attribute* out) {
  std::string value;
  return s.in.symbol(&value) && give(out, make_symbol(s, value));
}

template <EnumClass E>
bool read_enum(State& s, Attribute* out) {
  return read_enum_word(s, E, out);
}

constexpr std::pair<std::string_view, ValueReader> kValues[] = {
    {"int", read_int<DType::kI64>},
    {"i32", read_int<DType::kI32>},
    {"ints", read_ints},
    {"flag", read_flag},
    {"string", read_string},
    {"name", read_name},
    {"symbol", read_symbol},
    {"precision", read_precision},
    {"direction", read_enum<EnumClass::kComparisonDirection>},
    {"comparison", read_enum<EnumClass::kComparisonType>},
    {"fft", read_enum<EnumClass::kFftType>},
    {"algorithm", read_enum<EnumClass::kRngAlgorithm>},
    {"distribution", read_enum<EnumClass::kRngDistribution>},
};

// What makes all types of some: `types` are those behind the ':', and become those of the operands;
// the results' are set.
using Completer = bool (*)(State&, Draft&, Types* types);

// One type for all operands and the result.
bool complete_same(State& s, Draft& d, Types* types) {
  if (types->size() != 1) return s.in.fail_at(d.location, "expected one type");
  d.result_types = *types;
  types->assign(d.operands.size(), d.result_types[0]);
  return true;
}

// tensor<2xcomplex<f32>>: the operands are the parts of the result.
bool complete_complex(State& s, Draft& d, Types* types) {
  const ir::Type type = types->front();
  if (types->size() != 1 || !type.is_tensor() || !is_complex(type.dtype()))
    return s.in.fail_at(d.location, "expected a tensor of complex elements");
  const ir::Type part = s.module.types().scalar(part_of(type.dtype()));
  d.result_types = *types;
  types->assign(d.operands.size(), s.module.types().tensor(type.dims(), part, type.bounds()));
  return true;
}

// P, T
bool complete_select(State& s, Draft& d, Types* types) {
  if (types->size() != 2)
    return s.in.fail_at(d.location, "expected the types of predicate and values");
  types->push_back(types->back());
  d.result_types.push_back(types->back());
  return true;
}

// tuple<T, U>
bool complete_tuple(State& s, Draft& d, Types* types) {
  d.result_types = *types;
  if (types->size() != 1 || types->front().kind() != ir::TypeKind::kTuple)
    return s.in.fail_at(d.location, "the type is no tuple");
  const auto members = d.result_types[0].members();
  types->assign(members.begin(), members.end());
  return true;
}

// T, U -> V and T -> (U, V); without an arrow all types are the same.
bool complete_arrow(State& s, Draft& d, Types* types) {
  if (s.in.accept(TokenKind::kArrow)) return read_result_types(s, &d.result_types);
  return types->size() == 1 ? complete_same(s, d, types) : s.in.unexpected("'->'");
}

constexpr std::pair<std::string_view, Completer> kTypes[] = {
    {"same", complete_same},   {"complex", complete_complex}, {"select", complete_select},
    {"tuple", complete_tuple}, {"arrow", complete_arrow},
};

// "{attributes} : signature", or types in short form.
bool read_short_tail(State& s, Draft& d, Completer complete) {
  if (!read_optional_dict(s, &d.attributes) || !s.in.expect(':')) return false;
  Types types;
  if (s.in.token().is('(')) {
    return read_function_type(s, &types, &d.result_types) && match_operand_types(s, d, types);
  }
  return read_types(s, &types) && complete(s, d, &types) && match_operand_types(s, d, types);
}

// One word of a pattern.
struct PatternWord {
  std::string_view word;
  ValueReader read = nullptr;    // the word is the name of an attribute with such a value
  Completer complete = nullptr;  // the last word: what the types are
};

constexpr auto named(const auto& table, std::string_view name) {
  return std::ranges::find(table, name, [](const auto& row) { return row.first; })->second;
}

constexpr PatternWord pattern_word(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) return {word};
  const std::string_view name = word.substr(colon + 1);
  if (colon == 0) return {.word = word, .complete = named(kTypes, name)};
  return {.word = word.substr(0, colon), .read = named(kValues, name)};
}

bool read_pattern(State& s, Draft& d, std::span<const PatternWord> words) {
  bool more = true;  // whether a comma is behind the operands of "*?"
  for (const auto& [word, read, complete] : words) {
    if (complete != nullptr) return read_short_tail(s, d, complete);
    if (!more) continue;
    if (read != nullptr) {
      if (!read_value(s, d, word, read)) return false;
    } else if (word[0] == '*') {
      if (!read_operands(s, &d.operands, word == "*" ? nullptr : &more)) return false;
      if (word == "*," && !more) return s.in.unexpected("','");
    } else if (!(word == "%"      ? read_operand(s, &d.operands)
                 : word[0] >= 'a' ? s.in.expect_word(word)
                                  : s.in.expect(word[0]))) {
      return false;
    }
  }
  return read_tail(s, d);
}

// A string as the argument of a template.
template <std::size_t N>
struct Pattern {
  char text[N] = {};
  constexpr Pattern(const char (&from)[N]) {  // NOLINT(google-explicit-constructor)
    std::ranges::copy(from, text);
  }
};

// Reads what a pattern says, one word after the other:
//   %            an operand
//   * *, *?      operands; with a comma behind them; if there is one, all up to the types
//   name:value   the value, by kValues, of the attribute of this name
//   :types       the end: attributes and types in short form, by kTypes; a signature where it is
//                not there
//   , ( ) [ ] =  these marks; any other word stands for itself
template <Pattern P>
bool form(State& s, Draft& d) {
  static constexpr auto kWords = [] {
    std::array<PatternWord, 1 + std::ranges::count(P.text, ' ')> words;
    std::string_view rest = P.text;
    for (PatternWord& word : words) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      word = pattern_word(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return words;
  }();
  return read_pattern(s, d, kWords);
}

// "dense<...> : T"; quantised constants are "() <{value = ...}> : () -> T".
bool read_constant(State& s, Draft& d) {
  if (s.in.accept('(')) {
    if (!s.in.expect(')')) return false;
    if (s.in.accept('<') && (!read_attribute_dict(s, &d.attributes) || !s.in.expect('>')))
      return false;
    return read_tail(s, d);
  }
  Attribute value;
  if (!read_optional_dict(s, &d.attributes) || !read_attribute(s, &value)) return false;
  add(s, d, "value", value);
  if (const auto* dense = value.as<ir::DenseAttr>()) {
    d.result_types.push_back(dense->type);
    return true;
  }
  return s.in.fail_at(d.location, "the value is no dense literal that can be stored; write \"",
                      d.name, "\"() {value = ...} : () -> T");
}

// e5m10
bool parse_format(std::string_view text, int* exponent, int* mantissa) {
  const char* const end = text.data() + text.size();
  if (!text.starts_with('e')) return false;
  const auto first = std::from_chars(text.data() + 1, end, *exponent);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'm') return false;
  const auto second = std::from_chars(first.ptr + 1, end, *mantissa);
  return second.ec == std::errc() && second.ptr == end && *exponent >= 0 && *mantissa >= 0;
}

// "%a, format = e5m10 : T"
bool read_reduce_precision(State& s, Draft& d) {
  bool comma = false;
  int exponent = 0;
  int mantissa = 0;
  if (!read_operands(s, &d.operands, &comma)) return false;
  if (!comma) return s.in.unexpected("','");
  if (!s.in.expect_field("format")) return false;
  const Token word = s.in.token();
  if (word.kind != TokenKind::kBareId || !parse_format(word.text, &exponent, &mantissa)) {
    return s.in.unexpected("a format such as e5m10");
  }
  add(s, d, "exponent_bits", make_int(s, exponent, DType::kI32));
  add(s, d, "mantissa_bits", make_int(s, mantissa, DType::kI32));
  return s.in.advance() && read_short_tail(s, d, complete_same);
}

// "%a, %b : T, U", the results like the operands; "()" for none of them.
bool read_barrier(State& s, Draft& d) {
  if (!read_optional_dict(s, &d.attributes)) return false;
  if (s.in.accept('(')) return s.in.expect(')');
  if (!read_operands(s, &d.operands) || !read_optional_dict(s, &d.attributes)) return false;
  if (d.operands.empty()) return true;
  return s.in.expect(':') && read_types(s, &d.result_types) &&
         match_operand_types(s, d, d.result_types);
}

}  // namespace

void add(State& s, Draft& draft, std::string_view name, Attribute value) {
  draft.attributes.push_back({s.module.intern(name), value});
}

bool read_value(State& s, Draft& draft, std::string_view name, ValueReader read) {
  Attribute value;
  if (!read(s, &value)) return false;
  add(s, draft, name, value);
  return true;
}

bool read_ints(State& s, Attribute* out) {
  std::vector<std::int64_t> values;
  return s.in.int_list(&values) && give(out, make_ints(s, values));
}

bool read_precision(State& s, Attribute* out) {
  std::vector<Attribute> values;
  return s.in.list('[', ']', [&] {
    const bool bare = s.in.token().kind == TokenKind::kBareId;
    Attribute& value = values.emplace_back();
    return bare ? read_enum_word(s, EnumClass::kPrecision, &value) : read_attribute(s, &value);
  }) && s.make(out, ir::ArrayAttr{{}, s.keep(values)});
}

bool read_tail(State& s, Draft& draft) {
  return read_optional_dict(s, &draft.attributes) && read_signature(s, draft);
}

PrettyReader pretty_reader(ir::OpKind kind) {
  static constexpr PrettyReader kReaders[] = {
      nullptr,
#define MILLRACE_OP_READER(kind, reader) reader,
#include "millrace/devices/stablehlo/ir/ops.inc"
  };
  return kReaders[static_cast<std::size_t>(kind)];
}

}  // namespace millrace::devices::stablehlo::text
