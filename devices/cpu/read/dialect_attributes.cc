// Attributes of the StableHLO dialect: dimension numbers, enums and the smaller records.
#include <functional>
#include <string>

#include "millrace/devices/cpu/read/attributes.h"
#include "millrace/devices/cpu/read/types.h"

namespace millrace::devices::cpu::read {
namespace {

using ir::Attribute;
using Values = std::vector<std::int64_t>;

// One field of <name = value, ...>; value() reads it.
struct Field {
  std::string_view name;
  std::function<bool()> value;
};

// The fields in any order, each at most once, between < and >.
bool read_fields(State& s, std::span<const Field> fields) {
  if (!s.in.expect('<')) return false;
  if (s.in.accept('>')) return true;
  std::vector<bool> seen(fields.size());
  do {
    const Token word = s.in.token();
    std::size_t i = 0;
    while (i < fields.size() && !(word.kind == TokenKind::kBareId && word.text == fields[i].name))
      ++i;
    if (i == fields.size()) {
      std::string names;
      for (const Field& f : fields) names += (names.empty() ? "" : ", ") + std::string(f.name);
      return s.in.unexpected("one of " + names);
    }
    if (seen[i]) return s.in.fail("the field " + std::string(word.text) + " for the second time");
    seen[i] = true;
    s.in.advance();
    if (!s.in.expect('=') || !fields[i].value()) return false;
  } while (s.in.accept(','));
  return s.in.expect('>');
}

Field ints(State& s, std::string_view name, Values* out) {
  return {name, [&s, out] { return s.in.int_list(out); }};
}
Field integer(State& s, std::string_view name, std::int64_t* out) {
  return {name, [&s, out] { return s.in.integer(out); }};
}
Field number(State& s, std::string_view name, double* out) {
  return {name, [&s, out] {
            if (!s.in.number(out)) return false;
            ir::Type type;
            return !s.in.accept(':') || read_type(s, &type);
          }};
}
Field boolean(State& s, std::string_view name, bool* out) {
  return {name, [&s, out] { return s.in.boolean(out); }};
}
Field dtype(State& s, std::string_view name, DType* out) {
  return {name, [&s, out] {
            *out = s.in.token().kind == TokenKind::kBareId ? dtype_of_word(s.in.token().text)
                                                           : DType::kInvalid;
            if (*out == DType::kInvalid) return s.in.unexpected("an element type");
            s.in.advance();
            return true;
          }};
}

ir::Ints keep(State& s, const Values& values) {
  return s.module.copy(std::span<const std::int64_t>(values));
}

bool read_dot(State& s, Attribute* out) {
  Values lhs_batching;
  Values rhs_batching;
  Values lhs_contracting;
  Values rhs_contracting;
  const Field fields[] = {ints(s, "lhs_batching_dimensions", &lhs_batching),
                          ints(s, "rhs_batching_dimensions", &rhs_batching),
                          ints(s, "lhs_contracting_dimensions", &lhs_contracting),
                          ints(s, "rhs_contracting_dimensions", &rhs_contracting)};
  if (!read_fields(s, fields)) return false;
  *out = s.module.attribute(ir::DotDimsAttr{{},
                                            keep(s, lhs_batching),
                                            keep(s, rhs_batching),
                                            keep(s, lhs_contracting),
                                            keep(s, rhs_contracting)});
  return true;
}

bool read_gather(State& s, Attribute* out) {
  Values v[5];
  ir::GatherDimsAttr dims;
  const Field fields[] = {ints(s, "offset_dims", &v[0]),
                          ints(s, "collapsed_slice_dims", &v[1]),
                          ints(s, "operand_batching_dims", &v[2]),
                          ints(s, "start_indices_batching_dims", &v[3]),
                          ints(s, "start_index_map", &v[4]),
                          integer(s, "index_vector_dim", &dims.index_vector_dim)};
  if (!read_fields(s, fields)) return false;
  dims.offset_dims = keep(s, v[0]);
  dims.collapsed_slice_dims = keep(s, v[1]);
  dims.operand_batching_dims = keep(s, v[2]);
  dims.start_indices_batching_dims = keep(s, v[3]);
  dims.start_index_map = keep(s, v[4]);
  *out = s.module.attribute(dims);
  return true;
}

bool read_scatter(State& s, Attribute* out) {
  Values v[5];
  ir::ScatterDimsAttr dims;
  const Field fields[] = {ints(s, "update_window_dims", &v[0]),
                          ints(s, "inserted_window_dims", &v[1]),
                          ints(s, "input_batching_dims", &v[2]),
                          ints(s, "scatter_indices_batching_dims", &v[3]),
                          ints(s, "scatter_dims_to_operand_dims", &v[4]),
                          integer(s, "index_vector_dim", &dims.index_vector_dim)};
  if (!read_fields(s, fields)) return false;
  dims.update_window_dims = keep(s, v[0]);
  dims.inserted_window_dims = keep(s, v[1]);
  dims.input_batching_dims = keep(s, v[2]);
  dims.scatter_indices_batching_dims = keep(s, v[3]);
  dims.scatter_dims_to_operand_dims = keep(s, v[4]);
  *out = s.module.attribute(dims);
  return true;
}

// #stablehlo.conv<raw input_batch_dimension = 0, ...>: no '<' is left at the cursor's place, so the
// fields are read here one by one.
bool read_raw_conv(State& s, Attribute* out) {
  ir::ConvDimsAttr dims;
  Values spatial[3];
  const Field fields[] = {
      integer(s, "input_batch_dimension", &dims.input_batch),
      integer(s, "input_feature_dimension", &dims.input_feature),
      ints(s, "input_spatial_dimensions", &spatial[0]),
      integer(s, "kernel_input_feature_dimension", &dims.kernel_input_feature),
      integer(s, "kernel_output_feature_dimension", &dims.kernel_output_feature),
      ints(s, "kernel_spatial_dimensions", &spatial[1]),
      integer(s, "output_batch_dimension", &dims.output_batch),
      integer(s, "output_feature_dimension", &dims.output_feature),
      ints(s, "output_spatial_dimensions", &spatial[2])};
  do {
    const Token word = s.in.token();
    const Field* field = nullptr;
    for (const Field& f : fields) {
      if (word.is_id(f.name)) field = &f;
    }
    if (field == nullptr) return s.in.unexpected("a dimension of a convolution");
    s.in.advance();
    if (!s.in.expect('=') || !field->value()) return false;
  } while (s.in.accept(','));
  dims.input_spatial = keep(s, spatial[0]);
  dims.kernel_spatial = keep(s, spatial[1]);
  dims.output_spatial = keep(s, spatial[2]);
  *out = s.module.attribute(dims);
  return true;
}

// [b, 0, 1, f]: position of each letter, and of the spatial dimensions by their number.
bool read_conv_side(State& s, std::string_view letters, std::int64_t* first, std::int64_t* second,
                    Values* spatial) {
  if (!s.in.expect('[')) return false;
  const ir::Location where = s.in.location();
  std::vector<std::pair<std::int64_t, std::int64_t>> numbered;
  std::int64_t position = 0;
  *first = *second = -1;
  do {
    const Token word = s.in.token();
    if (word.kind == TokenKind::kBareId && word.text.size() == 1 &&
        letters.find(word.text[0]) != letters.npos) {
      std::int64_t* place = word.text[0] == letters[0] ? first : second;
      if (*place >= 0)
        return s.in.fail("the dimension " + std::string(word.text) + " for the second time");
      *place = position;
      s.in.advance();
    } else if (word.is('?')) {
      s.in.advance();
    } else {
      std::int64_t number = 0;
      if (!s.in.integer(&number)) return false;
      numbered.emplace_back(number, position);
    }
    ++position;
  } while (s.in.accept(','));
  if (!s.in.expect(']')) return false;
  if (*first < 0 || *second < 0) {
    return s.in.fail_at(
        where, std::string("dimension numbers without ") + letters[0] + " or " + letters[1]);
  }
  spatial->assign(numbered.size(), -1);
  for (auto [number, place] : numbered) {
    if (number < 0 || static_cast<std::size_t>(number) >= spatial->size() ||
        (*spatial)[static_cast<std::size_t>(number)] >= 0) {
      return s.in.fail_at(where, "spatial dimensions that are not 0, 1, ... each once");
    }
    (*spatial)[static_cast<std::size_t>(number)] = place;
  }
  return true;
}

bool read_channel_handle(State& s, Attribute* out) {
  ir::ChannelHandleAttr handle;
  const Field fields[] = {integer(s, "handle", &handle.handle), integer(s, "type", &handle.type)};
  if (!read_fields(s, fields)) return false;
  *out = s.module.attribute(handle);
  return true;
}

bool read_output_alias(State& s, Attribute* out) {
  ir::OutputAliasAttr alias;
  Values output;
  Values operand;
  const Field fields[] = {ints(s, "output_tuple_indices", &output),
                          ints(s, "operand_tuple_indices", &operand),
                          integer(s, "operand_index", &alias.operand_index)};
  if (!read_fields(s, fields)) return false;
  alias.output_tuple_indices = keep(s, output);
  alias.operand_tuple_indices = keep(s, operand);
  *out = s.module.attribute(alias);
  return true;
}

bool read_accuracy(State& s, Attribute* out) {
  ir::ResultAccuracyAttr accuracy;
  const Field fields[] = {number(s, "atol", &accuracy.atol),
                          number(s, "rtol", &accuracy.rtol),
                          integer(s, "ulps", &accuracy.ulps),
                          {"mode", [&] {
                             Attribute mode;
                             if (!read_attribute(s, &mode)) return false;
                             const auto* e = mode.as<ir::EnumAttr>();
                             if (e == nullptr || e->enum_class != ir::EnumClass::kAccuracyMode) {
                               return s.in.fail("a mode that is no result_accuracy_mode");
                             }
                             accuracy.mode = static_cast<ir::AccuracyMode>(e->value);
                             return true;
                           }}};
  if (!read_fields(s, fields)) return false;
  *out = s.module.attribute(accuracy);
  return true;
}

bool read_bounds_attribute(State& s, Attribute* out) {
  Values bounds;
  if (!s.in.expect('<')) return false;
  if (s.in.accept_word("bounds")) {
    if (!s.in.expect('=') || !s.in.expect('[') || !read_bounds(s, ']', &bounds) ||
        !s.in.expect('>'))
      return false;
  } else if (!read_bounds(s, '>', &bounds)) {
    return false;
  }
  *out = s.module.attribute(ir::BoundsAttr{{}, keep(s, bounds)});
  return true;
}

bool read_conv(State& s, Attribute* out) {
  if (!s.in.expect('<')) return false;
  if (s.in.accept_word("raw")) return read_raw_conv(s, out) && s.in.expect('>');
  return read_conv_dims(s, out) && s.in.expect('>');
}

// The text of an attribute of a dialect that is not ours.
bool keep_opaque(State& s, std::size_t begin, Attribute* out) {
  if (s.in.token().is('<') && !s.in.skip_balanced()) return false;
  *out = s.module.attribute(ir::OpaqueAttr{{}, s.module.intern(text_since(s, begin))});
  return true;
}

// stablehlo.precision<HIGH> and stablehlo<precision HIGH>, the name being stepped over already.
bool read_stablehlo(State& s, std::string_view mnemonic, std::size_t begin, Attribute* out) {
  if (mnemonic == "dot") return read_dot(s, out);
  if (mnemonic == "conv") return read_conv(s, out);
  if (mnemonic == "gather") return read_gather(s, out);
  if (mnemonic == "scatter") return read_scatter(s, out);
  if (mnemonic == "channel_handle") return read_channel_handle(s, out);
  if (mnemonic == "output_operand_alias") return read_output_alias(s, out);
  if (mnemonic == "result_accuracy") return read_accuracy(s, out);
  if (mnemonic == "dot_algorithm") return read_dot_algorithm(s, out);
  if (mnemonic == "bounds" || mnemonic == "type_extensions") return read_bounds_attribute(s, out);
  if (const auto enum_class = ir::enum_class_from_string(mnemonic)) {
    return s.in.expect('<') && read_enum_word(s, *enum_class, out) && s.in.expect('>');
  }
  return keep_opaque(s, begin, out);
}

// The word right behind the '<' at the cursor.
std::string_view peek_word(const State& s) {
  const std::string_view rest = s.in.text().substr(s.in.end());
  std::size_t size = 0;
  while (size < rest.size() && ((rest[size] >= 'a' && rest[size] <= 'z') || rest[size] == '_'))
    ++size;
  return rest.substr(0, size);
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
  s.in.advance();
  *out = s.module.attribute(ir::EnumAttr{{}, enum_class, static_cast<std::uint8_t>(*value)});
  return true;
}

bool read_conv_dims(State& s, Attribute* out) {
  ir::ConvDimsAttr dims;
  Values spatial[3];
  if (!read_conv_side(s, "bf", &dims.input_batch, &dims.input_feature, &spatial[0])) return false;
  // x[0 lexes as the word x and a bracket.
  if (!s.in.expect_word("x") ||
      !read_conv_side(s, "io", &dims.kernel_input_feature, &dims.kernel_output_feature,
                      &spatial[1]) ||
      !s.in.expect(TokenKind::kArrow, "'->'") ||
      !read_conv_side(s, "bf", &dims.output_batch, &dims.output_feature, &spatial[2])) {
    return false;
  }
  dims.input_spatial = keep(s, spatial[0]);
  dims.kernel_spatial = keep(s, spatial[1]);
  dims.output_spatial = keep(s, spatial[2]);
  *out = s.module.attribute(dims);
  return true;
}

bool read_dot_algorithm(State& s, Attribute* out) {
  ir::DotAlgorithmAttr a;
  const Field fields[] = {
      dtype(s, "lhs_precision_type", &a.lhs_precision),
      dtype(s, "rhs_precision_type", &a.rhs_precision),
      dtype(s, "accumulation_type", &a.accumulation),
      integer(s, "lhs_component_count", &a.lhs_components),
      integer(s, "rhs_component_count", &a.rhs_components),
      integer(s, "num_primitive_operations", &a.primitive_operations),
      boolean(s, "allow_imprecise_accumulation", &a.allow_imprecise_accumulation)};
  if (!read_fields(s, fields)) return false;
  *out = s.module.attribute(a);
  return true;
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

}  // namespace millrace::devices::cpu::read
