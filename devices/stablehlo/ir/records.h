// The fields of the record attributes by their names. The printer and the reader of text walk these
// tables, and bytecode does for what VHLO spells field by field. Read next: attribute.h, the
// records.
#pragma once

#include <string_view>
#include <variant>

#include "millrace/devices/stablehlo/ir/attribute.h"
#include "millrace/devices/stablehlo/ir/op_kind.h"

namespace millrace::devices::stablehlo::ir {

template <class R>
struct RecordField {
  std::string_view name;
  std::variant<Ints R::*, std::int64_t R::*, DType R::*, bool R::*, double R::*, AccuracyMode R::*>
      member;
  std::string_view vhlo = name;  // the attribute that holds it in VHLO
};

// The fields of a record, in the order of the text.
template <class R>
inline constexpr int kRecordFields = 0;

template <>
inline constexpr RecordField<DotDimsAttr> kRecordFields<DotDimsAttr>[] = {
    {"lhs_batching_dimensions", &DotDimsAttr::lhs_batching},
    {"rhs_batching_dimensions", &DotDimsAttr::rhs_batching},
    {"lhs_contracting_dimensions", &DotDimsAttr::lhs_contracting},
    {"rhs_contracting_dimensions", &DotDimsAttr::rhs_contracting},
};
template <>
inline constexpr RecordField<DotAlgorithmAttr> kRecordFields<DotAlgorithmAttr>[] = {
    {"lhs_precision_type", &DotAlgorithmAttr::lhs_precision},
    {"rhs_precision_type", &DotAlgorithmAttr::rhs_precision},
    {"accumulation_type", &DotAlgorithmAttr::accumulation},
    {"lhs_component_count", &DotAlgorithmAttr::lhs_components},
    {"rhs_component_count", &DotAlgorithmAttr::rhs_components},
    {"num_primitive_operations", &DotAlgorithmAttr::primitive_operations},
    {"allow_imprecise_accumulation", &DotAlgorithmAttr::allow_imprecise_accumulation},
};
template <>
inline constexpr RecordField<ConvDimsAttr> kRecordFields<ConvDimsAttr>[] = {
    {"input_batch_dimension", &ConvDimsAttr::input_batch},
    {"input_feature_dimension", &ConvDimsAttr::input_feature},
    {"input_spatial_dimensions", &ConvDimsAttr::input_spatial},
    {"kernel_input_feature_dimension", &ConvDimsAttr::kernel_input_feature},
    {"kernel_output_feature_dimension", &ConvDimsAttr::kernel_output_feature},
    {"kernel_spatial_dimensions", &ConvDimsAttr::kernel_spatial},
    {"output_batch_dimension", &ConvDimsAttr::output_batch},
    {"output_feature_dimension", &ConvDimsAttr::output_feature},
    {"output_spatial_dimensions", &ConvDimsAttr::output_spatial},
};
template <>
inline constexpr RecordField<GatherDimsAttr> kRecordFields<GatherDimsAttr>[] = {
    {"offset_dims", &GatherDimsAttr::offset_dims},
    {"collapsed_slice_dims", &GatherDimsAttr::collapsed_slice_dims},
    {"operand_batching_dims", &GatherDimsAttr::operand_batching_dims},
    {"start_indices_batching_dims", &GatherDimsAttr::start_indices_batching_dims},
    {"start_index_map", &GatherDimsAttr::start_index_map},
    {"index_vector_dim", &GatherDimsAttr::index_vector_dim},
};
template <>
inline constexpr RecordField<ScatterDimsAttr> kRecordFields<ScatterDimsAttr>[] = {
    {"update_window_dims", &ScatterDimsAttr::update_window_dims},
    {"inserted_window_dims", &ScatterDimsAttr::inserted_window_dims},
    {"input_batching_dims", &ScatterDimsAttr::input_batching_dims},
    {"scatter_indices_batching_dims", &ScatterDimsAttr::scatter_indices_batching_dims},
    {"scatter_dims_to_operand_dims", &ScatterDimsAttr::scatter_dims_to_operand_dims},
    {"index_vector_dim", &ScatterDimsAttr::index_vector_dim},
};
template <>
inline constexpr RecordField<ChannelHandleAttr> kRecordFields<ChannelHandleAttr>[] = {
    {"handle", &ChannelHandleAttr::handle, "channel_id"},
    {"type", &ChannelHandleAttr::type, "channel_type"},
};
template <>
inline constexpr RecordField<OutputAliasAttr> kRecordFields<OutputAliasAttr>[] = {
    {"output_tuple_indices", &OutputAliasAttr::output_tuple_indices},
    {"operand_index", &OutputAliasAttr::operand_index},
    {"operand_tuple_indices", &OutputAliasAttr::operand_tuple_indices},
};
template <>
inline constexpr RecordField<ResultAccuracyAttr> kRecordFields<ResultAccuracyAttr>[] = {
    {"atol", &ResultAccuracyAttr::atol},
    {"rtol", &ResultAccuracyAttr::rtol},
    {"ulps", &ResultAccuracyAttr::ulps},
    {"mode", &ResultAccuracyAttr::mode},
};

// Calls f(name of the attribute, an empty record) for each record that VHLO spells as one attribute
// for each field in operations of this kind.
template <class F>
void for_each_vhlo_record(OpKind kind, F f) {
  switch (kind) {
    case OpKind::kConvolution:
    case OpKind::kDynamicConv:
      return f("dimension_numbers", ConvDimsAttr());
    case OpKind::kDotGeneral:
      f("dot_dimension_numbers", DotDimsAttr());
      return f("algorithm", DotAlgorithmAttr());
    case OpKind::kGather:
    case OpKind::kDynamicGather:
      return f("dimension_numbers", GatherDimsAttr());
    case OpKind::kScatter:
      return f("scatter_dimension_numbers", ScatterDimsAttr());
    case OpKind::kSend:
    case OpKind::kRecv:
      return f("channel_handle", ChannelHandleAttr());
    default:
      return;
  }
}

}  // namespace millrace::devices::stablehlo::ir
