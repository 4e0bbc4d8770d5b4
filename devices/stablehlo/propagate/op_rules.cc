#include "millrace/devices/stablehlo/propagate/op_rules.h"

#include <algorithm>
#include <array>

namespace millrace::devices::stablehlo::propagate {
namespace {

using ir::Op;
using ir::OpKind;
using Dims = std::span<const std::int64_t>;

constexpr auto kElementwise = [] {
  std::array<bool, ir::kOpKinds> table{};
#define MILLRACE_OP_ELEMENTS(kind, operands, elements, outcome) \
  table[static_cast<std::size_t>(OpKind::kind)] = true;
#include "millrace/devices/stablehlo/ir/ops.inc"
  return table;
}();

Dims shape_of(const Op& op, int operand) { return op.operand(operand)->type().dims(); }
Dims result_shape(const Op& op, int result = 0) { return op.result(result)->type().dims(); }

bool contains(const auto& list, std::int64_t value) {
  return std::ranges::find(list, value) != std::ranges::end(list);
}

int to_dim(std::int64_t dim) { return static_cast<int>(dim); }

Rule pointwise(const Op& op) { return RuleBuilder(op).add_pointwise(result_shape(op)).build(); }

// The values of collectives keep their dimensions but for one, along which parts come or go.
Rule all_but(const Op& op, const std::vector<std::int64_t>& dims) {
  RuleBuilder rule(op);
  const Dims in = shape_of(op, 0), out = result_shape(op);
  for (std::size_t d = 0; d < in.size(); ++d) {
    const auto dim = static_cast<int>(d);
    if (!contains(dims, dim)) {
      rule.add_to_all(dim, in[d]);
      continue;
    }
    rule.add_to_operands(dim, in[d], Cut::kReplicates);
    rule.add_to_results(dim, out[d], Cut::kReplicates);
  }
  return rule.build();
}

Rule bitcast_rule(const Op& op) {
  const Dims in = shape_of(op, 0), out = result_shape(op);
  RuleBuilder rule(op);
  rule.add_pointwise(in.size() < out.size() ? in : out);
  const int last = static_cast<int>(std::max(in.size(), out.size())) - 1;
  if (in.size() < out.size()) rule.add({kNoDim}, {last}, out.back(), Cut::kReplicates);
  if (in.size() > out.size()) rule.add({last}, {kNoDim}, in.back(), Cut::kReplicates);
  return rule.build();
}

Rule batch_norm_rule(const Op& op) {
  const std::int64_t feature = op.int_or("feature_index", 0);
  const Dims shape = shape_of(op, 0);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int other = std::cmp_equal(d, feature) ? 0 : kNoDim;
    std::vector<int> operands(static_cast<std::size_t>(op.operand_count()), other);
    operands[0] = static_cast<int>(d);
    const int results[] = {static_cast<int>(d)};
    rule.add(operands, results, shape[d]);
  }
  return rule.build();
}

Rule broadcast_rule(const Op& op) {
  const auto places = op.ints("broadcast_dimensions").value_or(std::vector<std::int64_t>());
  const Dims in = shape_of(op, 0), out = result_shape(op);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < out.size(); ++d) {
    const auto found = std::ranges::find(places, static_cast<std::int64_t>(d));
    int from = found == places.end() ? kNoDim : static_cast<int>(found - places.begin());
    if (from != kNoDim && in[static_cast<std::size_t>(from)] == 1 && out[d] != 1) {
      // It is repeated where it lies.
      rule.add({from}, {kNoDim}, 1);
      from = kNoDim;
    }
    rule.add({from}, {static_cast<int>(d)}, out[d]);
  }
  return rule.build();
}

// All but the last dimensions are of a batch; these are needed whole.
Rule batch_rule(const Op& op, std::size_t whole) {
  const Dims shape = shape_of(op, 0);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < shape.size(); ++d)
    rule.add_to_all(static_cast<int>(d), shape[d],
                    d + whole < shape.size() ? Cut::kPasses : Cut::kReplicates);
  return rule.build();
}

Rule concatenate_rule(const Op& op) {
  const Dims out = result_shape(op);
  const std::int64_t along = op.int_or("dimension", 0);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < out.size(); ++d)
    rule.add_to_all(static_cast<int>(d), out[d],
                    std::cmp_equal(d, along) ? Cut::kReplicates : Cut::kPasses);
  return rule.build();
}

Rule dot_general_rule(const Op& op) {
  const auto& dims = *op.attr<ir::DotDimsAttr>("dot_dimension_numbers");
  const Dims lhs = shape_of(op, 0), rhs = shape_of(op, 1);
  RuleBuilder rule(op);
  int out = 0;
  for (std::size_t i = 0; i < dims.lhs_batching.size(); ++i) {
    const std::int64_t l = dims.lhs_batching[i], r = dims.rhs_batching[i];
    rule.add({to_dim(l), to_dim(r)}, {out++}, lhs[static_cast<std::size_t>(l)]);
  }
  const auto add_free = [&](Dims shape, ir::Ints batching, ir::Ints contracting, bool left) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto dim = static_cast<int>(d);
      if (contains(batching, dim) || contains(contracting, dim)) continue;
      rule.add({left ? dim : kNoDim, left ? kNoDim : dim}, {out++}, shape[d]);
    }
  };
  add_free(lhs, dims.lhs_batching, dims.lhs_contracting, true);
  add_free(rhs, dims.rhs_batching, dims.rhs_contracting, false);
  for (std::size_t i = 0; i < dims.lhs_contracting.size(); ++i) {
    const std::int64_t l = dims.lhs_contracting[i], r = dims.rhs_contracting[i];
    rule.add({to_dim(l), to_dim(r)}, {kNoDim}, lhs[static_cast<std::size_t>(l)], Cut::kReduces);
  }
  return rule.build();
}

Rule dot_rule(const Op& op) {
  const Dims lhs = shape_of(op, 0), rhs = shape_of(op, 1);
  RuleBuilder rule(op);
  if (lhs.size() == 2) rule.add({0, kNoDim}, {0}, lhs[0]);
  if (rhs.size() == 2) rule.add({kNoDim, 1}, {lhs.size() == 2 ? 1 : 0}, rhs[1]);
  rule.add({lhs.size() == 2 ? 1 : 0, 0}, {kNoDim}, rhs[0], Cut::kReduces);
  return rule.build();
}

// Where the update is as large as the operand they go together; else each for itself.
Rule update_slice_rule(const Op& op) {
  const Dims operand = shape_of(op, 0), update = shape_of(op, 1);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < operand.size(); ++d) {
    const auto dim = static_cast<int>(d);
    if (operand[d] == update[d]) {
      rule.add_to_all(dim, operand[d]);
      continue;
    }
    std::vector<int> dims(static_cast<std::size_t>(op.operand_count()), kNoDim);
    const int result[] = {dim}, none[] = {kNoDim};
    dims[0] = dim;
    rule.add(dims, result, operand[d]);
    dims[0] = kNoDim;
    dims[1] = dim;
    rule.add(dims, none, update[d], Cut::kReplicates);
  }
  return rule.build();
}

Rule fft_rule(const Op& op) {
  const Dims in = shape_of(op, 0), out = result_shape(op);
  const std::size_t transformed =
      op.ints("fft_length").value_or(std::vector<std::int64_t>()).size();
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < in.size(); ++d) {
    const bool batch = d + transformed < in.size(), last = d + 1 == in.size();
    rule.add_to_all(static_cast<int>(d), in[d], batch ? Cut::kPasses : Cut::kReplicates,
                    !batch && last && in.back() != out.back());
  }
  return rule.build();
}

Rule reduce_rule(const Op& op) {
  const auto reduced = op.ints("dimensions").value_or(std::vector<std::int64_t>());
  const Dims shape = shape_of(op, 0);
  const auto inputs = static_cast<std::size_t>(op.operand_count() / 2);
  RuleBuilder rule(op);
  int out = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::vector<int> operands(inputs, static_cast<int>(d));
    const bool gone = contains(reduced, static_cast<std::int64_t>(d));
    const std::vector<int> results(inputs, gone ? kNoDim : out++);
    rule.add(operands, results, shape[d], gone ? Cut::kReduces : Cut::kPasses);
  }
  return rule.build();
}

Rule reverse_rule(const Op& op) {
  const auto reversed = op.ints("dimensions").value_or(std::vector<std::int64_t>());
  const Dims shape = result_shape(op);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < shape.size(); ++d)
    rule.add_to_all(
        static_cast<int>(d), shape[d],
        contains(reversed, static_cast<std::int64_t>(d)) ? Cut::kPermutes : Cut::kPasses);
  return rule.build();
}

// The state stays whole on each device; the numbers may be cut.
Rule rng_rule(const Op& op) {
  const Dims state = shape_of(op, 0), numbers = result_shape(op, 1);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < state.size(); ++d) {
    const auto dim = static_cast<int>(d);
    rule.add({dim}, {dim, kNoDim}, state[d], Cut::kReplicates, true);
  }
  for (std::size_t d = 0; d < numbers.size(); ++d)
    rule.add({kNoDim}, {kNoDim, static_cast<int>(d)}, numbers[d]);
  return rule.build();
}

Rule sort_rule(const Op& op) {
  const Dims shape = shape_of(op, 0);
  const std::int64_t given = op.int_or("dimension", -1);
  const std::int64_t along = given < 0 ? given + std::ssize(shape) : given;
  // There is no other dimension that could be cut instead.
  bool alone = true;
  for (std::size_t d = 0; d < shape.size(); ++d)
    alone = alone && (std::cmp_equal(d, along) || shape[d] == 1);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool sorted = std::cmp_equal(d, along);
    rule.add_to_all(static_cast<int>(d), shape[d], sorted ? Cut::kReplicates : Cut::kPasses,
                    sorted && alone);
  }
  return rule.build();
}

Rule transpose_rule(const Op& op) {
  const auto permutation = op.ints("permutation").value_or(std::vector<std::int64_t>());
  const Dims in = shape_of(op, 0);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < permutation.size(); ++d)
    rule.add({to_dim(permutation[d])}, {static_cast<int>(d)},
             in[static_cast<std::size_t>(permutation[d])]);
  return rule.build();
}

// op(a) x = b, or x op(a) = b: rows and columns of a go with those of b and of x.
Rule triangular_solve_rule(const Op& op) {
  const Dims a = shape_of(op, 0), b = shape_of(op, 1);
  const auto rank = static_cast<int>(a.size());
  const auto transposed = op.enum_or("transpose_a", ir::Transpose::kNoTranspose);
  const bool turned =
      transposed == ir::Transpose::kTranspose || transposed == ir::Transpose::kAdjoint;
  const bool left = op.bool_or("left_side", false);
  const int rows = rank - 2, columns = rank - 1;
  RuleBuilder rule(op);
  rule.add_pointwise(a.first(a.size() - 2));
  const int of_b = left ? rows : columns, free = left ? columns : rows;
  const int of_a = left != turned ? rows : columns;
  const int with_x = of_a == rows ? columns : rows;
  const auto size = [](Dims shape, int d) { return shape[static_cast<std::size_t>(d)]; };
  if (!left) rule.add({kNoDim, free}, {free}, size(b, free), Cut::kReplicates);
  rule.add({of_a, of_b}, {kNoDim}, size(a, of_a), Cut::kReplicates);
  if (left) rule.add({kNoDim, free}, {free}, size(b, free), Cut::kReplicates);
  rule.add({with_x, kNoDim}, {of_b}, size(a, with_x), Cut::kReplicates);
  return rule.build();
}

std::optional<Rule> composite_rule(const Op& op) {
  const std::string_view name = op.string_or("name", "");
  if (!name.starts_with("chlo.") || op.operand_count() == 0) return std::nullopt;
  const Dims shape = shape_of(op, 0);
  if (name == "chlo.top_k") {
    return RuleBuilder(op).add_where_equal(shape, result_shape(op), Cut::kReplicates, true).build();
  }
  const auto same = [&](ir::Type type) { return std::ranges::equal(type.dims(), shape); };
  if (!std::ranges::all_of(ir::types_of(op.operands()), same) ||
      !std::ranges::all_of(ir::types_of(op.results()), same)) {
    return std::nullopt;
  }
  return pointwise(op);
}

bool is_static(const Op& op) {
  const auto good = [](ir::Type type) { return !type.is_tensor() || type.has_static_shape(); };
  return std::ranges::all_of(ir::types_of(op.operands()), good) &&
         std::ranges::all_of(ir::types_of(op.results()), good);
}

std::optional<Rule> rule_by_kind(const Op& op) {
  switch (op.kind()) {
    case OpKind::kAllGather:
      return all_but(op, {op.int_or("all_gather_dim", 0)});
    case OpKind::kReduceScatter:
      return all_but(op, {op.int_or("scatter_dimension", 0)});
    case OpKind::kAllToAll:
      return all_but(op, {op.int_or("split_dimension", 0), op.int_or("concat_dimension", 0)});
    case OpKind::kAllReduce:
    case OpKind::kCollectiveBroadcast:
    case OpKind::kCollectivePermute:
    case OpKind::kCrossReplicaSum:
      return pointwise(op);
    case OpKind::kBatchNormInference:
      return batch_norm_rule(op);
    case OpKind::kBitcastConvert:
      return bitcast_rule(op);
    case OpKind::kBroadcastInDim:
      return broadcast_rule(op);
    case OpKind::kCholesky:
      return batch_rule(op, 2);
    case OpKind::kComposite:
      return composite_rule(op);
    case OpKind::kConcatenate:
      return concatenate_rule(op);
    case OpKind::kConvolution:
      return convolution_rule(op);
    case OpKind::kCustomCall:
      return custom_call_rule(op);
    case OpKind::kDot:
      return dot_rule(op);
    case OpKind::kDotGeneral:
      return dot_general_rule(op);
    case OpKind::kDynamicSlice:
    case OpKind::kChloTopK:
      return RuleBuilder(op)
          .add_where_equal(shape_of(op, 0), result_shape(op), Cut::kReplicates, true)
          .build();
    case OpKind::kDynamicUpdateSlice:
      return update_slice_rule(op);
    case OpKind::kFft:
      return fft_rule(op);
    case OpKind::kGather:
      return gather_rule(op);
    case OpKind::kPad:
    case OpKind::kSlice:
      return RuleBuilder(op)
          .add_where_equal(shape_of(op, 0), result_shape(op), Cut::kPermutes, false)
          .build();
    case OpKind::kReduce:
      return reduce_rule(op);
    case OpKind::kReduceWindow:
      return reduce_window_rule(op);
    case OpKind::kReshape:
      return reshape_rule(op);
    case OpKind::kReverse:
      return reverse_rule(op);
    case OpKind::kRngBitGenerator:
      return rng_rule(op);
    case OpKind::kScatter:
      return scatter_rule(op);
    case OpKind::kSelectAndScatter:
      return select_and_scatter_rule(op);
    case OpKind::kSort:
      return sort_rule(op);
    case OpKind::kTranspose:
      return transpose_rule(op);
    case OpKind::kTriangularSolve:
      return triangular_solve_rule(op);
    default:
      if (!is_elementwise(op) || op.result_count() == 0) return std::nullopt;
      return pointwise(op);
  }
}

}  // namespace

bool is_elementwise(const Op& op) {
  if (kElementwise[static_cast<std::size_t>(op.kind())]) return true;
  if (op.kind() == OpKind::kBitcastConvert)
    return std::ranges::equal(shape_of(op, 0), result_shape(op));
  return op.name() == "sdy.sharding_constraint" || op.name() == "sdy.reshard" ||
         op.name() == "sdy.propagation_barrier";
}

Result<std::optional<Rule>> rule_of(const Op& op) {
  if (!is_static(op)) return std::nullopt;
  if (const auto* text = op.attr<ir::OpaqueAttr>("sdy.sharding_rule")) {
    MILLRACE_TRY(Rule rule, read_rule(text->text, op));
    return rule;
  }
  return rule_by_kind(op);
}

}  // namespace millrace::devices::stablehlo::propagate
