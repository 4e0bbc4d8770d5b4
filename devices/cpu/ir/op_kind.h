// OpKind: every operation that Millrace knows by name, interned once so that passes and kernels
// switch on an integer. An operation outside the list is kOther and keeps its name in the Op. Read
// next: op.h.
#pragma once

#include <cstdint>
#include <string_view>

// X(enumerator, name in the text): the 118 StableHLO operations, CHLO, and what holds functions
// together.
#define MILLRACE_IR_OPS(X)                                                       \
  X(kAbs, "stablehlo.abs")                                                       \
  X(kAdd, "stablehlo.add")                                                       \
  X(kAfterAll, "stablehlo.after_all")                                            \
  X(kAllGather, "stablehlo.all_gather")                                          \
  X(kAllReduce, "stablehlo.all_reduce")                                          \
  X(kAllToAll, "stablehlo.all_to_all")                                           \
  X(kAnd, "stablehlo.and")                                                       \
  X(kAsyncDone, "stablehlo.async_done")                                          \
  X(kAsyncStart, "stablehlo.async_start")                                        \
  X(kAtan2, "stablehlo.atan2")                                                   \
  X(kBatchNormGrad, "stablehlo.batch_norm_grad")                                 \
  X(kBatchNormInference, "stablehlo.batch_norm_inference")                       \
  X(kBatchNormTraining, "stablehlo.batch_norm_training")                         \
  X(kBitcastConvert, "stablehlo.bitcast_convert")                                \
  X(kBroadcast, "stablehlo.broadcast")                                           \
  X(kBroadcastInDim, "stablehlo.broadcast_in_dim")                               \
  X(kCase, "stablehlo.case")                                                     \
  X(kCbrt, "stablehlo.cbrt")                                                     \
  X(kCeil, "stablehlo.ceil")                                                     \
  X(kCholesky, "stablehlo.cholesky")                                             \
  X(kClamp, "stablehlo.clamp")                                                   \
  X(kCollectiveBroadcast, "stablehlo.collective_broadcast")                      \
  X(kCollectivePermute, "stablehlo.collective_permute")                          \
  X(kCollectiveReduce, "stablehlo.collective_reduce")                            \
  X(kCompare, "stablehlo.compare")                                               \
  X(kComplex, "stablehlo.complex")                                               \
  X(kComposite, "stablehlo.composite")                                           \
  X(kConcatenate, "stablehlo.concatenate")                                       \
  X(kConstant, "stablehlo.constant")                                             \
  X(kConvert, "stablehlo.convert")                                               \
  X(kConvolution, "stablehlo.convolution")                                       \
  X(kCosine, "stablehlo.cosine")                                                 \
  X(kCountLeadingZeros, "stablehlo.count_leading_zeros")                         \
  X(kCreateToken, "stablehlo.create_token")                                      \
  X(kCrossReplicaSum, "stablehlo.cross-replica-sum")                             \
  X(kCustomCall, "stablehlo.custom_call")                                        \
  X(kDivide, "stablehlo.divide")                                                 \
  X(kDot, "stablehlo.dot")                                                       \
  X(kDotGeneral, "stablehlo.dot_general")                                        \
  X(kDynamicBroadcastInDim, "stablehlo.dynamic_broadcast_in_dim")                \
  X(kDynamicConv, "stablehlo.dynamic_conv")                                      \
  X(kDynamicGather, "stablehlo.dynamic_gather")                                  \
  X(kDynamicIota, "stablehlo.dynamic_iota")                                      \
  X(kDynamicPad, "stablehlo.dynamic_pad")                                        \
  X(kDynamicReshape, "stablehlo.dynamic_reshape")                                \
  X(kDynamicSlice, "stablehlo.dynamic_slice")                                    \
  X(kDynamicUpdateSlice, "stablehlo.dynamic_update_slice")                       \
  X(kEinsum, "stablehlo.einsum")                                                 \
  X(kExponential, "stablehlo.exponential")                                       \
  X(kExponentialMinusOne, "stablehlo.exponential_minus_one")                     \
  X(kFft, "stablehlo.fft")                                                       \
  X(kFloor, "stablehlo.floor")                                                   \
  X(kGather, "stablehlo.gather")                                                 \
  X(kGetDimensionSize, "stablehlo.get_dimension_size")                           \
  X(kGetTupleElement, "stablehlo.get_tuple_element")                             \
  X(kIf, "stablehlo.if")                                                         \
  X(kImag, "stablehlo.imag")                                                     \
  X(kInfeed, "stablehlo.infeed")                                                 \
  X(kIota, "stablehlo.iota")                                                     \
  X(kIsFinite, "stablehlo.is_finite")                                            \
  X(kLog, "stablehlo.log")                                                       \
  X(kLogPlusOne, "stablehlo.log_plus_one")                                       \
  X(kLogistic, "stablehlo.logistic")                                             \
  X(kMap, "stablehlo.map")                                                       \
  X(kMaximum, "stablehlo.maximum")                                               \
  X(kMinimum, "stablehlo.minimum")                                               \
  X(kMultiply, "stablehlo.multiply")                                             \
  X(kNegate, "stablehlo.negate")                                                 \
  X(kNot, "stablehlo.not")                                                       \
  X(kOptimizationBarrier, "stablehlo.optimization_barrier")                      \
  X(kOr, "stablehlo.or")                                                         \
  X(kOutfeed, "stablehlo.outfeed")                                               \
  X(kPad, "stablehlo.pad")                                                       \
  X(kPartitionId, "stablehlo.partition_id")                                      \
  X(kPopcnt, "stablehlo.popcnt")                                                 \
  X(kPower, "stablehlo.power")                                                   \
  X(kReal, "stablehlo.real")                                                     \
  X(kRealDynamicSlice, "stablehlo.real_dynamic_slice")                           \
  X(kRecv, "stablehlo.recv")                                                     \
  X(kReduce, "stablehlo.reduce")                                                 \
  X(kReducePrecision, "stablehlo.reduce_precision")                              \
  X(kReduceScatter, "stablehlo.reduce_scatter")                                  \
  X(kReduceWindow, "stablehlo.reduce_window")                                    \
  X(kRemainder, "stablehlo.remainder")                                           \
  X(kReplicaId, "stablehlo.replica_id")                                          \
  X(kReshape, "stablehlo.reshape")                                               \
  X(kReturn, "stablehlo.return")                                                 \
  X(kReverse, "stablehlo.reverse")                                               \
  X(kRng, "stablehlo.rng")                                                       \
  X(kRngBitGenerator, "stablehlo.rng_bit_generator")                             \
  X(kRoundNearestAfz, "stablehlo.round_nearest_afz")                             \
  X(kRoundNearestEven, "stablehlo.round_nearest_even")                           \
  X(kRsqrt, "stablehlo.rsqrt")                                                   \
  X(kScatter, "stablehlo.scatter")                                               \
  X(kSelect, "stablehlo.select")                                                 \
  X(kSelectAndScatter, "stablehlo.select_and_scatter")                           \
  X(kSend, "stablehlo.send")                                                     \
  X(kSetDimensionSize, "stablehlo.set_dimension_size")                           \
  X(kShiftLeft, "stablehlo.shift_left")                                          \
  X(kShiftRightArithmetic, "stablehlo.shift_right_arithmetic")                   \
  X(kShiftRightLogical, "stablehlo.shift_right_logical")                         \
  X(kSign, "stablehlo.sign")                                                     \
  X(kSine, "stablehlo.sine")                                                     \
  X(kSlice, "stablehlo.slice")                                                   \
  X(kSort, "stablehlo.sort")                                                     \
  X(kSqrt, "stablehlo.sqrt")                                                     \
  X(kSubtract, "stablehlo.subtract")                                             \
  X(kTan, "stablehlo.tan")                                                       \
  X(kTanh, "stablehlo.tanh")                                                     \
  X(kTorchIndexSelect, "stablehlo.torch_index_select")                           \
  X(kTranspose, "stablehlo.transpose")                                           \
  X(kTriangularSolve, "stablehlo.triangular_solve")                              \
  X(kTuple, "stablehlo.tuple")                                                   \
  X(kUnaryEinsum, "stablehlo.unary_einsum")                                      \
  X(kUniformDequantize, "stablehlo.uniform_dequantize")                          \
  X(kUniformQuantize, "stablehlo.uniform_quantize")                              \
  X(kWhile, "stablehlo.while")                                                   \
  X(kXor, "stablehlo.xor")                                                       \
  X(kChloAsinAcosKernel, "chlo._asin_acos_kernel")                               \
  X(kChloAcos, "chlo.acos")                                                      \
  X(kChloAcosh, "chlo.acosh")                                                    \
  X(kChloAsin, "chlo.asin")                                                      \
  X(kChloAsinh, "chlo.asinh")                                                    \
  X(kChloAtan, "chlo.atan")                                                      \
  X(kChloAtanh, "chlo.atanh")                                                    \
  X(kChloBesselI1e, "chlo.bessel_i1e")                                           \
  X(kChloBroadcastAdd, "chlo.broadcast_add")                                     \
  X(kChloBroadcastAnd, "chlo.broadcast_and")                                     \
  X(kChloBroadcastAtan2, "chlo.broadcast_atan2")                                 \
  X(kChloBroadcastCompare, "chlo.broadcast_compare")                             \
  X(kChloBroadcastComplex, "chlo.broadcast_complex")                             \
  X(kChloBroadcastDivide, "chlo.broadcast_divide")                               \
  X(kChloBroadcastMaximum, "chlo.broadcast_maximum")                             \
  X(kChloBroadcastMinimum, "chlo.broadcast_minimum")                             \
  X(kChloBroadcastMultiply, "chlo.broadcast_multiply")                           \
  X(kChloBroadcastNextAfter, "chlo.broadcast_next_after")                        \
  X(kChloBroadcastOr, "chlo.broadcast_or")                                       \
  X(kChloBroadcastPolygamma, "chlo.broadcast_polygamma")                         \
  X(kChloBroadcastPower, "chlo.broadcast_power")                                 \
  X(kChloBroadcastRemainder, "chlo.broadcast_remainder")                         \
  X(kChloBroadcastSelect, "chlo.broadcast_select")                               \
  X(kChloBroadcastShiftLeft, "chlo.broadcast_shift_left")                        \
  X(kChloBroadcastShiftRightArithmetic, "chlo.broadcast_shift_right_arithmetic") \
  X(kChloBroadcastShiftRightLogical, "chlo.broadcast_shift_right_logical")       \
  X(kChloBroadcastSubtract, "chlo.broadcast_subtract")                           \
  X(kChloBroadcastXor, "chlo.broadcast_xor")                                     \
  X(kChloBroadcastZeta, "chlo.broadcast_zeta")                                   \
  X(kChloConj, "chlo.conj")                                                      \
  X(kChloConstant, "chlo.constant")                                              \
  X(kChloConstantLike, "chlo.constant_like")                                     \
  X(kChloCosh, "chlo.cosh")                                                      \
  X(kChloDigamma, "chlo.digamma")                                                \
  X(kChloErf, "chlo.erf")                                                        \
  X(kChloErfInv, "chlo.erf_inv")                                                 \
  X(kChloErfc, "chlo.erfc")                                                      \
  X(kChloIsInf, "chlo.is_inf")                                                   \
  X(kChloIsNegInf, "chlo.is_neg_inf")                                            \
  X(kChloIsPosInf, "chlo.is_pos_inf")                                            \
  X(kChloLgamma, "chlo.lgamma")                                                  \
  X(kChloMulhi, "chlo.mulhi")                                                    \
  X(kChloNextAfter, "chlo.next_after")                                           \
  X(kChloPolygamma, "chlo.polygamma")                                            \
  X(kChloRaggedDot, "chlo.ragged_dot")                                           \
  X(kChloScan, "chlo.scan")                                                      \
  X(kChloSinh, "chlo.sinh")                                                      \
  X(kChloSquare, "chlo.square")                                                  \
  X(kChloTan, "chlo.tan")                                                        \
  X(kChloTopK, "chlo.top_k")                                                     \
  X(kChloZeta, "chlo.zeta")                                                      \
  X(kCall, "func.call")                                                          \
  X(kFuncReturn, "func.return")

namespace millrace::devices::cpu::ir {

enum class OpKind : std::uint16_t {
  kOther,  // known only by its name
#define MILLRACE_IR_ENUMERATOR(enumerator, name) enumerator,
  MILLRACE_IR_OPS(MILLRACE_IR_ENUMERATOR)
#undef MILLRACE_IR_ENUMERATOR
      kCount,
};

inline constexpr int kOpKinds = static_cast<int>(OpKind::kCount);

// "stablehlo.add" and so on; "" for kOther.
std::string_view to_string(OpKind kind);
// The kind of a full name ("stablehlo.add"), kOther if it is not in the list.
OpKind op_kind_from_string(std::string_view name);

}  // namespace millrace::devices::cpu::ir
