#include "millrace/devices/cpu/bytecode/records.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using ir::OpKind;

// So many equal numbers may a splat stand for: dimensions are few.
constexpr std::int64_t kMaxSplat = 16;

// Takes fields by their names; the first that is missing or of another kind is kept for the error.
class Fields {
 public:
  Fields(ir::Module& module, std::span<const ir::NamedAttribute> fields)
      : module_(module), fields_(fields) {}

  // Empty if it is not there: earlier revisions lack some.
  ir::Ints ints(std::string_view name) {
    const ir::Attribute a = find(name);
    std::vector<std::int64_t> values;
    if (!a) return {};
    if (!ints_of(a, &values)) wrong(name, "a tensor of integers");
    return module_.copy(std::span<const std::int64_t>(values));
  }
  std::int64_t integer(std::string_view name) {
    const auto* i = find(name).as<ir::IntegerAttr>();
    if (i == nullptr) wrong(name, "an integer");
    return i == nullptr ? 0 : i->value;
  }
  bool boolean(std::string_view name) {
    const auto* b = find(name).as<ir::BoolAttr>();
    if (b == nullptr) wrong(name, "a bool");
    return b != nullptr && b->value;
  }
  DType dtype(std::string_view name) {
    const auto* t = find(name).as<ir::TypeAttr>();
    const DType type = t != nullptr ? t->value.dtype() : DType::kInvalid;
    if (type == DType::kInvalid) wrong(name, "an element type");
    return type;
  }
  // The type none, which stands for no value.
  bool is_none(std::string_view name) {
    const ir::Attribute a = find(name);
    const auto* t = a.as<ir::TypeAttr>();
    return !a || (t != nullptr && t->value.kind() == ir::TypeKind::kNone);
  }

  const std::string& why() const { return why_; }

 private:
  ir::Attribute find(std::string_view name) const {
    for (const ir::NamedAttribute& f : fields_) {
      if (f.name == name) return f.value;
    }
    return {};
  }
  void wrong(std::string_view name, std::string_view expected) {
    if (why_.empty())
      why_ = "the attribute " + std::string(name) + " is not " + std::string(expected);
  }

  ir::Module& module_;
  std::span<const ir::NamedAttribute> fields_;
  std::string why_;
};

using Attributes = std::vector<ir::NamedAttribute>;

void make_conv(ir::Module& module, Fields& f, Attributes* out) {
  ir::ConvDimsAttr dims;
  dims.input_batch = f.integer("input_batch_dimension");
  dims.input_feature = f.integer("input_feature_dimension");
  dims.input_spatial = f.ints("input_spatial_dimensions");
  dims.kernel_input_feature = f.integer("kernel_input_feature_dimension");
  dims.kernel_output_feature = f.integer("kernel_output_feature_dimension");
  dims.kernel_spatial = f.ints("kernel_spatial_dimensions");
  dims.output_batch = f.integer("output_batch_dimension");
  dims.output_feature = f.integer("output_feature_dimension");
  dims.output_spatial = f.ints("output_spatial_dimensions");
  out->push_back({"dimension_numbers", module.attribute(dims)});
}

void make_dot(ir::Module& module, Fields& f, Attributes* out) {
  ir::DotDimsAttr dims;
  dims.lhs_batching = f.ints("lhs_batching_dimensions");
  dims.rhs_batching = f.ints("rhs_batching_dimensions");
  dims.lhs_contracting = f.ints("lhs_contracting_dimensions");
  dims.rhs_contracting = f.ints("rhs_contracting_dimensions");
  out->push_back({"dot_dimension_numbers", module.attribute(dims)});
  if (f.is_none("lhs_component_count")) return;
  ir::DotAlgorithmAttr a;
  a.lhs_precision = f.dtype("lhs_precision_type");
  a.rhs_precision = f.dtype("rhs_precision_type");
  a.accumulation = f.dtype("accumulation_type");
  a.lhs_components = f.integer("lhs_component_count");
  a.rhs_components = f.integer("rhs_component_count");
  a.primitive_operations = f.integer("num_primitive_operations");
  a.allow_imprecise_accumulation = f.boolean("allow_imprecise_accumulation");
  out->push_back({"algorithm", module.attribute(a)});
}

void make_gather(ir::Module& module, Fields& f, Attributes* out) {
  ir::GatherDimsAttr dims;
  dims.offset_dims = f.ints("offset_dims");
  dims.collapsed_slice_dims = f.ints("collapsed_slice_dims");
  dims.operand_batching_dims = f.ints("operand_batching_dims");
  dims.start_indices_batching_dims = f.ints("start_indices_batching_dims");
  dims.start_index_map = f.ints("start_index_map");
  dims.index_vector_dim = f.integer("index_vector_dim");
  out->push_back({"dimension_numbers", module.attribute(dims)});
}

void make_scatter(ir::Module& module, Fields& f, Attributes* out) {
  ir::ScatterDimsAttr dims;
  dims.update_window_dims = f.ints("update_window_dims");
  dims.inserted_window_dims = f.ints("inserted_window_dims");
  dims.input_batching_dims = f.ints("input_batching_dims");
  dims.scatter_indices_batching_dims = f.ints("scatter_indices_batching_dims");
  dims.scatter_dims_to_operand_dims = f.ints("scatter_dims_to_operand_dims");
  dims.index_vector_dim = f.integer("index_vector_dim");
  out->push_back({"scatter_dimension_numbers", module.attribute(dims)});
}

void make_channel(ir::Module& module, Fields& f, Attributes* out) {
  ir::ChannelHandleAttr handle;
  handle.handle = f.integer("channel_id");
  handle.type = f.integer("channel_type");
  out->push_back({"channel_handle", module.attribute(handle)});
}

struct Row {
  OpKind kind;
  void (*make)(ir::Module&, Fields&, Attributes*);
};

constexpr Row kRows[] = {
    {OpKind::kConvolution, make_conv},     {OpKind::kDynamicConv, make_conv},
    {OpKind::kDotGeneral, make_dot},       {OpKind::kGather, make_gather},
    {OpKind::kDynamicGather, make_gather}, {OpKind::kScatter, make_scatter},
    {OpKind::kSend, make_channel},         {OpKind::kRecv, make_channel},
};

}  // namespace

bool ints_of(ir::Attribute attribute, std::vector<std::int64_t>* out) {
  const auto* dense = attribute.as<ir::DenseAttr>();
  if (dense == nullptr) return false;
  if (dense->splat && dense->type.elements().value_or(0) > kMaxSplat) return false;
  auto values = ir::to_ints(attribute);
  if (!values) return false;
  *out = std::move(*values);
  return true;
}

bool make_records(ir::Module& module, OpKind kind, std::span<const ir::NamedAttribute> fields,
                  Attributes* out, std::string* why) {
  for (const Row& row : kRows) {
    if (row.kind != kind) continue;
    Fields f(module, fields);
    row.make(module, f, out);
    *why = f.why();
    return why->empty();
  }
  return true;
}

}  // namespace millrace::devices::cpu::bytecode
