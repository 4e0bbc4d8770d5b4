#include "millrace/devices/cpu/verify/rules.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace millrace::devices::cpu::verify {
namespace {

using ir::OpKind;

struct Entry {
  OpKind kind;
  Rule rule;
};

constexpr Entry kEntries[] = {
    {OpKind::kConstant, {check_constant}},
    {OpKind::kIota, {check_iota}},
    {OpKind::kReshape, {check_reshape}},
    {OpKind::kBroadcastInDim, {check_broadcast_in_dim}},
    {OpKind::kTranspose, {check_transpose}},
    {OpKind::kReverse, {check_reverse}},
    {OpKind::kSlice, {check_slice}},
    {OpKind::kDynamicSlice, {check_dynamic_slice}},
    {OpKind::kDynamicUpdateSlice, {check_dynamic_update_slice}},
    {OpKind::kConcatenate, {check_concatenate}},
    {OpKind::kPad, {check_pad}},
    {OpKind::kBitcastConvert, {check_bitcast_convert}},
    {OpKind::kDotGeneral, {check_dot_general}},
    {OpKind::kConvolution, {check_convolution}},
    {OpKind::kReduce, {check_reduce}},
    {OpKind::kReduceWindow, {check_reduce_window}},
    {OpKind::kSelectAndScatter, {check_select_and_scatter}},
    {OpKind::kSort, {check_sort}},
    {OpKind::kMap, {check_map}},
    {OpKind::kGather, {check_gather}},
    {OpKind::kDynamicGather, {check_dynamic_gather}},
    {OpKind::kDynamicConv, {check_dynamic_conv}},
    {OpKind::kChloTopK, {check_top_k}},
    {OpKind::kChloBroadcastSelect, {check_broadcast_select}},
    {OpKind::kChloRaggedDot, {check_ragged_dot}},
    {OpKind::kChloScan, {check_scan}},
    {OpKind::kCholesky, {check_cholesky}},
    {OpKind::kTriangularSolve, {check_triangular_solve}},
    {OpKind::kFft, {check_fft}},
    {OpKind::kDot, {check_dot}},
    {OpKind::kEinsum, {check_einsum}},
    {OpKind::kUnaryEinsum, {check_einsum}},
    {OpKind::kRng, {check_rng}},
    {OpKind::kRngBitGenerator, {check_rng_bit_generator}},
    {OpKind::kBatchNormInference, {check_batch_norm_inference}},
    {OpKind::kBatchNormTraining, {check_batch_norm_training}},
    {OpKind::kBatchNormGrad, {check_batch_norm_grad}},
    {OpKind::kDynamicIota, {check_dynamic_iota}},
    {OpKind::kDynamicReshape, {check_dynamic_reshape}},
    {OpKind::kDynamicBroadcastInDim, {check_dynamic_broadcast_in_dim}},
    {OpKind::kBroadcast, {check_broadcast_op}},
    {OpKind::kDynamicPad, {check_dynamic_pad}},
    {OpKind::kRealDynamicSlice, {check_real_dynamic_slice}},
    {OpKind::kGetDimensionSize, {check_get_dimension_size}},
    {OpKind::kSetDimensionSize, {check_set_dimension_size}},
    {OpKind::kTorchIndexSelect, {check_torch_index_select}},
    {OpKind::kUniformQuantize, {check_uniform}},
    {OpKind::kUniformDequantize, {check_uniform}},
    {OpKind::kScatter, {check_scatter}},
    {OpKind::kWhile, {check_while, false}},
    {OpKind::kIf, {check_if, false}},
    {OpKind::kCase, {check_case, false}},
    {OpKind::kCall, {check_call, false}},
    {OpKind::kComposite, {check_composite, false}},
    {OpKind::kCustomCall, {check_custom_call, false}},
    {OpKind::kTuple, {check_tuple, false}},
    {OpKind::kGetTupleElement, {check_get_tuple_element, false}},
    {OpKind::kOptimizationBarrier, {check_optimization_barrier, false}},
    {OpKind::kAllGather, {check_all_gather}},
    {OpKind::kAllReduce, {check_all_reduce}},
    {OpKind::kAllToAll, {check_all_to_all}},
    {OpKind::kReduceScatter, {check_reduce_scatter}},
    {OpKind::kCollectiveBroadcast, {check_collective_broadcast}},
    {OpKind::kCollectiveReduce, {check_collective_reduce}},
    {OpKind::kCollectivePermute, {check_collective_permute}},
    {OpKind::kCrossReplicaSum, {check_same_types}},
    {OpKind::kReplicaId, {check_process_id}},
    {OpKind::kPartitionId, {check_process_id}},
    {OpKind::kAfterAll, {check_tokens, false}},
    {OpKind::kCreateToken, {check_tokens, false}},
    {OpKind::kOutfeed, {check_takes_token, false}},
    {OpKind::kSend, {check_takes_token, false}},
    {OpKind::kInfeed, {check_gives_token, false}},
    {OpKind::kRecv, {check_gives_token, false}},
    {OpKind::kAsyncStart, {check_async_start, false}},
    {OpKind::kAsyncDone, {check_async_done, false}},
};

// Ops of other dialects: what says where arrays lie, and casts between types that mean the same.
struct NamedEntry {
  std::string_view name;
  Rule rule;
};
constexpr NamedEntry kNamed[] = {
    {"sdy.sharding_constraint", {check_same_types, false}},
    {"sdy.reshard", {check_same_types, false}},
    {"sdy.data_flow_edge", {check_same_types, false}},
    {"sdy.propagation_barrier", {check_same_types, false}},
    {"builtin.unrealized_conversion_cast", {check_same_types, false}},
    {"sdy.manual_computation", {check_manual_computation, false}},
};

std::array<Rule, ir::kOpKinds> make_table() {
  std::array<Rule, ir::kOpKinds> table{};
  for (Rule& rule : table) rule.tensors = false;
  for (const Entry& e : kEntries) table[static_cast<std::size_t>(e.kind)] = e.rule;
  for (int i = 1; i < ir::kOpKinds; ++i) {
    if (is_elementwise(static_cast<OpKind>(i)))
      table[static_cast<std::size_t>(i)] = {check_elementwise};
    if (is_chlo_elementwise(static_cast<OpKind>(i)))
      table[static_cast<std::size_t>(i)] = {check_chlo_elementwise};
  }
  return table;
}

}  // namespace

const Rule& rule_of(const ir::Op& op) {
  static const std::array<Rule, ir::kOpKinds> table = make_table();
  if (op.kind() == OpKind::kOther) {
    const auto* named = std::ranges::find(kNamed, op.name(), &NamedEntry::name);
    if (named != std::end(kNamed)) return named->rule;
  }
  return table[static_cast<std::size_t>(op.kind())];
}

}  // namespace millrace::devices::cpu::verify
