// Short forms with several lists of numbers: dot, dot_general, convolution, slice.
#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/pretty.h"

#include <algorithm>
#include <cstring>

namespace millrace::devices::stablehlo::text {
namespace {

using Values = std::vector<std::int64_t>;

// "= [DEFAULT, HIGHEST]", also with the spelled-out attributes.
bool read_precision(State& s, Draft& d) {
  std::vector<ir::Attribute> values;
  const bool good = s.in.expect('=') && s.in.list('[', ']', [&] {
    const bool bare = s.in.token().kind == TokenKind::kBareId;
    ir::Attribute& value = values.emplace_back();
    return bare ? read_enum_word(s, ir::EnumClass::kPrecision, &value) : read_attribute(s, &value);
  });
  if (!good) return false;
  add(s, d, "precision_config",
      s.module.attribute(ir::ArrayAttr{{}, s.module.copy(std::span<const ir::Attribute>(values))}));
  return true;
}

// "[0] x [1]"
bool read_pair(State& s, Values* left, Values* right) {
  return s.in.expect('=') && s.in.int_list(left) && s.in.expect_word("x") && s.in.int_list(right);
}

// "[[1, 1], [0, 2]]": two numbers for each window dimension, as tensor<Nx2xi64>.
bool read_padding(State& s, Draft& d) {
  Values flat;
  const bool good = s.in.list('[', ']', [&] {
    const ir::Location where = s.in.location();
    Values pair;
    if (!s.in.int_list(&pair)) return false;
    if (pair.size() != 2) return s.in.fail_at(where, "padding is two numbers for each dimension");
    flat.insert(flat.end(), pair.begin(), pair.end());
    return true;
  });
  if (!good) return false;
  // Equal numbers are a splat, as in what MLIR prints of them in the long form.
  const auto rows = static_cast<std::int64_t>(flat.size() / 2);
  const bool splat = !flat.empty() && std::ranges::count(flat, flat[0]) == std::ssize(flat);
  if (splat) flat.resize(1);
  const std::size_t size = flat.size() * sizeof(std::int64_t);
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
  if (size != 0) std::memcpy(bytes.get(), flat.data(), size);
  const ir::Type type = s.module.types().tensor({rows, 2}, DType::kI64);
  add(s, d, "padding", s.module.dense(type, splat, std::move(bytes), size));
  return true;
}

// "[true, 0]"
bool read_flags(State& s, Draft& d) {
  Values values;
  const bool good = s.in.list('[', ']', [&] {
    bool flag = false;
    const bool word = s.in.token().kind == TokenKind::kBareId;
    if (!(word ? s.in.boolean(&flag) : s.in.integer(&values.emplace_back()))) return false;
    if (word) values.push_back(flag);
    if (values.back() != 0) values.back() = 1;
    return true;
  });
  if (good) add(s, d, "window_reversal", make_ints(s, values, DType::kI1));
  return good;
}

bool read_window_field(State& s, Draft& d) {
  const std::string_view word =
      s.in.token().kind == TokenKind::kBareId ? s.in.token().text : std::string_view();
  const std::string_view attribute = word == "stride"       ? "window_strides"
                                     : word == "lhs_dilate" ? "lhs_dilation"
                                     : word == "rhs_dilate" ? "rhs_dilation"
                                                            : "";
  if (attribute.empty() && word != "pad" && word != "reverse") {
    return s.in.unexpected("stride, pad, lhs_dilate, rhs_dilate or reverse");
  }
  s.in.advance();
  if (!s.in.expect('=')) return false;
  if (word == "pad") return read_padding(s, d);
  if (word == "reverse") return read_flags(s, d);
  Values values;
  if (!s.in.int_list(&values)) return false;
  add(s, d, attribute, make_ints(s, values));
  return true;
}

// "{stride = [2], pad = [[1, 1]]}"
bool read_window(State& s, Draft& d) {
  return s.in.list('{', '}', [&] { return read_window_field(s, d); });
}

bool read_dot_field(State& s, Draft& d, Values (&dims)[4], bool* known) {
  *known = true;
  if (s.in.accept_word("batching_dims")) return read_pair(s, &dims[0], &dims[1]);
  if (s.in.accept_word("contracting_dims")) return read_pair(s, &dims[2], &dims[3]);
  if (s.in.accept_word("precision")) return read_precision(s, d);
  if (s.in.accept_word("algorithm")) {
    ir::Attribute algorithm;
    if (!s.in.expect('=')) return false;
    if (!(s.in.token().is('<') ? read_dot_algorithm(s, &algorithm) : read_attribute(s, &algorithm)))
      return false;
    add(s, d, "algorithm", algorithm);
    return true;
  }
  *known = false;
  return s.in.unexpected("batching_dims, contracting_dims, precision or algorithm");
}

}  // namespace

bool read_pretty_dot_general(State& s, Draft& d) {
  Values dims[4];
  bool more = false;
  if (!read_operands(s, &d.operands, &more)) return false;
  while (more) {
    bool known = false;
    if (!read_dot_field(s, d, dims, &known)) return false;
    more = s.in.accept(',');
  }
  const auto keep = [&s](const Values& v) {
    return s.module.copy(std::span<const std::int64_t>(v));
  };
  add(s, d, "dot_dimension_numbers",
      s.module.attribute(
          ir::DotDimsAttr{{}, keep(dims[0]), keep(dims[1]), keep(dims[2]), keep(dims[3])}));
  return read_tail(s, d);
}

bool read_pretty_dot(State& s, Draft& d) {
  bool more = false;
  if (!read_operands(s, &d.operands, &more)) return false;
  if (more && (!s.in.expect_word("precision") || !read_precision(s, d))) return false;
  return read_tail(s, d);
}

bool read_pretty_convolution(State& s, Draft& d) {
  ir::Attribute dims;
  if (!read_operand_tuple(s, &d.operands) || !s.in.expect_field("dim_numbers")) return false;
  if (!(s.in.token().is('[') ? read_conv_dims(s, &dims) : read_attribute(s, &dims))) return false;
  add(s, d, "dimension_numbers", dims);
  while (s.in.accept(',')) {
    if (s.in.accept_word("window")) {
      if (!s.in.expect('=') || !read_window(s, d)) return false;
    } else if (s.in.accept_word("precision")) {
      if (!read_precision(s, d)) return false;
    } else {
      return s.in.unexpected("window or precision");
    }
  }
  return read_tail(s, d);
}

// "%a [0:2, 1:8:3] : signature"
bool read_pretty_slice(State& s, Draft& d) {
  Values starts;
  Values limits;
  Values strides;
  const bool good = read_operand(s, &d.operands) && s.in.list('[', ']', [&] {
    strides.push_back(1);
    return s.in.integer(&starts.emplace_back()) && s.in.expect(':') &&
           s.in.integer(&limits.emplace_back()) &&
           (!s.in.accept(':') || s.in.integer(&strides.back()));
  });
  if (!good) return false;
  add(s, d, "start_indices", make_ints(s, starts));
  add(s, d, "limit_indices", make_ints(s, limits));
  add(s, d, "strides", make_ints(s, strides));
  return read_tail(s, d);
}

}  // namespace millrace::devices::stablehlo::text
