#include "millrace/devices/cpu/bytecode/attribute_rules.h"

#include <unordered_map>

namespace millrace::devices::cpu::bytecode {
namespace {

using K = ir::OpKind;

// Those of one operation stand behind those of any.
constexpr AttributeRule kRules[] = {
    {"api_version", Role::kApiVersion, Default::kOriginal},
    {"backend_config", Role::kPlain, Default::kEmptyConfig},
    {"base_dilations", Role::kInts, Default::kOnes},
    {"broadcast_dimensions", Role::kInts},
    {"broadcast_sizes", Role::kInts},
    {"callee", Role::kSymbol},
    {"called_computations", Role::kSymbols, Default::kEmptyArray},
    {"channel_id", Role::kChannelId, Default::kZero},
    {"compare_type", Role::kPlain, Default::kNoType},
    {"composite_attributes", Role::kPlain, Default::kEmptyDict},
    {"decomposition", Role::kSymbol},
    {"edge_padding_high", Role::kInts},
    {"edge_padding_low", Role::kInts},
    {"fft_length", Role::kInts},
    {"has_dynamic_root", Role::kUnit, Default::kFalse},
    {"has_side_effect", Role::kPlain, Default::kFalse},
    {"indices_are_sorted", Role::kPlain, Default::kFalse},
    {"infeed_config", Role::kPlain, Default::kEmptyString},
    {"interior_padding", Role::kInts},
    {"is_host_transfer", Role::kPlain, Default::kFalse},
    {"is_stable", Role::kPlain, Default::kFalse},
    {"known_expanding_dimensions", Role::kInts, Default::kNoInts},
    {"known_nonexpanding_dimensions", Role::kInts, Default::kNoInts},
    {"layout", Role::kPlain, Default::kEmptyArray},
    {"lhs_dilation", Role::kInts, Default::kOnes},
    {"limit_indices", Role::kInts},
    {"operand_layouts", Role::kPlain, Default::kEmptyArray},
    {"outfeed_config", Role::kPlain, Default::kEmptyString},
    {"output_operand_aliases", Role::kPlain, Default::kEmptyArray},
    {"padding", Role::kPlain, Default::kZeros},
    {"permutation", Role::kInts},
    {"precision_config", Role::kPlain, Default::kPrecision},
    {"result_accuracy", Role::kPlain, Default::kAccuracy},
    {"result_layouts", Role::kPlain, Default::kEmptyArray},
    {"result_tilings", Role::kPlain, Default::kEmptyArray},
    {"rhs_dilation", Role::kInts, Default::kOnes},
    {"slice_sizes", Role::kInts},
    {"start_indices", Role::kInts},
    {"strides", Role::kInts},
    {"unique_indices", Role::kPlain, Default::kFalse},
    {"use_global_device_ids", Role::kUnit, Default::kFalse},
    {"window_dilations", Role::kInts, Default::kOnes},
    {"window_dimensions", Role::kInts},
    {"window_reversal", Role::kBools, Default::kFalses},
    {"window_strides", Role::kInts, Default::kOnes},
    // Fields of records.
    {"accumulation_type", Role::kField},
    {"allow_imprecise_accumulation", Role::kField},
    {"channel_type", Role::kField},
    {"collapsed_slice_dims", Role::kField},
    {"index_vector_dim", Role::kField},
    {"input_batch_dimension", Role::kField},
    {"input_batching_dims", Role::kField},
    {"input_feature_dimension", Role::kField},
    {"input_spatial_dimensions", Role::kField},
    {"inserted_window_dims", Role::kField},
    {"kernel_input_feature_dimension", Role::kField},
    {"kernel_output_feature_dimension", Role::kField},
    {"kernel_spatial_dimensions", Role::kField},
    {"lhs_batching_dimensions", Role::kField},
    {"lhs_component_count", Role::kField},
    {"lhs_contracting_dimensions", Role::kField},
    {"lhs_precision_type", Role::kField},
    {"num_primitive_operations", Role::kField},
    {"offset_dims", Role::kField},
    {"operand_batching_dims", Role::kField},
    {"output_batch_dimension", Role::kField},
    {"output_feature_dimension", Role::kField},
    {"output_spatial_dimensions", Role::kField},
    {"rhs_batching_dimensions", Role::kField},
    {"rhs_component_count", Role::kField},
    {"rhs_contracting_dimensions", Role::kField},
    {"rhs_precision_type", Role::kField},
    {"scatter_dims_to_operand_dims", Role::kField},
    {"scatter_indices_batching_dims", Role::kField},
    {"start_index_map", Role::kField},
    {"start_indices_batching_dims", Role::kField},
    {"update_window_dims", Role::kField},
    // Of one operation.
    {"channel_id", Role::kField, Default::kNone, K::kRecv},
    {"channel_id", Role::kField, Default::kNone, K::kSend},
    {"dimension", Role::kPlain, Default::kMinusOne, K::kSort},
    {"dimensions", Role::kInts, Default::kNone, K::kMap},
    {"dimensions", Role::kInts, Default::kNone, K::kReduce},
    {"dimensions", Role::kInts, Default::kNone, K::kReverse},
    {"lower", Role::kPlain, Default::kFalse, K::kCholesky},
    {"source_target_pairs", Role::kPlain, Default::kNoInts, K::kRecv},
    {"source_target_pairs", Role::kPlain, Default::kNoInts, K::kSend},
    {"version", Role::kPlain, Default::kZero, K::kComposite},
};

constexpr AttributeRule kPlainRule = {"", Role::kPlain};

using Index = std::unordered_multimap<std::string_view, const AttributeRule*>;

}  // namespace

const AttributeRule& attribute_rule(ir::OpKind kind, std::string_view name) {
  static const Index* all = [] {
    auto* made = new Index;
    for (const AttributeRule& rule : kRules) made->emplace(rule.name, &rule);
    return made;
  }();
  const AttributeRule* best = &kPlainRule;
  const auto [begin, end] = all->equal_range(name);
  for (auto it = begin; it != end; ++it) {
    if (it->second->only == kind) return *it->second;
    if (it->second->only == K::kOther) best = it->second;
  }
  return *best;
}

}  // namespace millrace::devices::cpu::bytecode
