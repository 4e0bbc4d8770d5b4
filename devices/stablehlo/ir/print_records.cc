// The records of the StableHLO dialect as text: #stablehlo.dot<...> and its like.
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "millrace/devices/stablehlo/ir/float_format.h"
#include "millrace/devices/stablehlo/ir/print_attribute.h"
#include "millrace/devices/stablehlo/ir/records.h"

namespace millrace::devices::stablehlo::ir {
namespace {

// What is written of a record although it is zero or empty.
enum class Zeros : std::uint8_t { kNone, kNumbers, kAll };

// Appends #stablehlo.name<field = value, ...>, of which `begins` has what comes before the fields.
template <class R>
void append_fields(std::string& out, std::string_view begins, const R& record, Zeros zeros) {
  out += begins;
  std::string_view separator;
  const auto begin = [&](std::string_view field) {
    ((out += separator) += field) += " = ";
    separator = ", ";
  };
  for (const RecordField<R>& field : kRecordFields<R>) {
    const auto append = [&]<class T>(T R::* member) {
      const T& value = record.*member;
      if constexpr (std::is_same_v<T, Ints>) {
        if (value.empty() && zeros != Zeros::kAll) return;
        begin(field.name);
        append_ints(out, value);
      } else if constexpr (std::is_same_v<T, std::int64_t>) {
        if (value == 0 && zeros == Zeros::kNone) return;
        begin(field.name);
        append_number(out, value);
      } else if constexpr (std::is_same_v<T, DType>) {
        if (value == DType::kInvalid) return;
        begin(field.name);
        out += to_string(value);
      } else if constexpr (std::is_same_v<T, double>) {
        begin(field.name);
        append_float(out, DType::kF64, encode_float(DType::kF64, value));
      } else if constexpr (std::is_same_v<T, bool>) {
        begin(field.name);
        out += value ? "true" : "false";
      } else {
        begin(field.name);
        out += "#stablehlo.result_accuracy_mode<";
        (out += enum_value_name(EnumClass::kAccuracyMode, static_cast<int>(value))) += '>';
      }
    };
    std::visit(append, field.member);
  }
  out += '>';
}

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
  append_fields(out, "#stablehlo.conv<raw ", c, Zeros::kNumbers);
}

}  // namespace

void append_record(std::string& out, const DotDimsAttr& d) {
  append_fields(out, "#stablehlo.dot<", d, Zeros::kNone);
}
void append_record(std::string& out, const GatherDimsAttr& g) {
  append_fields(out, "#stablehlo.gather<", g, Zeros::kNone);
}
void append_record(std::string& out, const ScatterDimsAttr& s) {
  append_fields(out, "#stablehlo.scatter<", s, Zeros::kNone);
}
void append_record(std::string& out, const ChannelHandleAttr& c) {
  append_fields(out, "#stablehlo.channel_handle<", c, Zeros::kNumbers);
}
// StableHLO's parser wants all three fields, also empty ones.
void append_record(std::string& out, const OutputAliasAttr& a) {
  append_fields(out, "#stablehlo.output_operand_alias<", a, Zeros::kAll);
}
void append_record(std::string& out, const ResultAccuracyAttr& r) {
  append_fields(out, "#stablehlo.result_accuracy<", r, Zeros::kNumbers);
}
void append_record(std::string& out, const DotAlgorithmAttr& a) {
  append_fields(out, "#stablehlo.dot_algorithm<", a, Zeros::kNumbers);
}

void append_record(std::string& out, const BoundsAttr& b) {
  out += "#stablehlo.bounds<";
  append_list(out, b.bounds, [&](std::int64_t bound) {
    bound == kDynamic ? void(out += '?') : append_number(out, bound);
  });
  out += '>';
}

void append_record(std::string& out, const ConvDimsAttr& c) { append_conv(out, c); }

}  // namespace millrace::devices::stablehlo::ir
