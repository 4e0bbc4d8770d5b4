// Rules of gather and scatter, which have the same parts: the array, the indices, and the slices
// that are taken of it or put into it.
#include <algorithm>

#include "millrace/devices/stablehlo/propagate/op_rules.h"

namespace millrace::devices::stablehlo::propagate {
namespace {

using ir::Op;
using Dims = std::span<const std::int64_t>;

bool contains(ir::Ints list, std::int64_t value) {
  return std::ranges::find(list, value) != list.end();
}

// The dimension numbers that both have, by the names of gather.
struct Numbers {
  Dims array, indices, slices;
  ir::Ints offset_dims, collapsed, array_batching, indices_batching;
  std::int64_t index_vector_dim = 0;
  bool scatter = false;
  bool sums = false;  // the body of the scatter is one sum, product or choice
};

// Calls add(array dim, indices dim, slices dim, size, cut, blocked) for each factor.
void for_each_factor(const Numbers& n, auto add) {
  std::int64_t array_dim = 0, batch = 0;
  for (std::size_t i = 0; i < n.slices.size(); ++i) {
    const auto dim = static_cast<int>(i);
    const std::int64_t size = n.slices[i];
    if (!contains(n.offset_dims, dim)) {
      // A dimension of the indices; perhaps also of the array.
      const std::int64_t at = batch < n.index_vector_dim ? batch : batch + 1;
      ++batch;
      const auto found = std::ranges::find(n.indices_batching, at);
      const bool shared = found != n.indices_batching.end();
      const auto place = static_cast<std::size_t>(found - n.indices_batching.begin());
      const Cut cut = !n.scatter || shared ? Cut::kPasses
                      : n.sums             ? Cut::kReduces
                                           : Cut::kReplicates;
      add(shared ? static_cast<int>(n.array_batching[place]) : kNoDim, static_cast<int>(at), dim,
          size, cut, false);
      continue;
    }
    while (contains(n.collapsed, array_dim) || contains(n.array_batching, array_dim)) ++array_dim;
    const auto from = static_cast<int>(array_dim++);
    const std::int64_t whole = n.array[static_cast<std::size_t>(from)];
    if (whole == size) {
      add(from, kNoDim, dim, whole, Cut::kPasses, false);
    } else if (n.scatter || size == 1) {
      add(from, kNoDim, kNoDim, whole, n.scatter ? Cut::kReplicates : Cut::kReduces, false);
      add(kNoDim, kNoDim, dim, size, Cut::kReplicates, false);
    } else {
      add(from, kNoDim, dim, whole, Cut::kReplicates, true);
    }
  }
  for (const std::int64_t dim : n.collapsed) {
    const std::int64_t size = n.array[static_cast<std::size_t>(dim)];
    const Cut cut = n.scatter ? Cut::kPasses : size == 1 ? Cut::kReplicates : Cut::kReduces;
    add(static_cast<int>(dim), kNoDim, kNoDim, size, cut, false);
  }
  if (n.index_vector_dim < std::ssize(n.indices)) {
    const auto dim = static_cast<int>(n.index_vector_dim);
    add(kNoDim, dim, kNoDim, n.indices[static_cast<std::size_t>(dim)], Cut::kReplicates, false);
  }
}

}  // namespace

Rule gather_rule(const Op& op) {
  const auto& dims = *op.attr<ir::GatherDimsAttr>("dimension_numbers");
  RuleBuilder rule(op);
  for_each_factor(Numbers{.array = op.operand(0)->type().dims(),
                          .indices = op.operand(1)->type().dims(),
                          .slices = op.result()->type().dims(),
                          .offset_dims = dims.offset_dims,
                          .collapsed = dims.collapsed_slice_dims,
                          .array_batching = dims.operand_batching_dims,
                          .indices_batching = dims.start_indices_batching_dims,
                          .index_vector_dim = dims.index_vector_dim},
                  [&](int array, int indices, int slices, std::int64_t size, Cut cut,
                      bool blocked) { rule.add({array, indices}, {slices}, size, cut, blocked); });
  return rule.build();
}

Rule scatter_rule(const Op& op) {
  const auto& dims = *op.attr<ir::ScatterDimsAttr>("scatter_dimension_numbers");
  const auto inputs = static_cast<std::size_t>((op.operand_count() - 1) / 2);
  const auto& body = op.region().block();
  const bool sums = body.front() != nullptr && body.front()->next() == body.terminator() &&
                    body.front()->operand_count() == 2;
  RuleBuilder rule(op);
  for_each_factor(
      Numbers{.array = op.operand(0)->type().dims(),
              .indices = op.operand(static_cast<int>(inputs))->type().dims(),
              .slices = op.operand(static_cast<int>(inputs) + 1)->type().dims(),
              .offset_dims = dims.update_window_dims,
              .collapsed = dims.inserted_window_dims,
              .array_batching = dims.input_batching_dims,
              .indices_batching = dims.scatter_indices_batching_dims,
              .index_vector_dim = dims.index_vector_dim,
              .scatter = true,
              .sums = sums},
      [&](int array, int indices, int slices, std::int64_t size, Cut cut, bool blocked) {
        std::vector<int> operands(inputs, array);
        operands.push_back(indices);
        operands.insert(operands.end(), inputs, slices);
        rule.add(operands, std::vector<int>(inputs, array), size, cut, blocked);
      });
  return rule.build();
}

}  // namespace millrace::devices::stablehlo::propagate
