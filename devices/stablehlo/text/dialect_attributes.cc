// Attributes of the StableHLO dialect: dimension numbers, enums and the smaller records.
#include <array>
#include <string>
#include <utility>

#include "millrace/devices/stablehlo/ir/records.h"
#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

using ir::Attribute;
using Values = std::vector<std::int64_t>;

bool read_value(State& s, ir::Ints* out) {
  Values values;
  return s.in.int_list(&values) && give(out, s.keep(values));
}
bool read_value(State& s, std::int64_t* out) { return s.in.integer(out); }
bool read_value(State& s, bool* out) { return s.in.boolean(out); }
bool read_value(State& s, double* out) {
  ir::Type type;
  return s.in.number(out) && (!s.in.accept(':') || read_type(s, &type));
}
bool read_value(State& s, DType* out) { return read_dtype(s, "an element type", out); }
bool read_value(State& s, ir::AccuracyMode* out) {
  Attribute mode;
  if (!read_attribute(s, &mode)) return false;
  const auto* e = mode.as<ir::EnumAttr>();
  if (e == nullptr || e->enum_class != ir::EnumClass::kAccuracyMode)
    return s.in.fail("a mode that is no result_accuracy_mode");
  return give(out, static_cast<ir::AccuracyMode>(e->value));
}

// name = value, ...: fields of the record in any order, each at most once.
template <class R>
bool read_fields(State& s, R* record) {
  std::array<bool, std::size(ir::kRecordFields<R>)> seen{};
  return s.in.commas([&] {
    const Token word = s.in.token();
    std::size_t i = 0;
    while (i < seen.size() && !word.is_id(ir::kRecordFields<R>[i].name)) ++i;
    if (i == seen.size()) {
      std::string names;
      for (const auto& f : ir::kRecordFields<R>)
        names += (names.empty() ? "" : ", ") + std::string(f.name);
      return s.in.unexpected("one of " + names);
    }
    if (seen[i]) return s.in.fail("the field ", word.text, " for the second time");
    seen[i] = true;
    const auto read = [&](auto member) { return read_value(s, &(record->*member)); };
    return s.in.advance() && s.in.expect('=') && std::visit(read, ir::kRecordFields<R>[i].member);
  });
}

// <name = value, ...>
template <class R>
bool read_record(State& s, Attribute* out) {
  R record;
  return s.in.expect('<') && (s.in.accept('>') || (read_fields(s, &record) && s.in.expect('>'))) &&
         s.make(out, record);
}

// [b, 0, 1, f]: position of each letter, and of the spatial dimensions by their number.
bool read_conv_side(State& s, std::string_view letters, std::int64_t* first, std::int64_t* second,
                    ir::Ints* spatial) {
  std::vector<std::pair<std::int64_t, std::int64_t>> numbered;
  std::int64_t position = 0;
  *first = *second = -1;
  if (!s.in.expect('[')) return false;
  const ir::Location where = s.in.location();
  const bool good = s.in.commas([&] {
    const Token word = s.in.token();
    const std::int64_t here = position++;
    if (word.kind == TokenKind::kBareId && word.text.size() == 1 &&
        letters.find(word.text[0]) != letters.npos) {
      std::int64_t* place = word.text[0] == letters[0] ? first : second;
      if (*place >= 0) return s.in.fail("the dimension ", word.text, " for the second time");
      return give(place, here) && s.in.advance();
    }
    return s.in.accept('?') || s.in.integer(&numbered.emplace_back(0, here).first);
  });
  if (!good || !s.in.expect(']')) return false;
  if (*first < 0 || *second < 0) {
    return s.in.fail_at(where, "dimension numbers without ", letters.substr(0, 1), " or ",
                        letters.substr(1));
  }
  Values places(numbered.size(), -1);
  for (auto [number, place] : numbered) {
    if (number < 0 || static_cast<std::size_t>(number) >= places.size() ||
        places[static_cast<std::size_t>(number)] >= 0) {
      return s.in.fail_at(where, "spatial dimensions that are not 0, 1, ... each once");
    }
    places[static_cast<std::size_t>(number)] = place;
  }
  return give(spatial, s.keep(places));
}

bool read_bounds_attribute(State& s, Attribute* out) {
  Values bounds;
  return read_bounds(s, &bounds) && s.make(out, ir::BoundsAttr{{}, s.keep(bounds)});
}

bool read_conv(State& s, Attribute* out) {
  if (!s.in.expect('<')) return false;
  if (!s.in.accept_word("raw")) return read_conv_dims(s, out) && s.in.expect('>');
  ir::ConvDimsAttr dims;
  return read_fields(s, &dims) && s.make(out, dims) && s.in.expect('>');
}

// The text of an attribute of a dialect that is not ours.
bool keep_opaque(State& s, std::size_t begin, Attribute* out) {
  if (s.in.token().is('<') && !s.in.skip_balanced()) return false;
  return give(out, make_opaque(s, text_since(s, begin)));
}

// stablehlo.precision<HIGH> and stablehlo<precision HIGH>, the name being stepped over already.
bool read_stablehlo(State& s, std::string_view mnemonic, std::size_t begin, Attribute* out) {
  using Reader = bool (*)(State&, Attribute*);
  constexpr std::pair<std::string_view, Reader> kReaders[] = {
      {"dot", read_record<ir::DotDimsAttr>},
      {"conv", read_conv},
      {"gather", read_record<ir::GatherDimsAttr>},
      {"scatter", read_record<ir::ScatterDimsAttr>},
      {"channel_handle", read_record<ir::ChannelHandleAttr>},
      {"output_operand_alias", read_record<ir::OutputAliasAttr>},
      {"result_accuracy", read_record<ir::ResultAccuracyAttr>},
      {"dot_algorithm", read_record<ir::DotAlgorithmAttr>},
      {"bounds", read_bounds_attribute},
      {"type_extensions", read_bounds_attribute},
  };
  for (const auto& [name, read] : kReaders) {
    if (name == mnemonic) return read(s, out);
  }
  if (const auto enum_class = ir::enum_class_from_string(mnemonic)) {
    return s.in.expect('<') && read_enum_word(s, *enum_class, out) && s.in.expect('>');
  }
  return keep_opaque(s, begin, out);
}

// The word right behind the '<' at the cursor.
std::string_view peek_word(const State& s) {
  const std::string_view rest = s.in.text().substr(s.in.end());
  return rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
}

// #stablehlo<mnemonic ...>, the cursor at '<': enums have a bare word, records their own brackets.
bool read_in_brackets(State& s, std::size_t begin, Attribute* out) {
  const std::string_view word = peek_word(s);
  const std::size_t behind = s.in.end() + word.size();
  const bool record = s.in.text().substr(behind).starts_with('<');
  const auto enum_class = ir::enum_class_from_string(word);
  if (!record && !enum_class) return keep_opaque(s, begin, out);
  s.in.advance();
  s.in.advance();
  if (record) return read_stablehlo(s, word, begin, out) && s.in.expect('>');
  return read_enum_word(s, *enum_class, out) && s.in.expect('>');
}

}  // namespace

bool read_enum_word(State& s, ir::EnumClass enum_class, Attribute* out) {
  const Token word = s.in.token();
  const auto value = word.kind == TokenKind::kBareId
                         ? ir::enum_value_from_string(enum_class, word.text)
                         : std::nullopt;
  if (!value) return s.in.unexpected("a value of " + std::string(ir::enum_class_name(enum_class)));
  return s.in.advance() &&
         s.make(out, ir::EnumAttr{{}, enum_class, static_cast<std::uint8_t>(*value)});
}

bool read_conv_dims(State& s, Attribute* out) {
  ir::ConvDimsAttr dims;
  // x[0 lexes as the word x and a bracket.
  return read_conv_side(s, "bf", &dims.input_batch, &dims.input_feature, &dims.input_spatial) &&
         s.in.expect_word("x") &&
         read_conv_side(s, "io", &dims.kernel_input_feature, &dims.kernel_output_feature,
                        &dims.kernel_spatial) &&
         s.in.expect(TokenKind::kArrow, "'->'") &&
         read_conv_side(s, "bf", &dims.output_batch, &dims.output_feature, &dims.output_spatial) &&
         s.make(out, dims);
}

bool read_dot_algorithm(State& s, Attribute* out) {
  return read_record<ir::DotAlgorithmAttr>(s, out);
}

bool read_dialect_attribute(State& s, Attribute* out) {
  const std::size_t begin = s.in.begin();
  const std::string_view name = s.in.token().name();
  if (const auto alias = s.attribute_aliases.find(name); alias != s.attribute_aliases.end()) {
    return s.use_alias(alias->second, out);
  }
  const std::size_t dot = name.find('.');
  const bool has_body = s.in.text().substr(s.in.end()).starts_with('<');
  if (dot == std::string_view::npos && !has_body) {
    return s.in.unexpected("an attribute; this alias is not defined before its use");
  }
  s.in.advance();
  const std::string_view dialect = name.substr(0, dot);
  // chlo has comparisons of its own, with the same words.
  const bool compares = dialect == "chlo" && has_body && peek_word(s).starts_with("comparison_");
  if (dialect != "stablehlo" && dialect != "mhlo" && !compares) return keep_opaque(s, begin, out);
  if (dot != std::string_view::npos) return read_stablehlo(s, name.substr(dot + 1), begin, out);
  return read_in_brackets(s, begin, out);
}

}  // namespace millrace::devices::stablehlo::text
