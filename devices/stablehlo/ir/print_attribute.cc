// Attributes as text; print.cc uses it for whole modules.
#include <algorithm>
#include <bit>
#include <cstring>
#include <variant>
#include <vector>

#include "millrace/devices/stablehlo/ir/float_format.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/ir/records.h"

namespace millrace::devices::stablehlo::ir {
namespace {

// Up to so many elements are written as a list, more as hex digits.
constexpr std::int64_t kMaxListed = 100;

bool is_bare_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0])) return false;
  return std::ranges::all_of(
      name, [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '$' || c == '.'; });
}

std::uint64_t load(const std::byte* p, std::size_t width) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, p, width);
  return raw;
}

void append_integer(std::string& out, DType type, std::int64_t value) {
  if (type == DType::kI1) {
    out += value != 0 ? "true" : "false";
  } else if (type == DType::kU64) {
    append_number(out, static_cast<std::uint64_t>(value));
  } else {
    append_number(out, value);
  }
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
  } else {
    append_integer(out, type, load_int(p, type));
  }
}

// The elements of one dimension and below; p moves over them.
void append_elements(std::string& out, DType type, Ints dims, const std::byte*& p) {
  if (dims.empty()) {
    append_element(out, type, p);
    p += byte_width(type);
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < dims[0]; ++i) {
    if (i != 0) out += ", ";
    append_elements(out, type, dims.subspan(1), p);
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
    append_elements(out, type, dense.type.dims(), p);
  }
  out += "> : ";
  out += dense.type.to_string();
}

// array<i64: 1, 2>
void append_array(std::string& out, DType element, const auto& values, auto append) {
  (out += "array<") += to_string(element);
  if (!values.empty()) out += ": ";
  append_list(out, values, append);
  out += '>';
}

// What is written of a record although it is zero or empty.
enum class Zeros : std::uint8_t { kNone, kNumbers, kAll };

bool is_left_out(Ints value, Zeros zeros) { return value.empty() && zeros != Zeros::kAll; }
bool is_left_out(std::int64_t value, Zeros zeros) { return value == 0 && zeros == Zeros::kNone; }
bool is_left_out(DType value, Zeros) { return value == DType::kInvalid; }
bool is_left_out(auto, Zeros) { return false; }

void append_field(std::string& out, Ints value) { append_ints(out, value); }
void append_field(std::string& out, std::int64_t value) { append_number(out, value); }
void append_field(std::string& out, DType value) { out += to_string(value); }
void append_field(std::string& out, bool value) { out += value ? "true" : "false"; }
void append_field(std::string& out, double value) {
  append_float(out, DType::kF64, std::bit_cast<std::uint64_t>(value));
}
void append_field(std::string& out, AccuracyMode value) {
  out += "#stablehlo.result_accuracy_mode<";
  (out += enum_value_name(EnumClass::kAccuracyMode, static_cast<int>(value))) += '>';
}

// #stablehlo.name<field = value, ...>, of which `begins` has what comes before the fields.
template <class R>
void append_record(std::string& out, Attribute a, std::string_view begins, Zeros zeros) {
  (out += "#stablehlo.") += begins;
  std::string_view separator;
  for (const RecordField<R>& field : kRecordFields<R>) {
    const auto append = [&](auto member) {
      const auto& value = a.as<R>()->*member;
      if (is_left_out(value, zeros)) return;
      ((out += separator) += field.name) += " = ";
      separator = ", ";
      append_field(out, value);
    };
    std::visit(append, field.member);
  }
  out += '>';
}

// [b, 0, 1, f]; false if the positions are not each of 0..n-1 once.
bool append_conv_side(std::string& out, std::string_view letters, std::int64_t first,
                      std::int64_t second, Ints spatial) {
  std::vector<std::int64_t> places = {first, second};
  places.insert(places.end(), spatial.begin(), spatial.end());
  for (std::int64_t position = 0; position < std::ssize(places); ++position) {
    const auto found =
        static_cast<std::size_t>(std::ranges::find(places, position) - places.begin());
    if (found == places.size()) return false;
    out += position == 0 ? "[" : ", ";
    found < 2 ? void(out += letters[found]) : append_number(out, found - 2);
  }
  out += ']';
  return true;
}

void append_conv(std::string& out, Attribute a) {
  const auto& c = *a.as<ConvDimsAttr>();
  std::string text = "#stablehlo.conv<";
  bool plain = append_conv_side(text, "bf", c.input_batch, c.input_feature, c.input_spatial);
  text += 'x';
  plain = plain && append_conv_side(text, "io", c.kernel_input_feature, c.kernel_output_feature,
                                    c.kernel_spatial);
  text += "->";
  plain = plain && append_conv_side(text, "bf", c.output_batch, c.output_feature, c.output_spatial);
  plain ? void((out += text) += '>')
        : append_record<ConvDimsAttr>(out, a, "conv<raw ", Zeros::kNumbers);
}

}  // namespace

void append_ints(std::string& out, Ints values) {
  out += '[';
  append_list(out, values, [&](std::int64_t value) { append_number(out, value); });
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
  is_bare_name(name) ? void(out += name) : append_quoted(out, name);
}

void append_dict(std::string& out, std::span<const NamedAttribute> attributes,
                 std::span<const std::string_view> elided, std::string_view dialect) {
  bool first = true;
  for (const NamedAttribute& a : attributes) {
    if (std::ranges::find(elided, a.name) != elided.end()) continue;
    out += first ? "{" : ", ";
    first = false;
    is_bare_name(a.name) ? void(out += a.name) : append_quoted(out, a.name);
    if (a.value.kind() == AttrKind::kUnit) continue;
    out += " = ";
    append_attribute(out, a.value, dialect);
  }
  if (!first) out += '}';
}

void append_attribute(std::string& out, Attribute a, std::string_view dialect) {
  switch (a.kind()) {
    case AttrKind::kUnit:
      out += "unit";
      return;
    case AttrKind::kBool:
      out += a.as<BoolAttr>()->value ? "true" : "false";
      return;
    case AttrKind::kInteger:
      append_integer(out, a.as<IntegerAttr>()->type.dtype(), a.as<IntegerAttr>()->value);
      (out += " : ") += a.as<IntegerAttr>()->type.to_string();
      return;
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
      out += '[';
      append_list(out, a.as<ArrayAttr>()->values,
                  [&](Attribute value) { append_attribute(out, value, dialect); });
      out += ']';
      return;
    case AttrKind::kDict:
      a.as<DictAttr>()->values.empty() ? void(out += "{}")
                                       : append_dict(out, a.as<DictAttr>()->values, {}, dialect);
      return;
    case AttrKind::kIntArray:
      return append_array(
          out, a.as<IntArrayAttr>()->element, a.as<IntArrayAttr>()->values,
          [&](auto value) { append_integer(out, a.as<IntArrayAttr>()->element, value); });
    case AttrKind::kFloatArray:
      return append_array(
          out, a.as<FloatArrayAttr>()->element, a.as<FloatArrayAttr>()->bits,
          [&](auto bits) { append_float(out, a.as<FloatArrayAttr>()->element, bits); });
    case AttrKind::kDense:
      return append_dense(out, *a.as<DenseAttr>());
    case AttrKind::kEnum: {
      const auto* e = a.as<EnumAttr>();
      (((out += '#') += dialect) += '<') += enum_class_name(e->enum_class);
      out += ' ';
      (out += enum_value_name(e->enum_class, e->value)) += '>';
      return;
    }
    case AttrKind::kDotDims:
      return append_record<DotDimsAttr>(out, a, "dot<", Zeros::kNone);
    case AttrKind::kConvDims:
      return append_conv(out, a);
    case AttrKind::kGatherDims:
      return append_record<GatherDimsAttr>(out, a, "gather<", Zeros::kNone);
    case AttrKind::kScatterDims:
      return append_record<ScatterDimsAttr>(out, a, "scatter<", Zeros::kNone);
    case AttrKind::kChannelHandle:
      return append_record<ChannelHandleAttr>(out, a, "channel_handle<", Zeros::kNumbers);
    case AttrKind::kOutputAlias:
      // StableHLO's parser wants all three fields, also empty ones.
      return append_record<OutputAliasAttr>(out, a, "output_operand_alias<", Zeros::kAll);
    case AttrKind::kResultAccuracy:
      return append_record<ResultAccuracyAttr>(out, a, "result_accuracy<", Zeros::kNumbers);
    case AttrKind::kDotAlgorithm:
      return append_record<DotAlgorithmAttr>(out, a, "dot_algorithm<", Zeros::kNumbers);
    case AttrKind::kBounds:
      return append_bounds(out, a.as<BoundsAttr>()->bounds);
    case AttrKind::kOpaque:
      out += a.as<OpaqueAttr>()->text;
      return;
  }
}

}  // namespace millrace::devices::stablehlo::ir
