#include "millrace/devices/cpu/ir/print_attribute.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "millrace/devices/cpu/ir/float_format.h"
#include "millrace/devices/cpu/ir/print.h"

namespace millrace::devices::cpu::ir {
namespace {

// Up to so many elements are written as a list, more as hex digits.
constexpr std::int64_t kMaxListed = 100;

constexpr char kHexDigits[] = "0123456789ABCDEF";

void append_number(std::string& out, auto value) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// Decimal if that reads back to the same bits, which NaN and infinity do not.
void append_float(std::string& out, DType type, std::uint64_t bits) {
  const double value = decode_float(type, bits);
  if (!std::isfinite(value)) {
    out += "0x";
    for (int shift = (bit_width(type) + 3) / 4 * 4 - 4; shift >= 0; shift -= 4)
      out += kHexDigits[bits >> shift & 15];
    return;
  }
  const std::size_t begin = out.size();
  append_number(out, value);
  // The grammar wants a decimal point: 1e+20 becomes 1.0e+20.
  if (out.find('.', begin) == std::string::npos)
    out.insert(std::min(out.find('e', begin), out.size()), ".0");
}

bool is_bare_name(std::string_view name, std::string_view marks) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0])) return false;
  return std::ranges::all_of(name, [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || marks.find(c) != std::string_view::npos;
  });
}

std::uint64_t load(const std::byte* p, std::size_t width) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, p, width);
  return raw;
}

void append_element(std::string& out, DType type, const std::byte* p) {
  const std::size_t width = byte_width(type);
  if (is_complex(type)) {
    const DType part = type == DType::kC64 ? DType::kF32 : DType::kF64;
    out += '(';
    append_float(out, part, load(p, width / 2));
    out += ", ";
    append_float(out, part, load(p + width / 2, width / 2));
    out += ')';
  } else if (is_floating(type)) {
    append_float(out, type, load(p, width));
  } else if (type == DType::kI1) {
    out += *p != std::byte{0} ? "true" : "false";
  } else if (is_signed_integer(type)) {
    const int shift = 64 - static_cast<int>(width) * 8;
    append_number(out, static_cast<std::int64_t>(load(p, width) << shift) >> shift);
  } else {
    append_number(out, load(p, width));
  }
}

// The elements of one dimension and below; p moves over them.
void append_list(std::string& out, DType type, Ints dims, const std::byte*& p) {
  if (dims.empty()) {
    append_element(out, type, p);
    p += byte_width(type);
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < dims[0]; ++i) {
    if (i != 0) out += ", ";
    append_list(out, type, dims.subspan(1), p);
  }
  out += ']';
}

void append_dense(std::string& out, const DenseAttr& dense) {
  const DType type = dense.type.dtype() == DType::kInvalid ? DType::kI64 : dense.type.dtype();
  const std::int64_t count = dense.type.elements().value_or(0);
  out += "dense<";
  if (dense.splat || count == 1) {
    append_element(out, type, dense.bytes.data());
  } else if (count > kMaxListed) {
    out += "\"0x";
    out.reserve(out.size() + dense.bytes.size() * 2 + 64);
    for (std::byte b : dense.bytes) {
      out += kHexDigits[static_cast<unsigned>(b) >> 4];
      out += kHexDigits[static_cast<unsigned>(b) & 15];
    }
    out += '"';
  } else if (count != 0) {
    const std::byte* p = dense.bytes.data();
    append_list(out, type, dense.type.dims(), p);
  }
  out += "> : ";
  out += dense.type.to_string();
}

// Writes <name = value, ...>, leaving out what is empty or zero.
class Fields {
 public:
  Fields(std::string& out, std::string_view name) : out_(out) { (out_ += name) += '<'; }
  ~Fields() { out_ += '>'; }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  void ints(std::string_view name, Ints values) {
    if (values.empty()) return;
    begin(name);
    append_ints(out_, values);
  }
  void integer(std::string_view name, std::int64_t value, bool always = false) {
    if (value == 0 && !always) return;
    begin(name);
    append_number(out_, value);
  }
  void number(std::string_view name, double value) {
    begin(name);
    append_float(out_, DType::kF64, encode_float(DType::kF64, value));
  }
  void text(std::string_view name, std::string_view value) {
    begin(name);
    out_ += value;
  }
  void dtype(std::string_view name, DType type) {
    if (type != DType::kInvalid) text(name, to_string(type));
  }

 private:
  void begin(std::string_view name) {
    if (!first_) out_ += ", ";
    first_ = false;
    (out_ += name) += " = ";
  }

  std::string& out_;
  bool first_ = true;
};

// [b, 0, 1, f]; false if the positions are not each of 0..n-1 once.
bool append_conv_side(std::string& out, std::string_view letters, std::int64_t first,
                      std::int64_t second, Ints spatial) {
  std::vector<std::string> names(spatial.size() + 2);
  const auto put = [&names](std::int64_t position, std::string name) {
    if (position < 0 || static_cast<std::size_t>(position) >= names.size()) return false;
    std::string& slot = names[static_cast<std::size_t>(position)];
    if (!slot.empty()) return false;
    slot = std::move(name);
    return true;
  };
  if (!put(first, std::string(1, letters[0])) || !put(second, std::string(1, letters[1])))
    return false;
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    if (!put(spatial[i], std::to_string(i))) return false;
  }
  for (std::size_t i = 0; i < names.size(); ++i) (out += i == 0 ? "[" : ", ") += names[i];
  out += ']';
  return true;
}

void append_conv(std::string& out, const ConvDimsAttr& c) {
  std::string text;
  bool plain = append_conv_side(text, "bf", c.input_batch, c.input_feature, c.input_spatial);
  text += 'x';
  plain = plain && append_conv_side(text, "io", c.kernel_input_feature, c.kernel_output_feature,
                                    c.kernel_spatial);
  text += "->";
  plain = plain && append_conv_side(text, "bf", c.output_batch, c.output_feature, c.output_spatial);
  if (plain) {
    ((out += "#stablehlo.conv<") += text) += '>';
    return;
  }
  std::string raw;
  {
    Fields f(raw, "");
    f.integer("input_batch_dimension", c.input_batch, true);
    f.integer("input_feature_dimension", c.input_feature, true);
    f.ints("input_spatial_dimensions", c.input_spatial);
    f.integer("kernel_input_feature_dimension", c.kernel_input_feature, true);
    f.integer("kernel_output_feature_dimension", c.kernel_output_feature, true);
    f.ints("kernel_spatial_dimensions", c.kernel_spatial);
    f.integer("output_batch_dimension", c.output_batch, true);
    f.integer("output_feature_dimension", c.output_feature, true);
    f.ints("output_spatial_dimensions", c.output_spatial);
  }
  (out += "#stablehlo.conv<raw ") += raw.substr(1);
}

void append_record(std::string& out, const DotDimsAttr& d) {
  Fields f(out, "#stablehlo.dot");
  f.ints("lhs_batching_dimensions", d.lhs_batching);
  f.ints("rhs_batching_dimensions", d.rhs_batching);
  f.ints("lhs_contracting_dimensions", d.lhs_contracting);
  f.ints("rhs_contracting_dimensions", d.rhs_contracting);
}

void append_record(std::string& out, const GatherDimsAttr& g) {
  Fields f(out, "#stablehlo.gather");
  f.ints("offset_dims", g.offset_dims);
  f.ints("collapsed_slice_dims", g.collapsed_slice_dims);
  f.ints("operand_batching_dims", g.operand_batching_dims);
  f.ints("start_indices_batching_dims", g.start_indices_batching_dims);
  f.ints("start_index_map", g.start_index_map);
  f.integer("index_vector_dim", g.index_vector_dim);
}

void append_record(std::string& out, const ScatterDimsAttr& s) {
  Fields f(out, "#stablehlo.scatter");
  f.ints("update_window_dims", s.update_window_dims);
  f.ints("inserted_window_dims", s.inserted_window_dims);
  f.ints("input_batching_dims", s.input_batching_dims);
  f.ints("scatter_indices_batching_dims", s.scatter_indices_batching_dims);
  f.ints("scatter_dims_to_operand_dims", s.scatter_dims_to_operand_dims);
  f.integer("index_vector_dim", s.index_vector_dim);
}

void append_record(std::string& out, const ChannelHandleAttr& c) {
  Fields f(out, "#stablehlo.channel_handle");
  f.integer("handle", c.handle, true);
  f.integer("type", c.type, true);
}

void append_record(std::string& out, const OutputAliasAttr& a) {
  Fields f(out, "#stablehlo.output_operand_alias");
  f.ints("output_tuple_indices", a.output_tuple_indices);
  f.integer("operand_index", a.operand_index, true);
  f.ints("operand_tuple_indices", a.operand_tuple_indices);
}

void append_record(std::string& out, const ResultAccuracyAttr& r) {
  Fields f(out, "#stablehlo.result_accuracy");
  f.number("atol", r.atol);
  f.number("rtol", r.rtol);
  f.integer("ulps", r.ulps, true);
  const auto name = enum_value_name(EnumClass::kAccuracyMode, static_cast<int>(r.mode));
  f.text("mode", "#stablehlo.result_accuracy_mode<" + std::string(name) + ">");
}

void append_record(std::string& out, const DotAlgorithmAttr& a) {
  Fields f(out, "#stablehlo.dot_algorithm");
  f.dtype("lhs_precision_type", a.lhs_precision);
  f.dtype("rhs_precision_type", a.rhs_precision);
  f.dtype("accumulation_type", a.accumulation);
  f.integer("lhs_component_count", a.lhs_components, true);
  f.integer("rhs_component_count", a.rhs_components, true);
  f.integer("num_primitive_operations", a.primitive_operations, true);
  f.text("allow_imprecise_accumulation", a.allow_imprecise_accumulation ? "true" : "false");
}

void append_record(std::string& out, const BoundsAttr& b) {
  out += "#stablehlo.bounds<";
  for (std::size_t i = 0; i < b.bounds.size(); ++i) {
    if (i != 0) out += ", ";
    b.bounds[i] == kDynamic ? void(out += '?') : append_number(out, b.bounds[i]);
  }
  out += '>';
}

void append_int_array(std::string& out, const IntArrayAttr& a) {
  (out += "array<") += to_string(a.element);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    out += i == 0 ? ": " : ", ";
    if (a.element == DType::kI1) {
      out += a.values[i] != 0 ? "true" : "false";
    } else if (a.element == DType::kU64) {
      append_number(out, static_cast<std::uint64_t>(a.values[i]));
    } else {
      append_number(out, a.values[i]);
    }
  }
  out += '>';
}

void append_float_array(std::string& out, const FloatArrayAttr& a) {
  (out += "array<") += to_string(a.element);
  for (std::size_t i = 0; i < a.bits.size(); ++i) {
    out += i == 0 ? ": " : ", ";
    append_float(out, a.element, a.bits[i]);
  }
  out += '>';
}

void append_integer(std::string& out, const IntegerAttr& i) {
  if (i.type.dtype() == DType::kU64) {
    append_number(out, static_cast<std::uint64_t>(i.value));
  } else {
    append_number(out, i.value);
  }
  (out += " : ") += i.type.to_string();
}

void append_array(std::string& out, const ArrayAttr& a) {
  out += '[';
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (i != 0) out += ", ";
    append_attribute(out, a.values[i]);
  }
  out += ']';
}

}  // namespace

void append_ints(std::string& out, Ints values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ", ";
    append_number(out, values[i]);
  }
  out += ']';
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || u < 0x20 || u >= 0x7F) {
      out += '\\';
      out += kHexDigits[u >> 4];
      out += kHexDigits[u & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_symbol(std::string& out, std::string_view name) {
  out += '@';
  is_bare_name(name, "$.") ? void(out += name) : append_quoted(out, name);
}

void append_dict(std::string& out, std::span<const NamedAttribute> attributes,
                 std::span<const std::string_view> elided) {
  bool first = true;
  for (const NamedAttribute& a : attributes) {
    if (std::ranges::find(elided, a.name) != elided.end()) continue;
    out += first ? "{" : ", ";
    first = false;
    is_bare_name(a.name, "$.") ? void(out += a.name) : append_quoted(out, a.name);
    if (a.value.kind() == AttrKind::kUnit) continue;
    out += " = ";
    append_attribute(out, a.value);
  }
  if (!first) out += '}';
}

void append_attribute(std::string& out, Attribute a) {
  switch (a.kind()) {
    case AttrKind::kUnit:
      out += "unit";
      return;
    case AttrKind::kBool:
      out += a.as<BoolAttr>()->value ? "true" : "false";
      return;
    case AttrKind::kInteger:
      return append_integer(out, *a.as<IntegerAttr>());
    case AttrKind::kFloat:
      append_float(out, a.as<FloatAttr>()->type.dtype(), a.as<FloatAttr>()->bits);
      (out += " : ") += a.as<FloatAttr>()->type.to_string();
      return;
    case AttrKind::kString:
      return append_quoted(out, a.as<StringAttr>()->value);
    case AttrKind::kSymbol:
      for (std::size_t i = 0; i < a.as<SymbolAttr>()->path.size(); ++i) {
        if (i != 0) out += "::";
        append_symbol(out, a.as<SymbolAttr>()->path[i]);
      }
      return;
    case AttrKind::kType:
      out += a.as<TypeAttr>()->value.to_string();
      return;
    case AttrKind::kArray:
      return append_array(out, *a.as<ArrayAttr>());
    case AttrKind::kDict:
      a.as<DictAttr>()->values.empty() ? void(out += "{}")
                                       : append_dict(out, a.as<DictAttr>()->values);
      return;
    case AttrKind::kIntArray:
      return append_int_array(out, *a.as<IntArrayAttr>());
    case AttrKind::kFloatArray:
      return append_float_array(out, *a.as<FloatArrayAttr>());
    case AttrKind::kDense:
      return append_dense(out, *a.as<DenseAttr>());
    case AttrKind::kEnum: {
      const auto* e = a.as<EnumAttr>();
      ((out += "#stablehlo<") += enum_class_name(e->enum_class)) += ' ';
      (out += enum_value_name(e->enum_class, e->value)) += '>';
      return;
    }
    case AttrKind::kDotDims:
      return append_record(out, *a.as<DotDimsAttr>());
    case AttrKind::kConvDims:
      return append_conv(out, *a.as<ConvDimsAttr>());
    case AttrKind::kGatherDims:
      return append_record(out, *a.as<GatherDimsAttr>());
    case AttrKind::kScatterDims:
      return append_record(out, *a.as<ScatterDimsAttr>());
    case AttrKind::kChannelHandle:
      return append_record(out, *a.as<ChannelHandleAttr>());
    case AttrKind::kOutputAlias:
      return append_record(out, *a.as<OutputAliasAttr>());
    case AttrKind::kResultAccuracy:
      return append_record(out, *a.as<ResultAccuracyAttr>());
    case AttrKind::kDotAlgorithm:
      return append_record(out, *a.as<DotAlgorithmAttr>());
    case AttrKind::kBounds:
      return append_record(out, *a.as<BoundsAttr>());
    case AttrKind::kOpaque:
      out += a.as<OpaqueAttr>()->text;
      return;
  }
}

std::string print(Attribute attribute) {
  std::string out;
  append_attribute(out, attribute);
  return out;
}

}  // namespace millrace::devices::cpu::ir
