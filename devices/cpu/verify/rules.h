// Rules: for each operation, what its operands, attributes, regions and results must be. A rule
// runs after the generic checks of verify.cc: every region of StableHLO's and CHLO's ops has one
// block with a terminator, and where the rule says `tensors` all operands and results are ranked.
#pragma once

#include "millrace/devices/cpu/ir/op_kind.h"
#include "millrace/devices/cpu/verify/check.h"

namespace millrace::devices::cpu::verify {

using RuleFunction = bool (*)(Check&);

struct Rule {
  RuleFunction check = nullptr;  // nullptr: only the generic checks
  bool tensors = true;           // operands and results are ranked tensors
};

// By the kind; by the name for the ops of other dialects that are passed through.
const Rule& rule_of(const ir::Op& op);

// elementwise.cc: all ops that work element by element.
bool check_elementwise(Check& c);
bool is_elementwise(ir::OpKind kind);

// movement.cc
bool check_constant(Check& c);
bool check_iota(Check& c);
bool check_reshape(Check& c);
// What of it dynamic_reshape shares.
bool reshaped_element(Check& c);
bool check_broadcast_in_dim(Check& c);
// The rule of broadcast_in_dim for operand 0 and the result, whatever other operands there are.
bool check_broadcast(Check& c, std::string_view dimensions);
bool check_transpose(Check& c);
bool check_reverse(Check& c);
bool check_slice(Check& c);
bool check_dynamic_slice(Check& c);
bool check_dynamic_update_slice(Check& c);
bool check_concatenate(Check& c);
bool check_pad(Check& c);
bool check_bitcast_convert(Check& c);

// linear.cc
bool check_dot_general(Check& c);
bool check_convolution(Check& c);
bool check_dynamic_conv(Check& c);

// window.cc
bool check_reduce(Check& c);
bool check_reduce_window(Check& c);
bool check_select_and_scatter(Check& c);
bool check_sort(Check& c);
bool check_map(Check& c);

// indexing.cc
bool check_gather(Check& c);
bool check_dynamic_gather(Check& c);
bool check_scatter(Check& c);

// chlo.cc: the elementwise operations of CHLO, select, top_k, ragged_dot
// and scan.
bool check_chlo_elementwise(Check& c);
bool is_chlo_elementwise(ir::OpKind kind);
bool check_broadcast_select(Check& c);
bool check_top_k(Check& c);
bool check_ragged_dot(Check& c);
bool check_scan(Check& c);

// algebra.cc
bool check_cholesky(Check& c);
bool check_triangular_solve(Check& c);
bool check_fft(Check& c);
bool check_dot(Check& c);
bool check_einsum(Check& c);
bool check_rng(Check& c);
bool check_rng_bit_generator(Check& c);
bool check_batch_norm_inference(Check& c);
bool check_batch_norm_training(Check& c);
bool check_batch_norm_grad(Check& c);

// dynamic.cc
bool check_dynamic_iota(Check& c);
bool check_dynamic_reshape(Check& c);
bool check_dynamic_broadcast_in_dim(Check& c);
bool check_broadcast_op(Check& c);
bool check_dynamic_pad(Check& c);
bool check_real_dynamic_slice(Check& c);
bool check_get_dimension_size(Check& c);
bool check_set_dimension_size(Check& c);
bool check_torch_index_select(Check& c);
bool check_uniform(Check& c);

// control.cc
bool check_while(Check& c);
bool check_if(Check& c);
bool check_case(Check& c);
bool check_call(Check& c);
bool check_composite(Check& c);
bool check_custom_call(Check& c);
bool check_tuple(Check& c);
bool check_get_tuple_element(Check& c);
bool check_optimization_barrier(Check& c);
// The types of `found`, each compatible with that of `expected` at its place.
bool same_list(Check& c, std::span<const ir::Type> found, std::span<const ir::Type> expected,
               std::string_view what);
std::vector<ir::Type> operand_types(const Check& c);
std::vector<ir::Type> result_types(const Check& c);

// collective.cc: among processes, and on tokens
bool check_all_gather(Check& c);
bool check_all_reduce(Check& c);
bool check_collective_reduce(Check& c);
bool check_collective_broadcast(Check& c);
bool check_all_to_all(Check& c);
bool check_reduce_scatter(Check& c);
bool check_same_types(Check& c);  // each result is what the operand at its place is
bool check_collective_permute(Check& c);
bool check_process_id(Check& c);   // replica_id, partition_id
bool check_tokens(Check& c);       // after_all, create_token
bool check_takes_token(Check& c);  // outfeed, send: the last operand, the only result
bool check_gives_token(Check& c);  // infeed, recv: the only operand, the last result
bool check_async_start(Check& c);
bool check_async_done(Check& c);
bool check_manual_computation(Check& c);  // sdy's, on one device

// The extent of a dimension after dilation, padding and a window with a stride, as convolution and
// reduce_window have it (StableHLO, "convolution"); kDynamic if the extent is. False (with an
// error) if a number is out of range.
struct Window {
  std::int64_t size = 1, stride = 1, base_dilation = 1, window_dilation = 1, low = 0, high = 0;
};
bool windowed_extent(Check& c, std::int64_t extent, const Window& window, std::int64_t* out);

}  // namespace millrace::devices::cpu::verify
