#include "millrace/devices/cpu/verify/rules.h"

#include <array>

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
};

std::array<Rule, ir::kOpKinds> make_table() {
  std::array<Rule, ir::kOpKinds> table{};
  for (Rule& rule : table) rule.tensors = false;
  for (const Entry& e : kEntries) table[static_cast<std::size_t>(e.kind)] = e.rule;
  for (int i = 1; i < ir::kOpKinds; ++i) {
    if (is_elementwise(static_cast<OpKind>(i)))
      table[static_cast<std::size_t>(i)] = {check_elementwise};
  }
  return table;
}

}  // namespace

const Rule& rule_of(OpKind kind) {
  static const std::array<Rule, ir::kOpKinds> table = make_table();
  return table[static_cast<std::size_t>(kind)];
}

}  // namespace millrace::devices::cpu::verify
