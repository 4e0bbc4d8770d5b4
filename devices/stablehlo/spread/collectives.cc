#include "millrace/devices/stablehlo/spread/collectives.h"

#include <algorithm>
#include <map>

#include "millrace/devices/stablehlo/ir/message.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Collective::Values Collective::of_group(int i, const std::vector<int>& group, ir::Type element) {
  Values values;
  std::map<ir::Value*, ir::Value*> converted;
  for (const int clone : group) {
    ir::Value*& v = converted[operands_[index(i)][clone]];
    if (v == nullptr) v = make_.convert(operands_[index(i)][clone], element);
    values.push_back(v);
  }
  return values;
}

Status Collective::check_static() const {
  for (const ir::Value& v : op_.results()) {
    if (v.type().is_tensor() && !v.type().has_static_shape()) {
      return ir::unimplemented(op_, "result ", v.index(), " is ", v.type(),
                               ": a program for several devices has static shapes");
    }
  }
  for (const ir::Value* v : op_.operands()) {
    if (v->type().is_tensor() && !v->type().has_static_shape()) {
      return ir::unimplemented(op_, "an operand is ", v->type(),
                               ": a program for several devices has static shapes");
    }
  }
  return {};
}

Result<std::vector<Each>> Collective::run() {
  MILLRACE_TRY_STATUS(check_static());
  switch (op_.kind()) {
    case K::kAllGather:
      return all_gather();
    case K::kAllToAll:
      return all_to_all();
    case K::kCollectivePermute:
      return permute();
    case K::kCollectiveBroadcast:
      return broadcast();
    case K::kAllReduce:
    case K::kCrossReplicaSum:
      return all_reduce();
    case K::kReduceScatter:
      return reduce_scatter();
    case K::kCollectiveReduce:
      return collective_reduce();
    default:
      return ragged_all_to_all();
  }
}

Result<std::vector<Each>> Collective::all_gather() {
  MILLRACE_TRY(const Groups groups, groups_of(op_, places_, members_));
  const std::int64_t dimension = op_.int_or("all_gather_dim", 0);
  std::vector<Each> results;
  for (int i = 0; i < op_.result_count(); ++i) {
    const std::int64_t part = op_.operand(i)->type().dim(dimension);
    const std::int64_t whole = op_.result(i)->type().dim(dimension);
    Values values = none();
    for (const auto& group : groups) {
      if (part * std::ssize(group) != whole) {
        return ir::invalid(op_, "dimension ", dimension, " of result ", i, " is ", whole,
                           ", expected ", part * std::ssize(group), ", that of the operand for ",
                           group.size(), " processes");
      }
      ir::Value* all =
          make_.concatenate(of_group(i, group, op_.operand(i)->type().element()), dimension);
      for (const int clone : group) values[index(clone)] = all;
    }
    results.push_back(each(std::move(values)));
  }
  return results;
}

Result<std::vector<Each>> Collective::all_to_all() {
  MILLRACE_TRY(const Groups groups, groups_of(op_, places_, members_));
  const std::int64_t count = op_.int_or("split_count", 1);
  const std::int64_t split = op_.int_or("split_dimension", 0);
  std::vector<Each> results;
  for (int i = 0; i < op_.result_count(); ++i) {
    const std::int64_t part = op_.operand(i)->type().dim(split) / count;
    Values values = none();
    for (const auto& group : groups) {
      if (std::ssize(group) != count) {
        return ir::invalid(op_, "split_count is ", count, ", but a group has ", group.size(),
                           " processes");
      }
      const Values from = of_group(i, group, op_.operand(i)->type().element());
      for (std::size_t k = 0; k < group.size(); ++k) {
        const auto start = static_cast<std::int64_t>(k) * part;
        Values parts;
        for (ir::Value* v : from) parts.push_back(make_.slice(v, split, start, start + part));
        values[index(group[k])] = make_.concatenate(parts, op_.int_or("concat_dimension", 0));
      }
    }
    results.push_back(each(std::move(values)));
  }
  return results;
}

Result<std::vector<Each>> Collective::permute() {
  MILLRACE_TRY(const auto pairs, pairs_of(op_, places_, members_));
  std::vector<Each> results;
  for (int i = 0; i < op_.result_count(); ++i) {
    Values values = none();
    for (const auto& [from, to] : pairs) values[index(to)] = operands_[index(i)][from];
    ir::Value* zeros = nullptr;
    for (const int clone : members_) {
      ir::Value*& v = values[index(clone)];
      if (v == nullptr && zeros == nullptr) zeros = make_.zeros(op_.result(i)->type());
      if (v == nullptr) v = zeros;
    }
    results.push_back(each(std::move(values)));
  }
  return results;
}

ir::Value* Collective::root_of(int i, int clone) {
  ir::Value* roots = operands_.back()[clone];
  return make_.reshape(make_.slice(roots, 0, i, i + 1), {});
}

ir::Value* Collective::rooted(int i, const std::vector<int>& group, int clone) {
  ir::Value* v = operands_[index(i)][group.front()];
  ir::Value* root = root_of(i, clone);
  for (std::size_t k = 1; k < group.size(); ++k) {
    ir::Value* place = make_.number(DType::kI32, static_cast<int>(k));
    v = make_.choose(make_.compare(ir::ComparisonDirection::kEq, root, place),
                     operands_[index(i)][group[k]], v);
  }
  return v;
}

Result<std::vector<Each>> Collective::broadcast() {
  MILLRACE_TRY(const Groups groups, groups_of(op_, places_, members_));
  std::vector<Each> results;
  for (int i = 0; i < op_.result_count(); ++i) {
    Values values = none();
    for (const auto& group : groups) {
      std::map<ir::Value*, ir::Value*> by_roots;
      for (const int clone : group) {
        if (!dynamic_root()) {
          values[index(clone)] = operands_[index(i)][group.front()];
          continue;
        }
        ir::Value*& v = by_roots[operands_.back()[clone]];
        if (v == nullptr) v = rooted(i, group, clone);
        values[index(clone)] = v;
      }
    }
    for (const int clone : members_) {
      ir::Value*& v = values[index(clone)];
      if (v == nullptr) v = make_.zeros(op_.result(i)->type());
    }
    results.push_back(each(std::move(values)));
  }
  return results;
}

Result<ir::Value*> Collective::fold(std::span<ir::Value* const> arrays) {
  if (op_.kind() != K::kCrossReplicaSum)
    return Reducer(op_.region(), copy_, outside_).fold(make_, arrays);
  ir::Value* sum = arrays.front();
  for (ir::Value* array : arrays.subspan(1)) sum = make_.value(K::kAdd, {sum, array}, sum->type());
  return sum;
}

Result<ir::Value*> Collective::folded(int i, const std::vector<int>& group) {
  return fold(of_group(i, group, op_.result(i)->type().element()));
}

Result<std::vector<Each>> Collective::all_reduce() {
  MILLRACE_TRY(const Groups groups, groups_of(op_, places_, members_));
  std::vector<Each> results;
  for (int i = 0; i < op_.result_count(); ++i) {
    Values values = none();
    for (const auto& group : groups) {
      MILLRACE_TRY(ir::Value * sum, folded(i, group));
      for (const int clone : group) values[index(clone)] = sum;
    }
    results.push_back(each(std::move(values)));
  }
  return results;
}

// Cut first, then folded: each element is folded once.
Result<std::vector<Each>> Collective::reduce_scatter() {
  MILLRACE_TRY(const Groups groups, groups_of(op_, places_, members_));
  const std::int64_t dimension = op_.int_or("scatter_dimension", 0);
  const std::int64_t whole = op_.operand(0)->type().dim(dimension);
  const std::int64_t part = op_.result()->type().dim(dimension);
  Values values = none();
  for (const auto& group : groups) {
    if (part * std::ssize(group) != whole) {
      return ir::invalid(op_, "dimension ", dimension, " of the operand is ", whole, ", expected ",
                         part * std::ssize(group), ", that of the result for ", group.size(),
                         " processes");
    }
    const Values arrays = of_group(0, group, op_.operand(0)->type().element());
    for (std::size_t k = 0; k < group.size(); ++k) {
      const auto start = static_cast<std::int64_t>(k) * part;
      Values parts;
      for (ir::Value* v : arrays) {
        ir::Value* cut = make_.slice(v, dimension, start, start + part);
        parts.push_back(make_.convert(cut, op_.result()->type().element()));
      }
      MILLRACE_TRY(values[index(group[k])], fold(parts));
    }
  }
  return std::vector<Each>{each(std::move(values))};
}

Result<std::vector<Each>> Collective::collective_reduce() {
  MILLRACE_TRY(const Groups groups, groups_of(op_, places_, members_));
  std::vector<Each> results;
  for (int i = 0; i < op_.result_count(); ++i) {
    Values values = none();
    ir::Value* zeros = make_.zeros(op_.result(i)->type());
    for (const int clone : members_) values[index(clone)] = zeros;
    for (const auto& group : groups) {
      MILLRACE_TRY(ir::Value * sum, folded(i, group));
      if (!dynamic_root()) values[index(group.front())] = sum;
      for (std::size_t k = 0; dynamic_root() && k < group.size(); ++k) {
        ir::Value* is_root = make_.compare(ir::ComparisonDirection::kEq, root_of(i, group[k]),
                                           make_.number(DType::kI32, static_cast<int>(k)));
        values[index(group[k])] = make_.choose(is_root, sum, zeros);
      }
    }
    results.push_back(each(std::move(values)));
  }
  return results;
}

}  // namespace millrace::devices::stablehlo::spread
