#include "millrace/devices/cpu/bytecode/vhlo_ops.h"

#include <charconv>
#include <string>
#include <unordered_map>

namespace millrace::devices::cpu::bytecode {
namespace {

using K = ir::OpKind;

constexpr Version kLatest = {999999, 0, 0};

// Sorted by name and revision.
constexpr VhloOp kOps[] = {
    {"abs", 1, K::kAbs, {0, 9, 0}, kLatest, ""},
    {"add", 1, K::kAdd, {0, 9, 0}, kLatest, ""},
    {"after_all", 1, K::kAfterAll, {0, 9, 0}, kLatest, ""},
    {"all_gather",
     1,
     K::kAllGather,
     {0, 9, 0},
     {1, 4, 0},
     "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"all_gather",
     2,
     K::kAllGather,
     {1, 5, 0},
     kLatest,
     "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"all_reduce",
     1,
     K::kAllReduce,
     {0, 9, 0},
     {1, 4, 0},
     "channel_id replica_groups use_global_device_ids"},
    {"all_reduce",
     2,
     K::kAllReduce,
     {1, 5, 0},
     kLatest,
     "channel_id replica_groups use_global_device_ids"},
    {"all_to_all",
     1,
     K::kAllToAll,
     {0, 9, 0},
     {1, 4, 0},
     "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"all_to_all",
     2,
     K::kAllToAll,
     {1, 5, 0},
     kLatest,
     "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"and", 1, K::kAnd, {0, 9, 0}, kLatest, ""},
    {"async_done", 1, K::kAsyncDone, {1, 15, 0}, kLatest, ""},
    {"async_start", 1, K::kAsyncStart, {1, 15, 0}, kLatest, ""},
    {"atan2", 1, K::kAtan2, {0, 9, 0}, kLatest, ""},
    {"batch_norm_grad", 1, K::kBatchNormGrad, {0, 9, 0}, kLatest, "epsilon feature_index"},
    {"batch_norm_inference",
     1,
     K::kBatchNormInference,
     {0, 9, 0},
     kLatest,
     "epsilon feature_index"},
    {"batch_norm_training", 1, K::kBatchNormTraining, {0, 9, 0}, kLatest, "epsilon feature_index"},
    {"bitcast_convert", 1, K::kBitcastConvert, {0, 9, 0}, kLatest, ""},
    {"broadcast", 1, K::kBroadcast, {0, 9, 0}, kLatest, "broadcast_sizes"},
    {"broadcast_in_dim", 1, K::kBroadcastInDim, {0, 9, 0}, kLatest, "broadcast_dimensions"},
    {"call", 1, K::kCall, {0, 9, 0}, kLatest, "callee"},
    {"case", 1, K::kCase, {0, 9, 0}, kLatest, ""},
    {"cbrt", 1, K::kCbrt, {0, 9, 0}, {1, 9, 0}, ""},
    {"cbrt", 2, K::kCbrt, {1, 10, 0}, kLatest, "result_accuracy"},
    {"ceil", 1, K::kCeil, {0, 9, 0}, kLatest, ""},
    {"cholesky", 1, K::kCholesky, {0, 9, 0}, kLatest, "lower"},
    {"clamp", 1, K::kClamp, {0, 9, 0}, kLatest, ""},
    {"collective_broadcast",
     1,
     K::kCollectiveBroadcast,
     {0, 16, 0},
     {1, 19, 0},
     "channel_id replica_groups"},
    {"collective_broadcast",
     2,
     K::kCollectiveBroadcast,
     {1, 20, 0},
     kLatest,
     "channel_id has_dynamic_root replica_groups"},
    {"collective_permute",
     1,
     K::kCollectivePermute,
     {0, 9, 0},
     kLatest,
     "channel_id source_target_pairs"},
    {"collective_reduce",
     1,
     K::kCollectiveReduce,
     {1, 19, 0},
     kLatest,
     "channel_id has_dynamic_root replica_groups use_global_device_ids"},
    {"compare", 1, K::kCompare, {0, 9, 0}, kLatest, "compare_type comparison_direction"},
    {"complex", 1, K::kComplex, {0, 9, 0}, kLatest, ""},
    {"composite",
     1,
     K::kComposite,
     {0, 19, 0},
     {1, 13, 0},
     "composite_attributes decomposition name version"},
    {"composite",
     2,
     K::kComposite,
     {1, 14, 0},
     kLatest,
     "composite_attributes decomposition name version"},
    {"concatenate", 1, K::kConcatenate, {0, 9, 0}, kLatest, "dimension"},
    {"constant", 1, K::kConstant, {0, 9, 0}, kLatest, "value"},
    {"convert", 1, K::kConvert, {0, 9, 0}, kLatest, ""},
    {"convolution",
     1,
     K::kConvolution,
     {0, 9, 0},
     kLatest,
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions padding precision_config rhs_dilation window_reversal "
     "window_strides"},
    {"cosine", 1, K::kCosine, {0, 9, 0}, {1, 9, 0}, ""},
    {"cosine", 2, K::kCosine, {1, 10, 0}, kLatest, "result_accuracy"},
    {"count_leading_zeros", 1, K::kCountLeadingZeros, {0, 9, 0}, kLatest, ""},
    {"create_token", 1, K::kCreateToken, {0, 9, 0}, kLatest, ""},
    {"cross-replica-sum", 1, K::kCrossReplicaSum, {0, 9, 0}, kLatest, "replica_groups"},
    {"custom_call",
     1,
     K::kCustomCall,
     {0, 9, 0},
     {1, 17, 0},
     "api_version backend_config call_target_name called_computations has_side_effect "
     "operand_layouts output_operand_aliases result_layouts"},
    {"custom_call",
     2,
     K::kCustomCall,
     {1, 18, 0},
     kLatest,
     "api_version backend_config call_target_name called_computations has_side_effect "
     "operand_layouts output_operand_aliases result_layouts result_tilings"},
    {"divide", 1, K::kDivide, {0, 9, 0}, kLatest, ""},
    {"dot", 1, K::kDot, {0, 9, 0}, kLatest, "precision_config"},
    {"dot_general",
     1,
     K::kDotGeneral,
     {0, 9, 0},
     {1, 5, 0},
     "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions "
     "rhs_contracting_dimensions"},
    {"dot_general",
     2,
     K::kDotGeneral,
     {1, 6, 0},
     kLatest,
     "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count "
     "lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config "
     "rhs_batching_dimensions rhs_component_count rhs_contracting_dimensions rhs_precision_type"},
    {"dynamic_broadcast_in_dim",
     1,
     K::kDynamicBroadcastInDim,
     {0, 9, 0},
     kLatest,
     "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
    {"dynamic_conv",
     1,
     K::kDynamicConv,
     {0, 9, 0},
     {0, 19, 0},
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions padding precision_config rhs_dilation window_reversal "
     "window_strides"},
    {"dynamic_conv",
     2,
     K::kDynamicConv,
     {0, 20, 0},
     kLatest,
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions precision_config rhs_dilation window_reversal window_strides"},
    {"dynamic_gather",
     1,
     K::kDynamicGather,
     {0, 9, 0},
     {1, 0, 0},
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map"},
    {"dynamic_gather",
     2,
     K::kDynamicGather,
     {1, 1, 0},
     kLatest,
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims "
     "start_index_map start_indices_batching_dims"},
    {"dynamic_iota", 1, K::kDynamicIota, {0, 9, 0}, kLatest, "iota_dimension"},
    {"dynamic_pad", 1, K::kDynamicPad, {0, 9, 0}, kLatest, ""},
    {"dynamic_reshape", 1, K::kDynamicReshape, {0, 9, 0}, kLatest, ""},
    {"dynamic_slice", 1, K::kDynamicSlice, {0, 9, 0}, kLatest, "slice_sizes"},
    {"dynamic_update_slice", 1, K::kDynamicUpdateSlice, {0, 9, 0}, kLatest, ""},
    {"einsum", 1, K::kEinsum, {0, 9, 0}, kLatest, "einsum_config"},
    {"exponential", 1, K::kExponential, {0, 9, 0}, {1, 8, 0}, ""},
    {"exponential", 2, K::kExponential, {1, 9, 0}, kLatest, "result_accuracy"},
    {"exponential_minus_one", 1, K::kExponentialMinusOne, {0, 9, 0}, {1, 9, 0}, ""},
    {"exponential_minus_one", 2, K::kExponentialMinusOne, {1, 10, 0}, kLatest, "result_accuracy"},
    {"fft", 1, K::kFft, {0, 9, 0}, kLatest, "fft_length fft_type"},
    {"floor", 1, K::kFloor, {0, 9, 0}, kLatest, ""},
    {"func",
     1,
     K::kOther,
     {0, 9, 0},
     kLatest,
     "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"gather",
     1,
     K::kGather,
     {0, 9, 0},
     {1, 0, 0},
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes "
     "start_index_map"},
    {"gather",
     2,
     K::kGather,
     {1, 1, 0},
     kLatest,
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims "
     "slice_sizes start_index_map start_indices_batching_dims"},
    {"get_dimension_size", 1, K::kGetDimensionSize, {0, 9, 0}, kLatest, "dimension"},
    {"get_tuple_element", 1, K::kGetTupleElement, {0, 9, 0}, kLatest, "index"},
    {"if", 1, K::kIf, {0, 9, 0}, kLatest, ""},
    {"imag", 1, K::kImag, {0, 9, 0}, kLatest, ""},
    {"infeed", 1, K::kInfeed, {0, 9, 0}, kLatest, "infeed_config layout"},
    {"iota", 1, K::kIota, {0, 9, 0}, kLatest, "iota_dimension"},
    {"is_finite", 1, K::kIsFinite, {0, 9, 0}, kLatest, ""},
    {"log", 1, K::kLog, {0, 9, 0}, {1, 9, 0}, ""},
    {"log", 2, K::kLog, {1, 10, 0}, kLatest, "result_accuracy"},
    {"log_plus_one", 1, K::kLogPlusOne, {0, 9, 0}, {1, 9, 0}, ""},
    {"log_plus_one", 2, K::kLogPlusOne, {1, 10, 0}, kLatest, "result_accuracy"},
    {"logistic", 1, K::kLogistic, {0, 9, 0}, {1, 9, 0}, ""},
    {"logistic", 2, K::kLogistic, {1, 10, 0}, kLatest, "result_accuracy"},
    {"map", 1, K::kMap, {0, 9, 0}, kLatest, "dimensions"},
    {"maximum", 1, K::kMaximum, {0, 9, 0}, kLatest, ""},
    {"minimum", 1, K::kMinimum, {0, 9, 0}, kLatest, ""},
    {"multiply", 1, K::kMultiply, {0, 9, 0}, kLatest, ""},
    {"negate", 1, K::kNegate, {0, 9, 0}, kLatest, ""},
    {"not", 1, K::kNot, {0, 9, 0}, kLatest, ""},
    {"optimization_barrier", 1, K::kOptimizationBarrier, {0, 9, 0}, kLatest, ""},
    {"or", 1, K::kOr, {0, 9, 0}, kLatest, ""},
    {"outfeed", 1, K::kOutfeed, {0, 9, 0}, kLatest, "outfeed_config"},
    {"pad", 1, K::kPad, {0, 9, 0}, kLatest, "edge_padding_high edge_padding_low interior_padding"},
    {"partition_id", 1, K::kPartitionId, {0, 9, 0}, kLatest, ""},
    {"popcnt", 1, K::kPopcnt, {0, 9, 0}, kLatest, ""},
    {"power", 1, K::kPower, {0, 9, 0}, kLatest, ""},
    {"real", 1, K::kReal, {0, 9, 0}, kLatest, ""},
    {"real_dynamic_slice", 1, K::kRealDynamicSlice, {0, 9, 0}, kLatest, ""},
    {"recv", 1, K::kRecv, {0, 9, 0}, {1, 11, 0}, "channel_id channel_type is_host_transfer"},
    {"recv",
     2,
     K::kRecv,
     {1, 12, 0},
     kLatest,
     "channel_id channel_type is_host_transfer source_target_pairs"},
    {"reduce", 1, K::kReduce, {0, 9, 0}, kLatest, "dimensions"},
    {"reduce_precision", 1, K::kReducePrecision, {0, 9, 0}, kLatest, "exponent_bits mantissa_bits"},
    {"reduce_scatter",
     1,
     K::kReduceScatter,
     {0, 9, 0},
     kLatest,
     "channel_id replica_groups scatter_dimension use_global_device_ids"},
    {"reduce_window",
     1,
     K::kReduceWindow,
     {0, 9, 0},
     kLatest,
     "base_dilations padding window_dilations window_dimensions window_strides"},
    {"remainder", 1, K::kRemainder, {0, 9, 0}, kLatest, ""},
    {"replica_id", 1, K::kReplicaId, {0, 9, 0}, kLatest, ""},
    {"reshape", 1, K::kReshape, {0, 9, 0}, kLatest, ""},
    {"return", 1, K::kReturn, {0, 9, 0}, kLatest, ""},
    {"reverse", 1, K::kReverse, {0, 9, 0}, kLatest, "dimensions"},
    {"rng", 1, K::kRng, {0, 9, 0}, kLatest, "rng_distribution"},
    {"rng_bit_generator", 1, K::kRngBitGenerator, {0, 9, 0}, kLatest, "rng_algorithm"},
    {"round_nearest_afz", 1, K::kRoundNearestAfz, {0, 9, 0}, kLatest, ""},
    {"round_nearest_even", 1, K::kRoundNearestEven, {0, 9, 0}, kLatest, ""},
    {"rsqrt", 1, K::kRsqrt, {0, 9, 0}, {1, 9, 0}, ""},
    {"rsqrt", 2, K::kRsqrt, {1, 10, 0}, kLatest, "result_accuracy"},
    {"scatter",
     1,
     K::kScatter,
     {0, 9, 0},
     {1, 0, 0},
     "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims "
     "unique_indices update_window_dims"},
    {"scatter",
     2,
     K::kScatter,
     {1, 1, 0},
     kLatest,
     "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims "
     "scatter_dims_to_operand_dims scatter_indices_batching_dims unique_indices "
     "update_window_dims"},
    {"select", 1, K::kSelect, {0, 9, 0}, kLatest, ""},
    {"select_and_scatter",
     1,
     K::kSelectAndScatter,
     {0, 9, 0},
     kLatest,
     "padding window_dimensions window_strides"},
    {"send", 1, K::kSend, {0, 9, 0}, {1, 11, 0}, "channel_id channel_type is_host_transfer"},
    {"send",
     2,
     K::kSend,
     {1, 12, 0},
     kLatest,
     "channel_id channel_type is_host_transfer source_target_pairs"},
    {"set_dimension_size", 1, K::kSetDimensionSize, {0, 9, 0}, kLatest, "dimension"},
    {"shift_left", 1, K::kShiftLeft, {0, 9, 0}, kLatest, ""},
    {"shift_right_arithmetic", 1, K::kShiftRightArithmetic, {0, 9, 0}, kLatest, ""},
    {"shift_right_logical", 1, K::kShiftRightLogical, {0, 9, 0}, kLatest, ""},
    {"sign", 1, K::kSign, {0, 9, 0}, kLatest, ""},
    {"sine", 1, K::kSine, {0, 9, 0}, {1, 9, 0}, ""},
    {"sine", 2, K::kSine, {1, 10, 0}, kLatest, "result_accuracy"},
    {"slice", 1, K::kSlice, {0, 9, 0}, kLatest, "limit_indices start_indices strides"},
    {"sort", 1, K::kSort, {0, 9, 0}, kLatest, "dimension is_stable"},
    {"sqrt", 1, K::kSqrt, {0, 9, 0}, {1, 9, 0}, ""},
    {"sqrt", 2, K::kSqrt, {1, 10, 0}, kLatest, "result_accuracy"},
    {"subtract", 1, K::kSubtract, {0, 9, 0}, kLatest, ""},
    {"tan", 1, K::kTan, {1, 4, 0}, {1, 9, 0}, ""},
    {"tan", 2, K::kTan, {1, 10, 0}, kLatest, "result_accuracy"},
    {"tanh", 1, K::kTanh, {0, 9, 0}, {1, 9, 0}, ""},
    {"tanh", 2, K::kTanh, {1, 10, 0}, kLatest, "result_accuracy"},
    {"torch_index_select", 1, K::kTorchIndexSelect, {0, 9, 0}, kLatest, "batch_dims dim"},
    {"transpose", 1, K::kTranspose, {0, 9, 0}, kLatest, "permutation"},
    {"triangular_solve",
     1,
     K::kTriangularSolve,
     {0, 9, 0},
     kLatest,
     "left_side lower transpose_a unit_diagonal"},
    {"tuple", 1, K::kTuple, {0, 9, 0}, kLatest, ""},
    {"unary_einsum", 1, K::kUnaryEinsum, {0, 9, 0}, kLatest, "einsum_config"},
    {"uniform_dequantize", 1, K::kUniformDequantize, {0, 9, 0}, kLatest, ""},
    {"uniform_quantize", 1, K::kUniformQuantize, {0, 9, 0}, kLatest, ""},
    {"while", 1, K::kWhile, {0, 9, 0}, kLatest, ""},
    {"xor", 1, K::kXor, {0, 9, 0}, kLatest, ""},
};

using Index = std::unordered_map<std::string, const VhloOp*>;

const Index& index() {
  static const Index* made = [] {
    auto* all = new Index;
    for (const VhloOp& op : kOps)
      all->emplace(std::string(op.name) + "_v" + std::to_string(op.revision), &op);
    return all;
  }();
  return *made;
}

}  // namespace

std::span<const VhloOp> vhlo_ops() { return kOps; }

const VhloOp* find_vhlo_op(std::string_view name) {
  const auto found = index().find(std::string(name));
  return found == index().end() ? nullptr : found->second;
}

const VhloOp* find_vhlo_op(std::string_view name, Version version) {
  version.patch_part = 0;
  for (int revision = 1; revision <= 2; ++revision) {
    const VhloOp* op = find_vhlo_op(std::string(name) + "_v" + std::to_string(revision));
    if (op != nullptr && op->since <= version && version <= op->until) return op;
  }
  return nullptr;
}

std::string_view take_word(std::string_view* words) {
  const std::string_view word = words->substr(0, words->find(' '));
  words->remove_prefix(word.size() == words->size() ? word.size() : word.size() + 1);
  return word;
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    if (take_word(&words) == word) return true;
  }
  return false;
}

}  // namespace millrace::devices::cpu::bytecode
