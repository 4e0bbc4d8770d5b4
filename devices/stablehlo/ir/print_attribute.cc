#include "millrace/devices/stablehlo/ir/print_attribute.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "millrace/devices/stablehlo/ir/dense_bytes.h"
#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::stablehlo::ir {
namespace {

// Up to so many elements are written as a list, more as hex digits.
constexpr std::int64_t kMaxListed = 100;

constexpr char kHexDigits[] = "0123456789ABCDEF";

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
    append_number(out, load_int(p, type));
  } else {
    append_number(out, load(p, width));
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

}  // namespace

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
  is_bare_name(name, "$.") ? void(out += name) : append_quoted(out, name);
}

void append_dict(std::string& out, std::span<const NamedAttribute> attributes,
                 std::span<const std::string_view> elided, std::string_view dialect) {
  bool first = true;
  for (const NamedAttribute& a : attributes) {
    if (std::ranges::find(elided, a.name) != elided.end()) continue;
    out += first ? "{" : ", ";
    first = false;
    is_bare_name(a.name, "$.") ? void(out += a.name) : append_quoted(out, a.name);
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
      return append_int_array(out, *a.as<IntArrayAttr>());
    case AttrKind::kFloatArray:
      return append_float_array(out, *a.as<FloatArrayAttr>());
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
      return append_record(out, *a.as<DotDimsAttr>());
    case AttrKind::kConvDims:
      return append_record(out, *a.as<ConvDimsAttr>());
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

}  // namespace millrace::devices::stablehlo::ir
