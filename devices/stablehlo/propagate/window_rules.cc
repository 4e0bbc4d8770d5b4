// Rules of operations that move windows over their operands, of reshapes and of calls by name.
#include <algorithm>
#include <numeric>

#include "millrace/devices/stablehlo/propagate/op_rules.h"

namespace millrace::devices::stablehlo::propagate {
namespace {

using ir::Op;
using Dims = std::span<const std::int64_t>;
using Numbers = std::vector<std::int64_t>;

Dims shape_of(const Op& op, int operand) { return op.operand(operand)->type().dims(); }
Dims result_shape(const Op& op, int result = 0) { return op.result(result)->type().dims(); }
int to_dim(std::int64_t dim) { return static_cast<int>(dim); }
std::int64_t at(Dims shape, std::int64_t d) { return shape[static_cast<std::size_t>(d)]; }

// Whether a window is of one element, moves by one, and nothing is padded along a dimension.
bool window_is_trivial(const Op& op, std::size_t d) {
  const auto is = [&](const char* name, std::size_t i, std::int64_t value) {
    const auto given = op.ints(name);
    return !given || i >= given->size() || (*given)[i] == value;
  };
  return is("padding", 2 * d, 0) && is("padding", 2 * d + 1, 0) && is("window_strides", d, 1) &&
         is("window_dimensions", d, 1);
}

// An input dimension may be cut by the places of the window, as the output is, or by the places
// inside the window, as the kernel is: the larger is the outer factor.
void add_spatial(RuleBuilder& rule, const ir::ConvDimsAttr& dims, std::size_t i, Dims in,
                 Dims kernel, Dims out) {
  const auto lhs = to_dim(dims.input_spatial[i]), rhs = to_dim(dims.kernel_spatial[i]),
             result = to_dim(dims.output_spatial[i]);
  std::int64_t left = at(in, lhs);
  const auto add = [&](std::int64_t wanted, bool inside) {
    const std::int64_t size = std::min(left, wanted);
    if (size <= 1) return;
    rule.add({lhs, inside ? rhs : kNoDim}, {inside ? kNoDim : result}, size,
             inside ? Cut::kReduces : Cut::kPermutes);
    left /= size;
  };
  const std::int64_t windows = at(out, result), window = at(kernel, rhs);
  const bool windows_first = windows >= window;
  add(windows_first ? windows : window, !windows_first);
  add(windows_first ? window : windows, windows_first);
}

std::optional<Rule> pointwise(const Op& op) {
  if (op.result_count() == 0 || !op.result()->type().is_tensor()) return std::nullopt;
  const Dims shape = result_shape(op);
  const auto fits = [&](ir::Type type) {
    return type.is_tensor() && (type.rank() == 0 || std::ranges::equal(type.dims(), shape));
  };
  if (!std::ranges::all_of(ir::types_of(op.operands()), fits)) return std::nullopt;
  return RuleBuilder(op).add_pointwise(shape).build();
}

// All but the last two dimensions are a batch.
std::optional<Rule> decomposition(const Op& op) {
  if (op.operand_count() != 1 || op.result_count() != 2) return std::nullopt;
  const Dims in = shape_of(op, 0);
  if (in.size() < 2 || op.result(1)->type().rank() + 1 != std::ssize(in)) return std::nullopt;
  const auto rows = static_cast<int>(in.size()) - 2;
  const bool eigen = op.callee() == "Eigh";
  RuleBuilder rule(op);
  rule.add_pointwise(in.first(in.size() - 2));
  const Cut cut = eigen ? Cut::kPasses : Cut::kReplicates;
  rule.add({rows}, {rows, kNoDim}, in[in.size() - 2], cut);
  rule.add({rows + 1}, {rows + 1, eigen ? rows : kNoDim}, in.back(), cut);
  if (!eigen) rule.add({kNoDim}, {kNoDim, rows}, result_shape(op, 1).back(), cut);
  return rule.build();
}

}  // namespace

Rule reduce_window_rule(const Op& op) {
  const Dims out = result_shape(op);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < out.size(); ++d)
    rule.add_to_all(static_cast<int>(d), out[d],
                    window_is_trivial(op, d) ? Cut::kPasses : Cut::kPermutes);
  return rule.build();
}

Rule select_and_scatter_rule(const Op& op) {
  const Dims out = result_shape(op), source = shape_of(op, 1);
  RuleBuilder rule(op);
  for (std::size_t d = 0; d < out.size(); ++d) {
    const auto dim = static_cast<int>(d);
    if (window_is_trivial(op, d)) {
      rule.add_to_all(dim, out[d]);
      continue;
    }
    rule.add({kNoDim, dim, kNoDim}, {kNoDim}, source[d], Cut::kReplicates);
    rule.add({dim, kNoDim, kNoDim}, {dim}, out[d], Cut::kPermutes);
  }
  return rule.build();
}

Rule convolution_rule(const Op& op) {
  const auto& dims = *op.attr<ir::ConvDimsAttr>("dimension_numbers");
  const Dims in = shape_of(op, 0), kernel = shape_of(op, 1), out = result_shape(op);
  const std::int64_t batches = op.int_or("batch_group_count", 1),
                     features = op.int_or("feature_group_count", 1);
  const auto in_batch = to_dim(dims.input_batch), in_feature = to_dim(dims.input_feature),
             kernel_in = to_dim(dims.kernel_input_feature),
             kernel_out = to_dim(dims.kernel_output_feature), out_batch = to_dim(dims.output_batch),
             out_feature = to_dim(dims.output_feature);
  RuleBuilder rule(op);
  if (batches > 1) rule.add({in_batch, kernel_out}, {out_feature}, batches);
  rule.add({in_batch, kNoDim}, {out_batch}, at(out, out_batch));
  for (std::size_t i = 0; i < dims.input_spatial.size(); ++i)
    add_spatial(rule, dims, i, in, kernel, out);
  if (features > 1) rule.add({in_feature, kernel_out}, {out_feature}, features);
  rule.add({in_feature, kernel_in}, {kNoDim}, at(kernel, kernel_in), Cut::kReduces);
  const std::int64_t rest = at(out, out_feature) / (batches * features);
  if (rest > 1) rule.add({kNoDim, kernel_out}, {out_feature}, rest);
  return rule.build();
}

// The dimensions of both are walked together: as long as products of sizes meet, factors are
// common.
std::optional<Rule> reshape_rule(const Op& op) {
  const Dims in = shape_of(op, 0), out = result_shape(op);
  if (op.operand(0)->type().elements().value_or(0) == 0) return std::nullopt;
  RuleBuilder rule(op);
  // One side: the dimension at hand, and the products of the sizes begun and of the factors made.
  struct Side {
    Dims shape;
    std::size_t dim = 0;
    std::int64_t begun = 1, made = 1;
    bool at_end() const { return dim == shape.size(); }
    bool is_one() const { return !at_end() && shape[dim] == 1; }
    void begin() {
      if (!at_end() && begun == made) begun *= shape[dim];
    }
    std::int64_t open() const { return begun / made; }
    void end() {
      if (!at_end() && begun == made) ++dim;
    }
  };
  Side a{in}, b{out};
  const auto dim_of = [](const Side& side) { return static_cast<int>(side.dim); };
  // A factor of the side that is behind: to where the other is, if that is possible.
  const auto catch_up = [](const Side& behind, const Side& ahead) {
    const std::int64_t common = std::gcd(behind.open(), ahead.open());
    if (ahead.made % behind.made == 0 && behind.open() % (ahead.made / behind.made) == 0)
      return ahead.made / behind.made;
    return behind.open() > common ? behind.open() / common : behind.open();
  };
  while (!a.at_end() || !b.at_end()) {
    if (a.is_one()) {
      rule.add({dim_of(a)}, {kNoDim}, 1);
      ++a.dim;
      continue;
    }
    if (b.is_one()) {
      rule.add({kNoDim}, {dim_of(b)}, 1);
      ++b.dim;
      continue;
    }
    a.begin();
    b.begin();
    const std::int64_t common = std::gcd(a.open(), b.open());
    if (a.made == b.made && common > 1) {
      rule.add({dim_of(a)}, {dim_of(b)}, common);
      a.made *= common;
      b.made *= common;
    } else if (a.made == b.made) {
      const std::int64_t mine = a.open(), theirs = b.open();
      if (mine <= 1 || theirs <= 1) return std::nullopt;
      rule.add({dim_of(a)}, {kNoDim}, mine);
      rule.add({kNoDim}, {dim_of(b)}, theirs);
      a.made *= mine;
      b.made *= theirs;
    } else if (a.made < b.made) {
      const std::int64_t next = catch_up(a, b);
      if (next <= 1) return std::nullopt;
      rule.add({dim_of(a)}, {kNoDim}, next);
      a.made *= next;
    } else {
      const std::int64_t next = catch_up(b, a);
      if (next <= 1) return std::nullopt;
      rule.add({kNoDim}, {dim_of(b)}, next);
      b.made *= next;
    }
    a.end();
    b.end();
  }
  return rule.build();
}

std::optional<Rule> custom_call_rule(const Op& op) {
  const std::string_view name = op.callee();
  constexpr std::string_view kPointwise[] = {"annotate_device_placement",
                                             "Cholesky",
                                             "InspectSharding",
                                             "LayoutConstraint",
                                             "mhlo.erf",
                                             "MoveToDevice",
                                             "MoveToHost"};
  if (std::ranges::find(kPointwise, name) != std::end(kPointwise)) return pointwise(op);
  if (name == "Eigh" || name == "Qr") return decomposition(op);
  if (name == "mhlo.topk" && op.operand_count() == 1 && op.result_count() == 2 &&
      op.operand(0)->type().rank() == op.result()->type().rank()) {
    return RuleBuilder(op)
        .add_where_equal(shape_of(op, 0), result_shape(op), Cut::kReplicates, true)
        .build();
  }
  return std::nullopt;
}

}  // namespace millrace::devices::stablehlo::propagate
