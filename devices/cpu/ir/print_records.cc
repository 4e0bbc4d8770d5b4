// The records of the StableHLO dialect as text: #stablehlo.dot<...> and its like.
#include <charconv>
#include <string>
#include <vector>

#include "millrace/devices/cpu/ir/float_format.h"
#include "millrace/devices/cpu/ir/print_attribute.h"

namespace millrace::devices::cpu::ir {
namespace {

void append_number(std::string& out, auto value) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// Writes <name = value, ...>, leaving out what is empty or zero.
class Fields {
 public:
  Fields(std::string& out, std::string_view name) : out_(out) { (out_ += name) += '<'; }
  ~Fields() { out_ += '>'; }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  void ints(std::string_view name, Ints values, bool always = false) {
    if (values.empty() && !always) return;
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

}  // namespace

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
  // StableHLO's parser wants all three, also empty ones.
  f.ints("output_tuple_indices", a.output_tuple_indices, true);
  f.integer("operand_index", a.operand_index, true);
  f.ints("operand_tuple_indices", a.operand_tuple_indices, true);
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

void append_record(std::string& out, const ConvDimsAttr& c) { append_conv(out, c); }

}  // namespace millrace::devices::cpu::ir
