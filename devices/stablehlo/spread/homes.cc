#include "millrace/devices/stablehlo/spread/homes.h"

#include <algorithm>

#include "millrace/devices/stablehlo/specialise/specialise.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;

bool is_control(const ir::Op& op) {
  return op.kind() == K::kWhile || op.kind() == K::kIf || op.kind() == K::kCase;
}

}  // namespace

int first_of(const ProcessSet& set) { return static_cast<int>(set._Find_first()); }

ProcessSet only(int process) { return ProcessSet().set(static_cast<std::size_t>(process)); }

Homes::Homes(const Spread& whole, const ProcessCounts& counts)
    : whole_(whole),
      counts_(counts),
      contents_(whole.module),
      home_(static_cast<std::size_t>(whole.module.value_ids())),
      joined_(home_.size()),
      needed_(home_.size()),
      runs_(static_cast<std::size_t>(whole.module.op_ids())),
      split_(runs_.size()) {
  for (int p = 0; p < counts.processes; ++p) all_ |= only(p);
  const ir::Block& body = specialise::entry(whole.module)->body().block();
  std::size_t next = 0;  // of the arrays
  for (const ir::Value& argument : body.arguments()) {
    ProcessSet& home = home_[index(argument)];
    // All members of a tuple have the same holders.
    if (argument.type().arrays() == 0) {
      home = all_;
    } else {
      for (const int device : whole.inputs[next].holders) home |= only(counts.of_device(device));
    }
    next += static_cast<std::size_t>(argument.type().arrays());
  }
  find_homes(body);
  std::vector<const ir::Value*> results;  // by array
  for (const ir::Value* v : body.terminator()->operands())
    results.insert(results.end(), static_cast<std::size_t>(v->type().arrays()), v);
  for (std::size_t d = 0; d < whole.outputs.size(); ++d) {
    for (const int array : whole.outputs[d]) {
      need(*results[static_cast<std::size_t>(array)], only(counts.of_device(static_cast<int>(d))));
    }
  }
  find_needs(body);
}

bool Homes::passes_on(const ir::Op& op) { return op.kind() == K::kOptimizationBarrier; }

const ProcessSet& Homes::has(const ir::Value& v) const {
  const ir::Op* const op = v.def();
  if (op == nullptr || split_[index(*op)]) return home_[index(v)];
  return passes_on(*op) ? all_ : runs_[index(*op)];
}

std::vector<const ir::Value*> Homes::uses(const ir::Op& op) {
  std::vector<const ir::Value*> all(op.operands().begin(), op.operands().end());
  const std::vector<ir::Value*>& captured = contents_.captures(op);
  all.insert(all.end(), captured.begin(), captured.end());
  return all;
}

// Each process that has both; all, once they have been given what they lack, where none has.
ProcessSet Homes::joined(const ProcessSet& a, const ProcessSet& b) const {
  const ProcessSet both = a & b;
  return both.any() ? both : all_;
}

std::optional<ProcessSet> Homes::said(const ir::Op& op) const {
  if (index(op) >= whole_.made_for.size() || whole_.made_for[index(op)].empty())
    return std::nullopt;
  ProcessSet home;
  for (const int device : whole_.made_for[index(op)]) home |= only(counts_.of_device(device));
  return home;
}

bool Homes::holds_parts(const ir::Op& op) const {
  for (const ir::Region& region : op.regions()) {
    for (const ir::Op& inner : region.block()) {
      const auto known = said(inner);
      if (known ? *known != all_ : holds_parts(inner)) return true;
    }
  }
  return false;
}

void Homes::find_homes(const ir::Block& block) {
  for (const ir::Op& op : block) {
    if (&op != block.terminator()) find_homes(op);
  }
}

void Homes::find_homes(const ir::Op& op) {
  if (passes_on(op)) {
    for (const ir::Value& v : op.results()) home_[index(v)] = home_[index(*op.operand(v.index()))];
    return;
  }
  ProcessSet home = all_;
  for (const ir::Value* v : uses(op)) home &= home_[index(*v)];
  const auto known = said(op);
  split_[index(op)] = is_control(op) && !known && (home.none() || holds_parts(op));
  if (split_[index(op)]) return op.kind() == K::kWhile ? find_loop(op) : find_branches(op);
  if (known) {
    home = *known;
  } else {
    const auto is_joined = [&](const ir::Value* v) { return joined_[index(*v)]; };
    const bool joins = home.none() || std::ranges::any_of(uses(op), is_joined);
    if (joins) home = all_;
    for (const ir::Value& v : op.results()) joined_[index(v)] = joins;
  }
  // What is drawn, or done once, is so by one process.
  if ((contents_.of(op) & kEffects) != 0) home = only(first_of(home));
  runs_[index(op)] = home;  // as long as it is not known which need it
  for (const ir::Value& v : op.results()) home_[index(v)] = home;
}

// What is carried lies where it lies before the loop and after its body. It is looked at until
// nothing changes: places only get fewer, until there would be none; then all have it, for good.
void Homes::find_loop(const ir::Op& op) {
  const auto slots = static_cast<std::size_t>(op.result_count());
  const ir::Block &condition = op.region(0).block(), &body = op.region(1).block();
  std::vector<ProcessSet> at;
  for (const ir::Value* v : op.operands()) at.push_back(home_[index(*v)]);
  std::vector<bool> everywhere(slots, false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < slots; ++k) {
      const int i = static_cast<int>(k);
      home_[index(*condition.argument(i))] = home_[index(*body.argument(i))] = at[k];
    }
    find_homes(condition);
    find_homes(body);
    for (std::size_t k = 0; k < slots; ++k) {
      const ProcessSet left =
          at[k] & home_[index(*body.terminator()->operand(static_cast<int>(k)))];
      if (everywhere[k] || left == at[k]) continue;
      everywhere[k] = left.none();
      at[k] = left.none() ? all_ : left;
      changed = true;
    }
  }
  for (std::size_t k = 0; k < slots; ++k) home_[index(*op.result(static_cast<int>(k)))] = at[k];
}

void Homes::find_branches(const ir::Op& op) {
  for (const ir::Region& region : op.regions()) find_homes(region.block());
  for (const ir::Value& result : op.results()) {
    ProcessSet home = all_;
    for (const ir::Region& region : op.regions())
      home = joined(home, home_[index(*region.block().terminator()->operand(result.index()))]);
    home_[index(result)] = home;
  }
}

void Homes::find_needs(const ir::Block& block) {
  for (const ir::Op* op = block.terminator()->previous(); op != nullptr; op = op->previous())
    find_needs(*op);
}

void Homes::find_needs(const ir::Op& op) {
  if (passes_on(op)) {
    for (const ir::Value& v : op.results()) need(*op.operand(v.index()), needed(v));
    return;
  }
  if (split_[index(op)]) {
    need(*op.operand(0), op.kind() == K::kWhile ? ProcessSet() : all_);
    for (const ir::Region& region : op.regions()) {
      const ir::Block& block = region.block();
      for (int i = 0; i < block.terminator()->operand_count(); ++i) {
        const bool decides = op.kind() == K::kWhile && &region == &op.region(0);
        need(*block.terminator()->operand(i), decides ? all_ : home_[index(*op.result(i))]);
      }
      find_needs(block);
    }
    for (int i = 0; op.kind() == K::kWhile && i < op.operand_count(); ++i)
      need(*op.operand(i), home_[index(*op.result(i))]);
    return;
  }
  ProcessSet wanted;
  for (const ir::Value& v : op.results()) wanted |= needed(v);
  ProcessSet& runs = runs_[index(op)];
  if ((contents_.of(op) & kEffects) == 0) {
    const bool is_given = (wanted & ~runs).any();
    const int first = first_of(runs);
    runs &= wanted;
    if (is_given) runs |= only(first);
  }
  if (runs.none()) return;
  for (const ir::Value* v : uses(op)) need(*v, runs);
}

}  // namespace millrace::devices::stablehlo::spread
