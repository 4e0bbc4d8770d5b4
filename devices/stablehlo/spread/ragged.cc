// ragged_all_to_all: rows of each operand go to rows of the others' outputs, how many and where is
// data. For each output a list of the rows that it gets, then one gather of these.
#include <map>
#include <numeric>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/spread/collectives.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;
using Dims = std::vector<std::int64_t>;

enum Operand { kOperand, kOutput, kInputOffsets, kSendSizes, kOutputOffsets, kReceiveSizes };

// Number u of a list, once for each place of a vector.
ir::Value* number_of(Maker& make, ir::Value* list, std::int64_t u, std::int64_t places) {
  ir::Value* one =
      make.convert(make.slice(list, 0, u, u + 1), make.module().types().scalar(DType::kI64));
  return make.broadcast(make.reshape(one, {}), Dims{places}, {});
}

// Row rows[r] of the array for each r.
ir::Value* rows_of(Maker& make, ir::Value* array, ir::Value* rows) {
  const std::int64_t count = rows->type().dim(0);
  Dims dims(array->type().dims().begin(), array->type().dims().end());
  Dims sizes = dims, offsets(dims.size() - 1);
  dims[0] = count;
  sizes[0] = 1;
  std::iota(offsets.begin(), offsets.end(), 1);
  const std::int64_t first[] = {0};
  ir::Module& into = make.module();
  const ir::Attribute numbers = into.attribute(
      ir::GatherDimsAttr{{}, into.copy(offsets), into.copy(first), {}, {}, into.copy(first), 1});
  return make.value(K::kGather, {array, make.reshape(rows, Dims{count, 1})},
                    into.types().tensor(dims, array->type().element()),
                    {{"dimension_numbers", numbers}, {"slice_sizes", into.integers(sizes)}});
}

std::string fault(const ir::Op& op, std::size_t processes) {
  if (op.operand_count() != 6 || op.result_count() != 1)
    return "expected six operands and one result";
  for (int i = kInputOffsets; i <= kReceiveSizes; ++i) {
    const ir::Type type = op.operand(i)->type();
    const bool whole = is_signed_integer(type.dtype()) || is_unsigned_integer(type.dtype());
    if (type.rank() == 1 && whole && type.dim(0) % static_cast<std::int64_t>(processes) == 0 &&
        type.dim(0) == op.operand(kInputOffsets)->type().dim(0)) {
      continue;
    }
    return ir::message("operand ", i, " is ", type, ", expected a list of whole numbers for ",
                       processes, " processes");
  }
  const ir::Type from = op.operand(kOperand)->type(), to = op.operand(kOutput)->type();
  if (from.rank() > 0 && from.rank() == to.rank() && from.element() == to.element() &&
      std::ranges::equal(from.dims().subspan(1), to.dims().subspan(1)) && to == op.result()->type())
    return {};
  return ir::message("rows of ", from, " cannot go into ", to, ", with a result ",
                     op.result()->type());
}

}  // namespace

Result<std::vector<Each>> Collective::ragged_all_to_all() {
  MILLRACE_TRY(const Groups groups, groups_of(op_, places_, members_));
  Values values = none();
  for (const auto& group : groups) {
    if (const std::string words = fault(op_, group.size()); !words.empty())
      return ir::invalid(op_, "@ragged_all_to_all: ", words);
    const ir::Type type = op_.result()->type();
    const std::int64_t count = type.dim(0), sent = op_.operand(kOperand)->type().dim(0);
    const std::int64_t each_to = op_.operand(kInputOffsets)->type().dim(0) / std::ssize(group);
    const ir::Type list = make_.module().types().tensor({count}, DType::kI64);
    if (count == 0 || sent == 0) {
      for (const int clone : group)
        values[static_cast<std::size_t>(clone)] = operands_[kOutput][clone];
      continue;
    }
    ir::Value* all = make_.concatenate(of_group(kOperand, group, type.element()), 0);
    ir::Value* places =
        make_.value(K::kIota, {}, list, {{"iota_dimension", make_.module().integer(0)}});
    for (std::size_t to = 0; to < group.size(); ++to) {
      ir::Value* rows = make_.splat(list, 0);
      ir::Value* gets = make_.splat(make_.module().types().tensor({count}, DType::kI1), 0);
      for (std::size_t from = 0; from < group.size(); ++from) {
        const auto of = [&](Operand operand, std::int64_t u) {
          return number_of(make_, operands_[operand][group[from]], u, count);
        };
        for (std::int64_t u = 0; u < each_to; ++u) {
          const std::int64_t at = static_cast<std::int64_t>(to) * each_to + u;
          using enum ir::ComparisonDirection;
          ir::Value* r = make_.value(K::kSubtract, {places, of(kOutputOffsets, at)}, list);
          ir::Value* is_one = make_.both(make_.compare(kGe, r, make_.splat(list, 0)),
                                         make_.compare(kLt, r, of(kSendSizes, at)));
          ir::Value* before = make_.splat(list, static_cast<std::int64_t>(from) * sent);
          ir::Value* row = make_.value(
              K::kAdd, {make_.value(K::kAdd, {r, of(kInputOffsets, at)}, list), before}, list);
          rows = make_.value(K::kSelect, {is_one, row, rows}, list);
          gets = make_.either(gets, is_one);
        }
      }
      const std::int64_t along[] = {0};
      ir::Value* whole = make_.broadcast(gets, type.dims(), along);
      values[static_cast<std::size_t>(group[to])] = make_.value(
          K::kSelect, {whole, rows_of(make_, all, rows), operands_[kOutput][group[to]]}, type);
    }
  }
  return std::vector<Each>{each(std::move(values))};
}

}  // namespace millrace::devices::stablehlo::spread
