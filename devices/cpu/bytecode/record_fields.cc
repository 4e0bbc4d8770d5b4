#include "millrace/devices/cpu/bytecode/record_fields.h"

#include <variant>

namespace millrace::devices::cpu::bytecode {
namespace {

// A member of a record: numbers, a number, an element type or a bool.
template <class R>
struct Field {
  std::string_view name;
  std::variant<ir::Ints R::*, std::int64_t R::*, DType R::*, bool R::*> member;
};

constexpr Field<ir::ConvDimsAttr> kConv[] = {
    {"input_batch_dimension", &ir::ConvDimsAttr::input_batch},
    {"input_feature_dimension", &ir::ConvDimsAttr::input_feature},
    {"input_spatial_dimensions", &ir::ConvDimsAttr::input_spatial},
    {"kernel_input_feature_dimension", &ir::ConvDimsAttr::kernel_input_feature},
    {"kernel_output_feature_dimension", &ir::ConvDimsAttr::kernel_output_feature},
    {"kernel_spatial_dimensions", &ir::ConvDimsAttr::kernel_spatial},
    {"output_batch_dimension", &ir::ConvDimsAttr::output_batch},
    {"output_feature_dimension", &ir::ConvDimsAttr::output_feature},
    {"output_spatial_dimensions", &ir::ConvDimsAttr::output_spatial},
};
constexpr Field<ir::DotDimsAttr> kDot[] = {
    {"lhs_batching_dimensions", &ir::DotDimsAttr::lhs_batching},
    {"rhs_batching_dimensions", &ir::DotDimsAttr::rhs_batching},
    {"lhs_contracting_dimensions", &ir::DotDimsAttr::lhs_contracting},
    {"rhs_contracting_dimensions", &ir::DotDimsAttr::rhs_contracting},
};
constexpr Field<ir::DotAlgorithmAttr> kAlgorithm[] = {
    {"lhs_precision_type", &ir::DotAlgorithmAttr::lhs_precision},
    {"rhs_precision_type", &ir::DotAlgorithmAttr::rhs_precision},
    {"accumulation_type", &ir::DotAlgorithmAttr::accumulation},
    {"lhs_component_count", &ir::DotAlgorithmAttr::lhs_components},
    {"rhs_component_count", &ir::DotAlgorithmAttr::rhs_components},
    {"num_primitive_operations", &ir::DotAlgorithmAttr::primitive_operations},
    {"allow_imprecise_accumulation", &ir::DotAlgorithmAttr::allow_imprecise_accumulation},
};
constexpr Field<ir::GatherDimsAttr> kGather[] = {
    {"offset_dims", &ir::GatherDimsAttr::offset_dims},
    {"collapsed_slice_dims", &ir::GatherDimsAttr::collapsed_slice_dims},
    {"operand_batching_dims", &ir::GatherDimsAttr::operand_batching_dims},
    {"start_indices_batching_dims", &ir::GatherDimsAttr::start_indices_batching_dims},
    {"start_index_map", &ir::GatherDimsAttr::start_index_map},
    {"index_vector_dim", &ir::GatherDimsAttr::index_vector_dim},
};
constexpr Field<ir::ScatterDimsAttr> kScatter[] = {
    {"update_window_dims", &ir::ScatterDimsAttr::update_window_dims},
    {"inserted_window_dims", &ir::ScatterDimsAttr::inserted_window_dims},
    {"input_batching_dims", &ir::ScatterDimsAttr::input_batching_dims},
    {"scatter_indices_batching_dims", &ir::ScatterDimsAttr::scatter_indices_batching_dims},
    {"scatter_dims_to_operand_dims", &ir::ScatterDimsAttr::scatter_dims_to_operand_dims},
    {"index_vector_dim", &ir::ScatterDimsAttr::index_vector_dim},
};
constexpr Field<ir::ChannelHandleAttr> kChannel[] = {
    {"channel_id", &ir::ChannelHandleAttr::handle},
    {"channel_type", &ir::ChannelHandleAttr::type},
};

struct Maker {
  ir::Module& made;
  ir::Attribute operator()(ir::Ints value) const {
    return made.attribute(ir::IntArrayAttr{{}, DType::kI64, value});
  }
  ir::Attribute operator()(std::int64_t value) const {
    return made.attribute(ir::IntegerAttr{{}, value, made.types().scalar(DType::kI64)});
  }
  ir::Attribute operator()(DType value) const {
    return made.attribute(ir::TypeAttr{{}, made.types().scalar(value)});
  }
  ir::Attribute operator()(bool value) const { return made.attribute(ir::BoolAttr{{}, value}); }
};

template <class R, std::size_t N>
ir::Attribute field_of(ir::Module& made, const R* record, const Field<R> (&fields)[N],
                       std::string_view name) {
  for (const Field<R>& f : fields) {
    if (f.name != name || record == nullptr) continue;
    return std::visit([&](auto member) { return Maker{made}(record->*member); }, f.member);
  }
  return {};
}

bool is_algorithm_field(std::string_view name) {
  for (const auto& f : kAlgorithm) {
    if (f.name == name) return true;
  }
  return false;
}

}  // namespace

ir::Attribute record_field(ir::Module& made, const ir::Op& op, std::string_view name) {
  using K = ir::OpKind;
  switch (op.kind()) {
    case K::kConvolution:
    case K::kDynamicConv:
      return field_of(made, op.attr<ir::ConvDimsAttr>("dimension_numbers"), kConv, name);
    case K::kDotGeneral: {
      if (!is_algorithm_field(name))
        return field_of(made, op.attr<ir::DotDimsAttr>("dot_dimension_numbers"), kDot, name);
      const auto* algorithm = op.attr<ir::DotAlgorithmAttr>("algorithm");
      if (algorithm != nullptr) return field_of(made, algorithm, kAlgorithm, name);
      return made.attribute(ir::TypeAttr{{}, made.types().none()});
    }
    case K::kGather:
    case K::kDynamicGather:
      return field_of(made, op.attr<ir::GatherDimsAttr>("dimension_numbers"), kGather, name);
    case K::kScatter:
      return field_of(made, op.attr<ir::ScatterDimsAttr>("scatter_dimension_numbers"), kScatter,
                      name);
    case K::kSend:
    case K::kRecv:
      return field_of(made, op.attr<ir::ChannelHandleAttr>("channel_handle"), kChannel, name);
    default:
      return {};
  }
}

bool is_left_out(ir::Attribute field) {
  if (const auto* ints = field.as<ir::IntArrayAttr>()) return ints->values.empty();
  const auto* type = field.as<ir::TypeAttr>();
  return type != nullptr && type->value.kind() == ir::TypeKind::kNone;
}

}  // namespace millrace::devices::cpu::bytecode
