// chlo.scan as a while that counts, with the outputs and the carried values; compile/lower.cc makes
// the same of it.
#include <unordered_set>

#include "millrace/devices/stablehlo/bytecode/chlo_expansion.h"
#include "millrace/devices/stablehlo/ir/scan.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using K = ir::OpKind;
using X = Expression;

// Adds what the block, and all inside of it, reads of its surroundings.
void add_outer(const ir::Block& block, std::unordered_set<const ir::Value*>& known,
               std::vector<ir::Value*>& outer) {
  for (const ir::Value& argument : block.arguments()) known.insert(&argument);
  for (const ir::Op& op : block) {
    for (ir::Value* v : op.operands()) {
      if (known.insert(v).second) outer.push_back(v);
    }
    for (const ir::Region& region : op.regions()) {
      for (const ir::Block* inner : region.blocks()) add_outer(*inner, known, outer);
    }
    for (const ir::Value& v : op.results()) known.insert(&v);
  }
}

}  // namespace

std::vector<ir::Value*> values_from_outside(const ir::Region& region) {
  std::unordered_set<const ir::Value*> known;
  std::vector<ir::Value*> outer;
  for (const ir::Block* block : region.blocks()) add_outer(*block, known, outer);
  return outer;
}

Expressions expand_scan(const ir::Op& op, Builder& t, const Expressions& in,
                        std::span<ir::Value* const> outer) {
  const auto parts = ir::scan_parts_of(op);
  if (!parts || op.result_count() == 0) return {};
  const auto dimension = static_cast<std::size_t>(parts->dimension);
  const auto inputs = static_cast<std::size_t>(parts->inputs),
             outputs = static_cast<std::size_t>(parts->outputs), operands = op.operands().size(),
             results = op.results().size();
  const X zero = t.number(t.module().types().tensor({}, DType::kI32), 0);
  const X extent = X(static_cast<double>(parts->extent)).like(zero);
  Expressions carried = {zero};
  for (std::size_t i = 0; i < outputs; ++i) carried.push_back(t.number(op.results()[i].type(), 0));
  carried.insert(carried.end(), in.begin() + parts->inputs,
                 in.begin() + static_cast<std::ptrdiff_t>(operands));
  // The type of one place of an array: that dimension has one element.
  const auto thin = [&](ir::Type type) {
    Numbers dims(type.dims().begin(), type.dims().end());
    dims[dimension] = 1;
    return t.module().types().tensor(dims, type.element());
  };
  // These operands and where the place begins.
  const auto with_place = [&](Expressions values, const X& at) {
    const auto rank = static_cast<std::size_t>(values[0].type().rank());
    for (std::size_t d = 0; d < rank; ++d) values.push_back(d == dimension ? at : zero);
    return values;
  };
  const auto going = [&](const Expressions& c) {
    return compare(ir::ComparisonDirection::kLt, c[0], extent, ir::ComparisonType::kSigned);
  };
  const auto round = [&](const Expressions& c) {
    const X at = parts->reverse ? extent - 1 - c[0] : c[0];
    Builder::Copies copies;
    const auto arguments = op.region().block().arguments();
    for (std::size_t i = 0; i < operands; ++i) {
      if (i >= inputs) {
        copies[&arguments[i]] = c[1 + outputs + i - inputs].value();
        continue;
      }
      const ir::Type part = thin(in[i].type());
      const X slice = t.make(K::kDynamicSlice, with_place({in[i]}, at), part,
                             {{"slice_sizes", t.ints({part.dims().begin(), part.dims().end()})}});
      copies[&arguments[i]] = t.make(K::kReshape, {slice}, arguments[i].type()).value();
    }
    for (std::size_t i = 0; i < outer.size(); ++i) copies[outer[i]] = in[operands + i].value();
    Expressions next = {c[0] + 1};
    const Expressions given = t.copy(op.region().block(), copies);
    for (std::size_t i = 0; i < results; ++i) {
      if (i >= outputs) {
        next.push_back(given[i]);
        continue;
      }
      const X& whole = c[1 + i];
      const X part = t.make(K::kReshape, {given[i]}, thin(whole.type()));
      next.push_back(t.make(K::kDynamicUpdateSlice, with_place({whole, part}, at), whole.type()));
    }
    return next;
  };
  Expressions made = t.loop(carried, going, round);
  made.erase(made.begin());
  return made;
}

}  // namespace millrace::devices::stablehlo::bytecode
