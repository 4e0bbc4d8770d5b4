#include "millrace/devices/stablehlo/spread/divide.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/spread/edges.h"
#include "millrace/devices/stablehlo/spread/maker.h"
#include "millrace/devices/stablehlo/spread/new_main.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;
using Values = std::vector<ir::Value*>;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// Makes the part of one process. Thread-safety: confined.
class Divider {
 public:
  Divider(const Spread& whole, const ProcessCounts& counts, int process)
      : whole_(whole),
        main_(*specialise::entry(whole.module)),
        counts_(counts),
        process_(process),
        homes_(whole, counts),
        edges_(main_.body().block(), homes_),
        made_{ir::Module::over(whole.module), {}, {}},
        map_(static_cast<std::size_t>(whole.module.value_ids())) {}

  Result<Spread> run() {
    ir::Module& into = made_.module;
    into.set_name(whole_.module.name());
    into.set_attributes(whole_.module.attributes());
    const ir::Block& from = main_.body().block();
    take_arguments(from);
    ir::Block* body = into.create_block(types_);
    for (std::size_t i = 0; i < kept_.size(); ++i)
      map(*kept_[i], body->argument(static_cast<int>(i)));
    MILLRACE_TRY_STATUS(block(from, *body));
    acknowledge(edges_.main_round(), *from.terminator(), *body);
    finish(from, *body);
    MILLRACE_TRY_STATUS(verify::verify(into));
    return std::move(made_);
  }

 private:
  bool mine(const ProcessSet& set) const { return set.test(index(process_)); }
  bool has(const ir::Value& v) const { return mine(homes_.has(v)); }
  void map(const ir::Value& from, ir::Value* to) { map_[index(from.id())] = to; }
  ir::Value* at(const ir::Value* v) const {
    ir::Value* const to = map_[index(v->id())];
    MILLRACE_CHECK(to != nullptr, "a value that is used where it is not");
    return to;
  }

  // Those of this process's devices.
  void take_arguments(const ir::Block& from) {
    std::size_t next = 0;  // of the arrays
    for (const ir::Value& argument : from.arguments()) {
      const std::size_t first = next;
      next += static_cast<std::size_t>(argument.type().arrays());
      if (!has(argument)) continue;
      kept_.push_back(&argument);
      types_.push_back(argument.type());
      for (std::size_t a = first; a < next; ++a) {
        Spread::Part part{0, whole_.inputs[a].argument, {}};
        for (const int device : whole_.inputs[a].holders) {
          if (counts_.of_device(device) == process_)
            part.holders.push_back(device - process_ * counts_.devices);
        }
        part.device = part.holders.front();
        made_.inputs.push_back(std::move(part));
      }
    }
  }

  void finish(const ir::Block& from, ir::Block& body) {
    // The results that this process's devices have, each once, and their arrays.
    std::vector<int> owner, first;  // by array: its result; by result: its first array
    for (const ir::Value* v : from.terminator()->operands()) {
      first.push_back(static_cast<int>(owner.size()));
      owner.insert(owner.end(), index(v->type().arrays()), static_cast<int>(first.size()) - 1);
    }
    std::map<int, std::pair<int, int>> kept;  // result -> its number now, its first array now
    Values results;
    int arrays = 0;
    for (int d = 0; d < counts_.devices; ++d) {
      auto& out = made_.outputs.emplace_back();
      for (const int array : whole_.outputs[index(process_ * counts_.devices + d)]) {
        const int r = owner[index(array)];
        const ir::Value* const v = from.terminator()->operand(r);
        const auto [now, is_new] = kept.try_emplace(r, static_cast<int>(results.size()), arrays);
        if (is_new) {
          results.push_back(at(v));
          arrays += v->type().arrays();
        }
        out.push_back(now->second.second + array - first[index(r)]);
      }
    }
    body.append(made_.module.create_op(
        {.kind = K::kFuncReturn, .location = from.terminator()->location(), .operands = results}));
    std::vector<std::vector<ir::NamedAttribute>> attributes;
    for (const ir::Value* argument : kept_) {
      auto& list = attributes.emplace_back();
      for (const ir::NamedAttribute& a : main_.arg_attributes(argument->index())) {
        if (a.name != kAlias) {
          list.push_back(a);
          continue;
        }
        const auto* result = a.value.as<ir::IntegerAttr>();
        const auto now = kept.find(result == nullptr ? -1 : static_cast<int>(result->value));
        if (now != kept.end())
          list.push_back({kAlias, made_.module.integer(now->second.first, DType::kI32)});
        else
          list.push_back({kDonor, made_.module.attribute(ir::BoolAttr{{}, true})});
      }
    }
    const std::vector<std::span<const ir::NamedAttribute>> lists(attributes.begin(),
                                                                 attributes.end());
    ir::Function& f = made_.module.create_function({.name = main_.name(),
                                                    .visibility = main_.visibility(),
                                                    .location = main_.location(),
                                                    .inputs = types_,
                                                    .results = ir::types_of(results),
                                                    .arg_attributes = lists,
                                                    .attributes = main_.attributes()});
    ir::Block* const blocks[] = {&body};
    made_.module.set_blocks(f.body(), blocks);
  }

  // The operations of `from` that this process runs, but for the last.
  Status block(const ir::Block& from, ir::Block& to) {
    std::set<const ir::Value*> due;  // what it is given of this block, and has not used so far
    const auto defined = [&](const ir::Value& v, const ir::Op& like) -> Status {
      const ProcessSet given = homes_.given(v);
      if (mine(given)) due.insert(&v);
      if (given.none() || first_of(homes_.has(v)) != process_) return {};
      return give(v, given, like, to);
    };
    for (const ir::Value& v : from.arguments()) MILLRACE_TRY_STATUS(defined(v, *from.front()));
    for (const ir::Op& op : from) {
      for (const ir::Value* v : homes_.uses(op)) {
        // Before an operation of another process it need not be there, nor does it harm in control
        // flow that all run.
        if (!due.contains(v) || !takes_part(op, from)) continue;
        due.erase(v);
        MILLRACE_TRY_STATUS(take(*v, op, to));
      }
      if (&op == from.terminator()) break;
      MILLRACE_TRY_STATUS(one(op, to));
      for (const ir::Value& v : op.results()) MILLRACE_TRY_STATUS(defined(v, op));
    }
    return {};
  }
  bool takes_part(const ir::Op& op, const ir::Block& in) const {
    return &op == in.terminator() || homes_.is_split(op) || Homes::passes_on(op) ||
           mine(homes_.runs(op));
  }

  Status one(const ir::Op& op, ir::Block& to) {
    if (Homes::passes_on(op)) {
      for (const ir::Value& v : op.results()) map(v, map_[index(op.operand(v.index())->id())]);
      return {};
    }
    if (homes_.is_split(op)) return op.kind() == K::kWhile ? loop(op, to) : branch(op, to);
    if (mine(homes_.runs(op))) copy(op, to);
    return {};
  }

  ir::Op* create(const ir::Op& like, std::span<ir::Value* const> operands,
                 std::span<const ir::Type> types) {
    return made_.module.create_op(
        {.kind = like.kind(),
         .name = like.kind() == K::kOther ? like.name() : std::string_view(),
         .location = like.location(),
         .operands = operands,
         .result_types = types,
         .attributes = like.attributes(),
         .regions = static_cast<int>(like.regions().size())});
  }

  // As it is, with all that it holds.
  void copy(const ir::Op& op, ir::Block& to) {
    Values operands;
    for (const ir::Value* v : op.operands()) operands.push_back(at(v));
    ir::Op* made = create(op, operands, ir::types_of(op.results()));
    for (std::size_t r = 0; r < op.regions().size(); ++r) {
      std::vector<ir::Block*> blocks;
      for (const ir::Block* written : op.regions()[r].blocks()) {
        ir::Block* body = made_.module.create_block(ir::types_of(written->arguments()));
        for (const ir::Value& v : written->arguments()) map(v, body->argument(v.index()));
        for (const ir::Op& inner : *written) copy(inner, *body);
        blocks.push_back(body);
      }
      made_.module.set_blocks(made->regions()[r], blocks);
    }
    to.append(made);
    for (const ir::Value& v : op.results()) map(v, made->result(v.index()));
  }

  // Which of the results, and of what is carried, this process has.
  std::vector<int> slots_of(const ir::Op& op) const {
    std::vector<int> slots;
    for (const ir::Value& v : op.results()) {
      if (has(v)) slots.push_back(v.index());
    }
    return slots;
  }
  ir::Op* create_for(const ir::Op& op, const std::vector<int>& slots,
                     std::span<ir::Value* const> operands) {
    std::vector<ir::Type> types;
    for (const int k : slots) types.push_back(op.result(k)->type());
    ir::Op* made = create(op, operands, types);
    return made;
  }
  void end(const ir::Op& terminator, const std::vector<int>& slots, ir::Op& made, int region,
           ir::Block& body) {
    Values values;
    for (const int k : slots) values.push_back(at(terminator.operand(k)));
    Maker(made_.module, body, terminator).finish(body, values);
    ir::Block* const blocks[] = {&body};
    made_.module.set_blocks(made.region(region), blocks);
  }
  void append(const ir::Op& op, const std::vector<int>& slots, ir::Op* made, ir::Block& to) {
    to.append(made);
    for (std::size_t i = 0; i < slots.size(); ++i)
      map(*op.result(slots[i]), made->result(static_cast<int>(i)));
  }

  Status loop(const ir::Op& op, ir::Block& to) {
    const std::vector<int> slots = slots_of(op);
    Values operands;
    for (const int k : slots) operands.push_back(at(op.operand(k)));
    ir::Op* made = create_for(op, slots, operands);
    for (int r = 0; r < 2; ++r) {
      const ir::Block& from = op.region(r).block();
      ir::Block* body = made_.module.create_block(ir::types_of(operands));
      for (std::size_t i = 0; i < slots.size(); ++i)
        map(*from.argument(slots[i]), body->argument(static_cast<int>(i)));
      MILLRACE_TRY_STATUS(block(from, *body));
      if (r == 1) acknowledge(edges_.round_of(op), *from.terminator(), *body);
      end(*from.terminator(), r == 0 ? std::vector<int>{0} : slots, *made, r, *body);
    }
    append(op, slots, made, to);
    return {};
  }

  Status branch(const ir::Op& op, ir::Block& to) {
    const std::vector<int> slots = slots_of(op);
    ir::Value* const selector[] = {at(op.operand(0))};
    ir::Op* made = create_for(op, slots, selector);
    for (int r = 0; r < static_cast<int>(op.regions().size()); ++r) {
      const ir::Block& from = op.region(r).block();
      ir::Block* body = made_.module.create_block({});
      MILLRACE_TRY_STATUS(block(from, *body));
      end(*from.terminator(), slots, *made, r, *body);
    }
    append(op, slots, made, to);
    return {};
  }

  void call(std::string_view target, int edge, int process, std::span<ir::Value* const> operands,
            std::span<const ir::Type> types, const ir::Op& like, ir::Block& to,
            ir::Value** result = nullptr) {
    ir::Module& into = made_.module;
    const ir::NamedAttribute attributes[] = {
        {"call_target_name", into.string(target)},
        {"has_side_effect", into.attribute(ir::BoolAttr{{}, true})},
        {into.intern(kEdge), into.integer(edge)},
        {into.intern(kProcess), into.integer(process)}};
    ir::Op* made = Maker(into, to, like).op(K::kCustomCall, operands, types, attributes);
    if (result != nullptr) *result = made->result();
  }

  Status give(const ir::Value& v, const ProcessSet& given, const ir::Op& like, ir::Block& to) {
    if (v.type().kind() == ir::TypeKind::kToken) return {};
    if (!v.type().is_tensor()) {
      return ir::unimplemented(like, "a value of type ", v.type(),
                               " would have to go from one process to another");
    }
    ir::Value* const operands[] = {at(&v)};
    for (int q = 0; q < counts_.processes; ++q) {
      if (given.test(index(q))) call(kGive, edges_.of(v, q), q, operands, {}, like, to);
    }
    return {};
  }

  Status take(const ir::Value& v, const ir::Op& like, ir::Block& to) {
    const ir::Type types[] = {v.type()};
    ir::Value* taken = nullptr;
    if (v.type().kind() == ir::TypeKind::kToken) {
      taken = Maker(made_.module, to, like).zeros(v.type());
    } else if (v.type().is_tensor()) {
      call(kTake, edges_.of(v, process_), first_of(homes_.has(v)), {}, types, like, to, &taken);
    } else {
      return ir::unimplemented(like, "a value of type ", v.type(),
                               " would have to come from another process");
    }
    map(v, taken);
    return {};
  }

  // DV-2: gives first, so that none waits for another.
  void acknowledge(const std::vector<Edges::Answer>& answers, const ir::Op& like, ir::Block& to) {
    Maker make(made_.module, to, like);
    for (const Edges::Answer& a : answers) {
      if (a.from != process_) continue;
      ir::Value* const operands[] = {make.number(DType::kU8, 0)};
      call(kGive, a.edge, a.to, operands, {}, like, to);
    }
    for (const Edges::Answer& a : answers) {
      if (a.to != process_) continue;
      const ir::Type types[] = {make.number(DType::kU8, 0)->type()};
      ir::Value* taken = nullptr;
      call(kTake, a.edge, a.from, {}, types, like, to, &taken);
    }
  }

  const Spread& whole_;
  const ir::Function& main_;
  const ProcessCounts counts_;
  const int process_;
  Homes homes_;
  const Edges edges_;
  Spread made_;
  Values map_;                          // by value of whole
  std::vector<const ir::Value*> kept_;  // arguments
  std::vector<ir::Type> types_;         // theirs
};

// The first operation that is kGive or kTake already; nullptr: none is.
const ir::Op* find_call(const ir::Region& region) {
  for (const ir::Block* block : region.blocks()) {
    for (const ir::Op& op : *block) {
      if (op.kind() == K::kCustomCall && (op.callee() == kGive || op.callee() == kTake)) return &op;
      for (const ir::Region& inner : op.regions()) {
        if (const ir::Op* found = find_call(inner)) return found;
      }
    }
  }
  return nullptr;
}

}  // namespace

Result<Spread> divide(const Spread& whole, const ProcessCounts& counts, int process) {
  MILLRACE_CHECK(std::ssize(whole.outputs) == std::int64_t{counts.processes} * counts.devices,
                 "a program is divided for other devices than it was spread over");
  if (counts.processes > kMostProcesses) {
    return fail(ErrorCode::kUnimplemented,
                ir::message("a program spans ", kMostProcesses, " processes at most, not ",
                            counts.processes));
  }
  if (const ir::Op* op = find_call(specialise::entry(whole.module)->body()))
    return ir::invalid(*op, "@", op->callee(), " stands for what the runtime does by itself");
  return Divider(whole, counts, process).run();
}

}  // namespace millrace::devices::stablehlo::spread
